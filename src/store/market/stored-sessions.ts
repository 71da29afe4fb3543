// Sessions and symbols with stored data.
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { dependOn, readFrom, type Store } from '../rows/connection.ts';
import { statement } from '../rows/statement.ts';
import type { Subject } from '../versions/subjects.ts';
import { recentDailyBars } from './recent-daily-bars.ts';

/** Subjects of data that a session or a symbol may have. */
const stored: readonly Subject[] = ['market', 'gex', 'chain', 'flow', 'offexchange'];

/** Reads what tells which sessions of symbols are stored; their answers depend on all of it. */
function readerOfSessions(store: Store, symbols: readonly string[]) {
  for (const subject of stored) for (const symbol of symbols) dependOn(store, subject, symbol);
  return readFrom(store, 'market', symbols);
}

/** The stored data of sessions that is shown at an instant. */
export interface ShownSessions {
  /** Last session, inclusive. */
  through: SessionDate;
  /** Captures and option flow from later on are not shown, epoch ms. */
  atMs: number;
  /** Last session with bars, inclusive. */
  barsThrough: SessionDate;
  /** Last session with off-exchange trading, inclusive. */
  offExchangeThrough: SessionDate;
}

/** Parameters of statements about the sessions of symbols. */
const sessionParameters = {
  symbols: 'text[]',
  through: 'text',
  most: 'int8',
  atMs: 'int8',
  barsThrough: 'text',
  offExchangeThrough: 'text',
} as const;

const sessions = statement('market/stored-sessions', sessionParameters, { symbol: 'text', sessionDate: 'text' });

/**
 * The sessions with shown minute bars, dealer gamma, option chains, option flow or off-exchange trading of symbols, the
 * latest `most` of each, latest first; a symbol without any is absent.
 */
export async function storedSessions(
  store: Store,
  symbols: readonly string[],
  shown: ShownSessions,
  most: number,
): Promise<Map<string, SessionDate[]>> {
  const rows = await sessions.rows(readerOfSessions(store, symbols), { symbols, most, ...shown });
  const dates = (all: typeof rows) => all.slice(0, most).map(({ sessionDate }) => sessionDate);
  return new Map([...Map.groupBy(rows, ({ symbol }) => symbol)].map(([symbol, all]) => [symbol, dates(all)]));
}

const stocked = statement('market/stocked-symbols', { symbols: 'text[]' }, { symbol: 'text' });

/** The symbols with any stored data. */
export async function stockedSymbols(store: Store, symbols: readonly string[]): Promise<Set<string>> {
  const rows = await stocked.rows(readFrom(store, 'market', null), { symbols });
  return new Set(rows.map(({ symbol }) => symbol));
}

/** Changes when any data of a symbol is written; null = unknown at present. */
export function stockVersion(store: Store): string | null {
  const versions = stored.map((subject) => dependOn(store, subject, null));
  return versions.includes(null) ? null : versions.join();
}

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
