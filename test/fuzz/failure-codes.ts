import type { FailureCode } from '../../src/domain/failure.ts';

const codes: Record<FailureCode, true> = {
  invalid_params: true,
  unauthenticated: true,
  token_expired: true,
  not_entitled_tier: true,
  attestation_required: true,
  not_found: true,
  rate_limited: true,
  provider_unavailable: true,
  internal: true,
};

/** The codes of the contract's errors. */
export const failureCodes: ReadonlySet<string> = new Set(Object.keys(codes));
