import { createStockTape, type StockTape } from '../../analytics/session/stock-tape.ts';
import { type BarColumns, type Timeframe, timeframes } from '../../domain/bar.ts';
import { listingExchangeOfTape } from '../../domain/exchanges.ts';
import { instantBounds } from '../../domain/instant-gate.ts';
import { addDays, exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { type BarRun, lockAllBarBlocks, writeBars } from '../../store/market/bar-blocks.ts';
import { rejectSealed } from '../../store/market/session-seals.ts';
import { saveUnknownTickers } from '../../store/market/symbols.ts';
import type { FileJob, Loader } from '../files/file-job.ts';
import { saveOffExchangeSession } from './off-exchange-session.ts';
import { readStockTape } from './stock-tape-files.ts';

// Bars held before they are written: bounds memory, and spares a statement a symbol where symbols trade little.
const batchBars = 100_000;

/** One symbol's session being made. */
interface SymbolSession {
  symbol: string;
  date: SessionDate;
  engine: StockTape;
  /** The tape its prints name, 0 while none does. */
  tape: number;
}

/** A day's bar closes at the official close, which an auction may set outside what counted before it. */
function withOfficialClose(day: BarColumns, close: number | null): BarColumns {
  if (close === null || day.tsMs.length === 0) return day;
  day.close[0] = close;
  day.high[0] = Math.max(day.high[0]!, close);
  day.low[0] = Math.min(day.low[0]!, close);
  return day;
}

function barsOf({ symbol, engine, tape }: SymbolSession, timeframe: Timeframe): BarColumns {
  const bars = engine.bars(symbol, timeframe);
  return timeframe === '1d' ? withOfficialClose(bars, engine.officialClose(symbol, listingExchangeOfTape(tape))) : bars;
}

/** Bars of symbols' sessions, written a batch at a time; each takes the place of all bars its session had. */
function barWriter(tx: Transaction) {
  let runs = new Map<Timeframe, BarRun[]>(timeframes.map((timeframe) => [timeframe, []]));
  let held = 0;
  let changed = 0;
  const flush = async () => {
    for (const [timeframe, batch] of runs) changed += (await writeBars(tx, timeframe, batch, { locked: true })).length;
    runs = new Map(timeframes.map((timeframe) => [timeframe, []]));
    held = 0;
  };
  return {
    async add(session: SymbolSession) {
      // Two sessions of a symbol lie in one block of hours and days: one write after the other.
      if (runs.get('1d')!.at(-1)?.symbol === session.symbol) await flush();
      const whole = { fromMs: exchangeInstant(session.date), toMs: exchangeInstant(addDays(session.date, 1)) };
      for (const timeframe of timeframes) {
        const bars = barsOf(session, timeframe);
        held += bars.tsMs.length;
        runs.get(timeframe)!.push({ symbol: session.symbol, bars, whole });
      }
      if (held >= batchBars) await flush();
    },
    async done() {
      await flush();
      return changed;
    },
  };
}

/**
 * A stock tape: it is taken to hold all prints of every symbol's session in it. Bars of all lengths, with the official
 * close, and the off-exchange figures take the place of what was stored of these sessions.
 */
export const loadStockTrades: Loader = async ({ path, tx, now, onBadLine, onBytes, onNote, refused }: FileJob) => {
  const file = await readStockTape({ path, bounds: instantBounds(now()), onBadLine, onBytes, refused });
  const rows = file.prints;
  try {
    if (refused()) return { rows, changed: 0 };
    await lockAllBarBlocks(tx);
    const bars = barWriter(tx);
    const sessions = new Set<SessionDate>();
    const counts = { duplicates: 0, corrections: 0 };
    let changed = 0;
    let session: SymbolSession;
    await file.feed(
      (symbol, date) => {
        sessions.add(date);
        session = { symbol, date, engine: createStockTape({ session: date }), tape: 0 };
        return (print) => {
          if (session.tape === 0) session.tape = print.tape;
          session.engine.print(print);
        };
      },
      async () => {
        const { symbol, date, engine } = session;
        counts.duplicates += engine.counts.duplicates;
        counts.corrections += engine.counts.corrections;
        await rejectSealed(tx, [{ symbol, sessionDate: date }]);
        await saveUnknownTickers(tx, [symbol]);
        await bars.add(session);
        changed += Number(await saveOffExchangeSession(tx, symbol, date, engine.offExchange(symbol), now()));
      },
    );
    changed += await bars.done();
    if (counts.duplicates > 0) onNote(`${counts.duplicates} duplicate prints count once`);
    if (counts.corrections > 0) onNote(`${counts.corrections} correction records cancelled or replaced prints`);
    return { rows, changed, parts: [...sessions] };
  } finally {
    await file.close();
  }
};
