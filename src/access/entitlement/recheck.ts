import { type Failure, knownFailure, notAuthenticated } from '../../platform/wire/failure.ts';
import type { Authentication, Caller } from '../caller.ts';

/** Properties of a caller that an answer depends on, as a text. */
export function rightsOf({ kind, tier, siteTier, attested }: Pick<Caller, 'kind'> & Partial<Caller>): string {
  return JSON.stringify([kind, tier, siteTier, attested]);
}

/** The current state of a caller, or the failure that ends its access. */
export type Rechecked = { caller: Caller } | { refused: Failure };

/**
 * Identifies a caller again, and checks that they may still read (`check` throws if not): the rights of the account,
 * and the rules of a symbol, may have changed. Throws if that cannot be determined now.
 */
export async function recheckCaller(
  authenticate: () => Promise<Authentication>,
  check: (caller: Caller) => Promise<void>,
): Promise<Rechecked> {
  const authentication = await authenticate();
  if (authentication.state !== 'ok') return { refused: notAuthenticated(authentication.state) };
  const { caller } = authentication;
  try {
    await check(caller);
    return { caller };
  } catch (error) {
    const refused = knownFailure(error);
    if (!refused || refused.status >= 500) throw error;
    return { refused };
  }
}
