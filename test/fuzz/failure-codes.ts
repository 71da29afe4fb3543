import type { FailureCode } from '../../src/platform/wire/failure.ts';

const codes: Record<FailureCode, true> = {
  invalid_params: true,
  unauthenticated: true,
  token_expired: true,
  not_entitled_tier: true,
  attestation_required: true,
  not_found: true,
  untrusted_document: true,
  rate_limited: true,
  provider_unavailable: true,
  internal: true,
};

/** The codes of the contract's errors. */
export const failureCodes: ReadonlySet<string> = new Set(Object.keys(codes));

/** Texts that no answer to a failed request holds: stacks, file names, the store's own words. */
export const inner =
  /\n\s+at .+:\d+:\d+|node_modules|\/src\/[\w/-]+\.ts|postgres(ql)?:\/\/|\bprisma|\bpg_\w+|relation "|violates|ECONN|ENOENT|(Type|Reference|Range|Syntax)Error\b|Maximum call stack/i;

/** True if an error has a code of the contract or of JSON-RPC, and a message. */
export const isKnown = ({ code, message }: { code: unknown; message: unknown }) =>
  (failureCodes.has(code as string) || (Number.isInteger(code) && (code as number) < 0)) &&
  typeof message === 'string' &&
  message !== '';
