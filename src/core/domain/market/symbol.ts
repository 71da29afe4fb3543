import type { Tier } from '../../../platform/config/tiers.ts';

export const symbolClasses = ['equity', 'index'] as const;
export type SymbolClass = (typeof symbolClasses)[number];

export const tenorFrames = ['daily', 'weekly', 'monthly'] as const;
export type TenorFrame = (typeof tenorFrames)[number];

export const instrumentTypes = ['common_equity', 'etf', 'index', 'adr_other', 'unknown'] as const;
export type InstrumentType = (typeof instrumentTypes)[number];

/**
 * A ticker known to the service. `registered` separates the registry (spec 2.3: symbols with analytics and entitlement)
 * from the larger ticker directory (real tickers, bars only).
 */
export interface SymbolEntry {
  symbol: string;
  name: string;
  class: SymbolClass;
  registered: boolean;
  /** Number of days, from today, of expiries that the option chain covers. */
  windowDays: number;
  tenorFrame: TenorFrame;
  minTier: Tier;
  requiresAttestation: boolean;
  /** Sector of the screener; null groups under `other`. */
  sector: string | null;
  instrumentType: InstrumentType;
}

const isOfWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/**
 * Rank of a symbol in a search for a text in lower case: 0 its ticker, 1 the beginning of it, 2 the beginning of a word
 * of the name, 3 another part of the name; null if it is not found.
 */
export function searchRank({ symbol, name }: { symbol: string; name: string | null }, text: string): number | null {
  const ticker = symbol.toLowerCase();
  if (ticker.startsWith(text)) return ticker === text ? 0 : 1;
  const words = name?.toLowerCase() ?? '';
  let at = words.indexOf(text);
  if (at === -1) return null;
  while (at > 0 && isOfWord(words[at - 1])) at = words.indexOf(text, at + 1);
  return at === -1 ? 3 : 2;
}
