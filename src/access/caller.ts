import type { Classification, Tier } from '../platform/config/tiers.ts';

/** The sender of a request, and the rights under which it is served (contract-notes 1 "Caller"). */
export interface Caller {
  accountId: string;
  /** `key`: an API key; `session`: a person signed in to the site. */
  kind: 'key' | 'session';
  /** Id of the API key; null for a site session. */
  keyId: string | null;
  /** The tier the request is served under: the account's API tier for a key, its site tier for a session. */
  tier: Tier;
  /**
   * The account's site tier, for keys and sessions alike; `meta.caps.flow` and `caps.darkpool` concern the site (spec
   * 2.1).
   */
  siteTier: Tier;
  /** The tier of the account's API keys, for keys and sessions alike. */
  apiTier: Tier;
  /** The account's declaration about itself; null = none yet. */
  classification: Classification | null;
  /** True if it declared `non_professional`. */
  attested: boolean;
  /** True if the graph runs only trusted documents for its key; absent = any. */
  trustedOnly?: boolean;
}

/** Result of checking a credential. `missing` = none was sent; `expired` = it was valid once. */
export type Authentication = { state: 'ok'; caller: Caller } | { state: 'missing' | 'invalid' | 'expired' };
