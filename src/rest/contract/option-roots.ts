/** A contract as the contract's JSON has it; `underlying` is its OSI root. */
export interface ContractIdentity {
  underlying: string;
  expiry: string;
  right: string;
  strike: number;
}

/**
 * True if two contracts differ only by their root, as on a date on which the monthly and the weekly options of an index
 * expire. Protobuf rows then contain the root.
 */
export function needsRoots(contracts: readonly ContractIdentity[]): boolean {
  const roots = new Map<string, Set<string>>();
  for (const { expiry, underlying } of contracts) {
    const known = roots.get(expiry);
    if (known) known.add(underlying);
    else roots.set(expiry, new Set([underlying]));
  }
  // Nearly every expiry has one root, so the keys consist of the other parts.
  const shared = contracts.filter(({ expiry }) => roots.get(expiry)!.size > 1);
  const keys = new Set(shared.map(({ expiry, right, strike }) => `${expiry} ${right} ${strike}`));
  const identities = new Set(
    shared.map(({ expiry, right, strike, underlying }) => `${expiry} ${right} ${strike} ${underlying}`),
  );
  return keys.size < identities.size;
}
