import type { Classification, Tier } from '../domain/tier.ts';

/** Who sends a request, and under what it is served (contract-notes 1 "Caller"). */
export interface Caller {
  accountId: string;
  /** `key`: an API key; `session`: a person signed in to the site. */
  kind: 'key' | 'session';
  /** Id of the API key; null for a site session. */
  keyId: string | null;
  /** The tier the request is served under: the account's API tier for a key, its site tier for a session. */
  tier: Tier;
  /**
   * The account's site tier, whichever way it calls; `meta.caps.flow` and `caps.darkpool` speak of the site (spec 2.1).
   */
  siteTier: Tier;
  /** The tier of the account's API keys, whichever way it calls. */
  apiTier: Tier;
  /** Declaration of the account about itself; null = none yet. */
  classification: Classification | null;
  /** Declared `non_professional`. */
  attested: boolean;
}

/** Outcome of checking a credential. `missing` = none was sent; `expired` = it was valid once. */
export type Authentication = { state: 'ok'; caller: Caller } | { state: 'missing' | 'invalid' | 'expired' };
