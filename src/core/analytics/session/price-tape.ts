import type { BarColumns, StoredTimeframe } from '../../domain/market/bar.ts';

/** Prices of a session's tape: of stocks, or of indices. */
export interface PriceTape {
  /** The symbols whose figures changed since the last call, alphabetical, with the first changed second. */
  takeChanged(): { symbol: string; fromMs: number }[];
  /** The bars so far that start at or after `fromMs`, ascending. */
  bars(symbol: string, timeframe: StoredTimeframe, fromMs?: number): BarColumns;
  /**
   * The last price that sets a close (dollars) with its instant, and the volume so far; null before the first. For a
   * stock with an official close, that with its instant.
   */
  latest(symbol: string): { price: number; tsMs: number; volume: number } | null;
}
