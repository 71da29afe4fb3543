import type { Caller } from '../../src/access/caller.ts';

/** A caller with an API key, of whatever the test cares about. */
export function keyCaller(over: Partial<Caller> = {}): Caller {
  return {
    accountId: 'ana',
    kind: 'key',
    keyId: 'k1',
    tier: 'free',
    siteTier: 'free',
    apiTier: 'free',
    classification: null,
    attested: false,
    ...over,
  };
}

/** A caller with a site session. */
export function sessionCaller(over: Partial<Caller> = {}): Caller {
  return keyCaller({ kind: 'session', keyId: null, ...over });
}
