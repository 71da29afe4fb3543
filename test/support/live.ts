import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeDate, exchangeInstant } from '../../src/core/domain/market-time.ts';
import { beatMs, type Every, type Pace, recheckMs, sweepMs } from '../../src/live/hub.ts';
import { saveCrossSections } from '../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../src/store/flow/sessions.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../../src/store/market/live-quotes.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { coverage, measures } from './flow.ts';
import { flatBar } from './market.ts';

/** The timers of streams, run by hand. */
export interface HandTimers {
  every: Every;
  beat(): void;
  recheck(): void;
  sweep(): void;
}

/** A clock that jumps to whatever is waited for, and stands still while nothing is. */
export interface JumpingPace extends Pace {
  /** Waits in progress. */
  waiting: Set<() => void>;
  /** False: waits last until they are cancelled. */
  isRunning: boolean;
}

/** A clock of replays that takes no time. */
export function jumpingPace(): JumpingPace {
  let nowMs = 0;
  const waiting = new Set<() => void>();
  return {
    waiting,
    isRunning: true,
    now: () => nowMs,
    later(ms, work) {
      const wait = () => {
        if (!waiting.delete(wait)) return;
        nowMs += ms;
        work();
      };
      waiting.add(wait);
      if (this.isRunning) setImmediate(wait);
      return () => void waiting.delete(wait);
    },
  };
}

/** Timers that run on command. */
export function handTimers(): HandTimers {
  const works = new Set<{ ms: number; work: () => void }>();
  const run = (ms: number, which: number) => {
    // Timers with the same interval are distinguished by the order in which the hub sets them.
    const found = [...works].filter((each) => each.ms === ms);
    found[Math.min(which, found.length - 1)]?.work();
  };
  return {
    every(ms, work) {
      const entry = { ms, work };
      works.add(entry);
      return () => void works.delete(entry);
    },
    sweep: () => run(sweepMs, 0),
    recheck: () => run(recheckMs, (sweepMs as number) === recheckMs ? 1 : 0),
    beat: () => run(beatMs, 0),
  };
}

/** Writes the price of symbols like a live tape, `{SPY: 600}` dollars at `atMs`, and reports the change. */
export async function trade(store: Store, prices: Record<string, number>, atMs: number, volume = 100): Promise<void> {
  await inTransaction(store, async (tx) => {
    const quotes = Object.entries(prices).map(([symbol, spot]) => ({
      symbol,
      sessionDate: exchangeDate(atMs),
      spot,
      eventTsMs: atMs,
      volume,
      officialClose: null,
    }));
    await saveLiveQuotes(tx, quotes);
  });
}

/** Writes a session's snapshot with `base` contracts traded at one strike, as a live tape does. */
export async function snapshot(
  store: Store,
  symbol: string,
  session: string,
  seq: number,
  base: number,
): Promise<void> {
  const section = {
    symbol,
    seq,
    coverage: coverage(session, 715),
    byStrike: [{ strikeThousandths: 600_000, measures: measures(base) }],
    byExpiration: [{ expiry: '2026-12-18', measures: measures(base) }],
  };
  await inTransaction(store, async (tx) => {
    await saveCoverages(tx, new Map([[symbol, section.coverage]]));
    await saveCrossSections(tx, [section]);
  });
}

/** Writes minute bars of a session from 09:30 on as a live tape does, `[price, volume]` each from minute `first` on. */
export async function minutes(
  store: Store,
  symbol: string,
  session: string,
  first: number,
  bars: readonly (readonly [number, number])[],
): Promise<void> {
  const rows = bars.map(([price, volume], i) => flatBar(exchangeInstant(session, 570 + first + i), price, volume));
  await inTransaction(store, async (tx) => {
    await writeBars(tx, '1m', [{ symbol, bars: toBarColumns(rows) }]);
  });
}
