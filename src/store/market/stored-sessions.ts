import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import type { Store } from '../rows/connection.ts';
import { statement } from '../rows/statement.ts';
import { recentDailyBars } from './recent-daily-bars.ts';
import { readerOfSessions, type ShownSessions, sessionParameters } from './stocked-sessions.ts';

/** The shown data of a session. */
export interface SessionContents {
  bars: boolean;
  chains: boolean;
  flow: boolean;
  offExchange: boolean;
}

/** The contents of a session without any. */
export const noContents: SessionContents = { bars: false, chains: false, flow: false, offExchange: false };

const contents = statement('market/session-contents', sessionParameters, {
  symbol: 'text',
  sessionDate: 'text',
  kind: 'text',
});

/**
 * The latest sessions of symbols with shown data, at most `most` of each, newest first; one statement beside those of
 * daily bars. Every symbol is in the result.
 */
export async function sessionContents(
  store: Store,
  symbols: readonly string[],
  shown: ShownSessions,
  most: number,
): Promise<Map<string, Map<SessionDate, SessionContents>>> {
  const [daily, rows] = await Promise.all([
    // Weekends and holidays are two days of five.
    recentDailyBars(store, symbols, shown.barsThrough, Math.ceil(1.6 * most) + 10),
    contents.rows(readerOfSessions(store, symbols), { symbols, most, ...shown }),
  ]);
  const found = new Map(symbols.map((symbol) => [symbol, new Map<SessionDate, SessionContents>()]));
  const add = (symbol: string, session: SessionDate, kind: string) => {
    const sessions = found.get(symbol)!;
    sessions.set(session, { ...(sessions.get(session) ?? noContents), [kind]: true });
  };
  for (const [symbol, { tsMs }] of daily) for (const ms of tsMs) add(symbol, exchangeDate(ms), 'bars');
  for (const { symbol, sessionDate, kind } of rows) add(symbol, sessionDate, kind);
  const newest = (sessions: Map<SessionDate, SessionContents>) =>
    new Map([...sessions].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, most));
  return new Map([...found].map(([symbol, sessions]) => [symbol, newest(sessions)]));
}
