import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { symbolRegistry } from './symbols.ts';

/** The newest instant of each kind of data of a session, epoch ms; null = none is stored. */
export interface NewestData {
  /** Prices of a live tape. */
  quotes: number | null;
  /** Option prints of a tape. */
  option_prints: number | null;
  chains: number | null;
  /** Minute bars of stocks. */
  bars: number | null;
}

/** Newest stored data of a session. */
export async function newestData(store: Store, sessionDate: SessionDate): Promise<NewestData> {
  const { prisma } = store;
  // By the tables' keys, so that it is fast even if years are stored.
  const registered = anyOf((await symbolRegistry(store)).registered().map(({ symbol }) => symbol));
  const [quotes, prints, chains, bars] = await Promise.all([
    prisma.liveQuote.aggregate({ where: { sessionDate }, _max: { eventTsMs: true } }),
    prisma.flowCoverage.aggregate({
      where: { underlying: registered, sessionDate },
      _max: { observedThroughMs: true },
    }),
    prisma.chainCapture.aggregate({ where: { underlying: registered, sessionDate }, _max: { capturedAt: true } }),
    prisma.barBlock.aggregate({
      where: { symbol: registered, timeframe: '1m', spanStart: sessionDate },
      _max: { lastTsMs: true },
    }),
  ]);
  return {
    quotes: numbered(quotes._max).eventTsMs,
    option_prints: numbered(prints._max).observedThroughMs,
    chains: numbered(chains._max).capturedAt,
    bars: numbered(bars._max).lastTsMs,
  };
}
