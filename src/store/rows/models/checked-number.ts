/**
 * A PostgreSQL bigint as a number (epoch ms, shares, contracts, counts). Throws beyond ±(2^53 − 1), where a number
 * would no longer be exact, so that nothing is rounded silently.
 */
export function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is beyond the integers a number holds exactly.`);
  return number;
}
