// The sessions of a symbol, and the figures of past ones.

import type { DailyColumns, SessionContents } from '../../../../../generated/pages/operation-types.ts';
import type { DashboardState } from '../data/dashboard-state.ts';

/**
 * New York's date of a daily bar. The bar begins at midnight there, four or five hours into the same UTC date. A
 * formatter with a time zone would take a phone half a second for a year of bars.
 */
const barDate = (tsMs: number) => new Date(tsMs).toISOString().slice(0, 10);

/** The state from which sessions are derived. */
type Known = Pick<DashboardState, 'latestSession' | 'answer' | 'capture'>;

/**
 * Selectable dates, latest first: the latest session, those with data of the symbol, and the last one with a close or
 * an option chain, however old.
 */
export function sessionsOf({ latestSession, answer, capture }: Known): string[] {
  const last = [answer?.symbol?.lastSession, capture?.sessionDate].filter((date) => date != null);
  const dates = [...(answer?.symbol?.sessionDates ?? []), ...last].filter((date) => date <= latestSession);
  return [...new Set([...dates, latestSession])].sort().reverse();
}

/** The stored data of a session, in words. */
export function contentsText({ bars, chains, flow, offExchange }: SessionContents): string {
  const has = { price: bars, chain: chains, flow, 'off exchange': offExchange };
  return Object.entries(has)
    .flatMap(([name, isStored]) => (isStored ? [name] : []))
    .join(', ');
}

/** The session of a date: its own, else the one before it; null = the latest, or there is none before. */
export function sessionAtOrBefore(sessions: readonly string[], date: string): string | null {
  const found = sessions.find((session) => session <= date);
  return found === undefined || found === sessions[0] ? null : found;
}

/** A past session's headline. Dollars and shares; null = unknown. */
export interface SessionQuote {
  close: number;
  previousClose: number | null;
  changePct: number | null;
  volume: number;
}

/** The headline of a past session; null if its daily bar is unknown. */
export function sessionQuote(daily: DailyColumns | null, session: string): SessionQuote | null {
  const at = daily?.tsMs.findIndex((tsMs) => barDate(tsMs) === session) ?? -1;
  if (!daily || at < 0) return null;
  const close = daily.close[at]!;
  const previousClose = daily.close[at - 1] ?? null;
  const changePct = previousClose === null || previousClose === 0 ? null : (close / previousClose - 1) * 100;
  return { close, previousClose, changePct, volume: daily.volume[at]! };
}
