import type { Classification, Tier } from '../../platform/config/tiers.ts';

/** An account (contract-notes 1 "Caller"). */
export interface Account {
  id: string;
  /** Tier of its site sessions. */
  siteTier: Tier;
  /** Tier of its API keys. */
  apiTier: Tier;
  /** Its declaration about itself; null = none yet. `non_professional` counts as attested. */
  classification: Classification | null;
  /** Time of the declaration, epoch ms; null = none yet. */
  classifiedAt: number | null;
  /** Epoch ms. */
  createdAt: number;
}

/** Tiers of a new account. */
export const newAccountTiers: { siteTier: Tier; apiTier: Tier } = { siteTier: 'free', apiTier: 'free' };

/** Maximum length of an id, UTF-16 units; four of these in UTF-8 still fit into one index entry of the store. */
export const maxIdLength = 128;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controlCharacter = /[\u0000-\u001f\u007f]/;

/**
 * True if `text` is a valid id of a client's choice (account, watchlist, import, trade): not empty, at most 128
 * characters, no control characters (the store cannot hold NUL), no unpaired surrogate (two such ids would be stored as
 * one).
 */
export function isId(text: string): boolean {
  return text.length > 0 && text.length <= maxIdLength && !controlCharacter.test(text) && text.isWellFormed();
}
