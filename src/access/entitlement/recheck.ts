import { Failure, notAuthenticated } from '../../wire/failure.ts';
import type { Authentication, Caller } from '../caller.ts';

/** Properties of a caller that decide over an answer, as a text. */
export function rightsOf({ kind, tier, siteTier, attested }: Caller): string {
  return JSON.stringify([kind, tier, siteTier, attested]);
}

/** A caller as it is now, or why it may not go on. */
export type Rechecked = { caller: Caller } | { refused: Failure };

/**
 * Asks again who is there, and whether they may still read (`check` throws when not): the rights of the account may
 * have changed, and the rules of a symbol. Throws when that cannot be found out just now.
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
    if (!(error instanceof Failure) || error.status >= 500) throw error;
    return { refused: error };
  }
}
