import type { SessionDate } from '../market-time.ts';

/** Sessions of which something is stored: the latest, at most 250. */
export interface StoredSpan {
  from: SessionDate;
  to: SessionDate;
  sessions: number;
}

/** Contents of a store. */
export interface StoredOverview {
  /** Number of registered symbols with data. */
  symbols: number;
  /** Sessions of the first symbols by kind of data; null = none. */
  kinds: Readonly<Record<'bars' | 'chains' | 'flow' | 'offExchange', StoredSpan | null>>;
}
