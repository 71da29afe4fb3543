// The sessions of a symbol: which there are, and the figures of one that is over.

import type { DailyColumns } from '../data/operation-types.ts';
import { dateOf } from '../format.ts';

/** Dates to choose from, latest first: those with trades of the symbol, and the latest session. */
export function sessionsOf(daily: DailyColumns | null, latestSession: string): string[] {
  const dates = new Set((daily?.tsMs ?? []).map(dateOf).filter((date) => date <= latestSession));
  return [...dates.add(latestSession)].sort().reverse();
}

/** The session a date means: its own, else the one before it; null = the latest, or there is none before. */
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

/** The headline of a session that is over; null where its daily bar is unknown. */
export function sessionQuote(daily: DailyColumns | null, session: string): SessionQuote | null {
  const at = daily?.tsMs.findIndex((tsMs) => dateOf(tsMs) === session) ?? -1;
  if (!daily || at < 0) return null;
  const close = daily.close[at]!;
  const previousClose = daily.close[at - 1] ?? null;
  const changePct = previousClose === null || previousClose === 0 ? null : (close / previousClose - 1) * 100;
  return { close, previousClose, changePct, volume: daily.volume[at]! };
}
