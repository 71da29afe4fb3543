import type { SessionDate } from '../market-time.ts';

/** Executions under which a row is withheld (methodology 6). */
export const disclosureThreshold = 3;

/** Sessions in which a price bucket must have traded to be published (spec 4.18). */
export const disclosureSessions = 2;

/** A session's off-exchange total (spec 2.19). */
export interface ActivityRow {
  date: SessionDate;
  /** Shares. */
  offExchVolume: number;
  /** Dollars. */
  notional: number;
  tradeCount: number;
  /** Shares a trade. */
  avgSize: number;
  /** Dollars. */
  vwap: number;
  /** Fraction of consolidated volume: 0.434 = 43.4 %; null when that is 0 or unknown. */
  offExchPct: number | null;
  consolidatedVolume: number | null;
  consolidatedNotional: number | null;
}

/** A session's off-exchange trading of one kind; the kinds of a session add up to its activity (spec 2.19). */
export interface CompositionRow {
  date: SessionDate;
  category: string;
  volume: number;
  notional: number;
  tradeCount: number;
  /** Fraction of the session's off-exchange notional. */
  shareOfOffExchNotional: number;
}

/** A price bucket in which off-exchange trading gathered over the sessions up to `date` (spec 2.19). */
export interface ConcentrationRow {
  date: SessionDate;
  /** Dollars; the bucket is midpoint ± width / 2. */
  bucketMidpoint: number;
  bucketWidth: number;
  volume: number;
  notional: number;
  tradeCount: number;
  distinctSessions: number;
  rankScore: number;
  rank: number;
  bucketCount: number;
  /** Basis points from the last session's off-exchange vwap, negative below; null without one. */
  distanceBps: number | null;
  lookbackSessions: number;
}

/** A session's off-exchange trading at one price (contract-notes 3). */
export interface ProfileRow {
  date: SessionDate;
  priceThousandths: number;
  volume: number;
  notional: number;
  tradeCount: number;
}

/** Published figures of a symbol's session besides its rows. */
export interface OffExchangeSession {
  symbol: string;
  sessionDate: SessionDate;
  /** When it was computed. */
  asOfMs: number;
  /** Categories, price buckets and price levels not published under their own name. */
  suppressedCategories: number;
  suppressedBuckets: number;
  suppressedLevels: number;
  /** Null under the disclosure threshold: then nothing of the session is published. */
  activity: Omit<ActivityRow, 'date'> | null;
}
