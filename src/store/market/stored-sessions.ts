import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { published } from '../versions/published.ts';
import { recentDailyBars } from './recent-daily-bars.ts';
import type { ShownSessions } from './stocked-sessions.ts';

/** The shown data of a session. */
export interface SessionContents {
  bars: boolean;
  chains: boolean;
  flow: boolean;
  offExchange: boolean;
}

/** The contents of a session without any. */
export const noContents: SessionContents = { bars: false, chains: false, flow: false, offExchange: false };

/** The latest sessions of a symbol with shown data, at most `most`, newest first. */
export async function sessionContents(
  store: Store,
  symbol: string,
  { through, atMs, barsThrough, offExchangeThrough }: ShownSessions,
  most: number,
): Promise<Map<SessionDate, SessionContents>> {
  const upTo = { sessionDate: { lte: through } };
  const latest = { select: { sessionDate: true }, orderBy: { sessionDate: 'desc' }, take: most } as const;
  const [daily, minutes, chains, flow, offExchange] = await Promise.all([
    // Weekends and holidays are two days of five.
    recentDailyBars(store, [symbol], barsThrough, Math.ceil(1.6 * most) + 10),
    readFrom(store, 'market', [symbol]).prisma.barBlock.findMany({
      where: { symbol, timeframe: '1m', spanStart: { lte: barsThrough } },
      select: { spanStart: true },
      orderBy: { spanStart: 'desc' },
      take: most,
    }),
    readFrom(store, 'chain', [symbol]).prisma.chainCapture.groupBy({
      by: ['sessionDate'],
      where: { underlying: symbol, ...upTo, capturedAt: { lte: atMs }, ...published },
      orderBy: { sessionDate: 'desc' },
      take: most,
    }),
    readFrom(store, 'flow', [symbol]).prisma.flowCoverage.findMany({
      where: { underlying: symbol, ...upTo, observedFromMs: { lte: atMs } },
      ...latest,
    }),
    readFrom(store, 'offexchange', [symbol]).prisma.offExchangeSession.findMany({
      where: { symbol, sessionDate: { lte: offExchangeThrough } },
      ...latest,
    }),
  ]);
  const found = new Map<SessionDate, SessionContents>();
  const add = (sessions: Iterable<SessionDate>, what: Partial<SessionContents>) => {
    for (const session of sessions) found.set(session, { ...(found.get(session) ?? noContents), ...what });
  };
  add(
    Array.from(daily.get(symbol)!.tsMs, (tsMs) => exchangeDate(tsMs)),
    { bars: true },
  );
  add(
    minutes.map(({ spanStart }) => spanStart),
    { bars: true },
  );
  const dates = (rows: readonly { sessionDate: SessionDate }[]) => rows.map(({ sessionDate }) => sessionDate);
  add(dates(chains), { chains: true });
  add(dates(flow), { flow: true });
  add(dates(offExchange), { offExchange: true });
  return new Map([...found].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, most));
}
