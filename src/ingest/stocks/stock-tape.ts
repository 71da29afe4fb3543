import { StockTape } from '../../analytics/session/stock-tape.ts';
import { tradeSpan } from '../../domain/calendar.ts';
import { instantBounds } from '../../domain/instant-gate.ts';
import { type BarColumns, type Timeframe, timeframes } from '../../domain/market/bar.ts';
import { listingExchangeOfTape } from '../../domain/market/exchanges.ts';
import type { StockPrint } from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import { type BarRun, lockAllBarBlocks, writeBars } from '../../store/market/bar-blocks.ts';
import { saveUnknownTickers } from '../../store/market/symbols.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import { unservedTickers } from '../../tape/csv/unserved-tickers.ts';
import type { IngestSettings, TapeJob, TapeLoader } from '../files/file-job.ts';
import { unpackPrints } from '../files/packed-prints.ts';
import { createPrintSketch, mixed, type PrintSketch } from '../files/print-sketch.ts';
import { openTapeGuard, type TapeGuard, waitingPrints } from '../files/tape-guard.ts';
import { filesOfSession, tapeResults, unstored } from '../files/tape-results.ts';
import { saveOffExchangeSession } from './off-exchange-session.ts';
import { printCollector } from './stock-records.ts';
import { readStockTape, type StockTapeFiles } from './stock-tape-files.ts';

// Number of bars in memory before a write: bounds memory, and saves a statement per symbol for rarely traded symbols.
const batchBars = 100_000;

/** State of one symbol's session. */
interface SymbolSession {
  symbol: string;
  date: SessionDate;
  engine: StockTape;
  /** The tape in its prints, 0 while none has one. */
  tape: number;
}

/** A day's bar closes at the official close, which an auction may set beyond the high or low so far. */
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

const sumOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

/**
 * The share of the day's volume in the minute bars, for people: prints that form no price count only in the day bar.
 * Null if all are in minute bars.
 */
function sharesNote({ minutes, days }: { minutes: number; days: number }, { extendedBars }: IngestSettings) {
  const percent = Math.round((100 * minutes) / days);
  if (days === 0 || percent === 100) return null;
  const why = extendedBars
    ? 'minutes without a price have no bar'
    : 'extended hours have no bars without EXTENDED_BARS';
  return `minute bars hold ${percent}% of the shares of the day bars: ${why}`;
}

/** Writes bars of symbols' sessions in batches; each replaces all bars of its session. */
function barWriter(tx: Transaction) {
  let runs = new Map<Timeframe, BarRun[]>(timeframes.map((timeframe) => [timeframe, []]));
  let held = 0;
  // A symbol has one session per batch.
  const dates = new Map<string, SessionDate>();
  const changed = new Map<SessionDate, number>();
  const shares = { minutes: 0, days: 0 };
  const flush = async () => {
    for (const [timeframe, batch] of runs) {
      for (const { symbol } of await writeBars(tx, timeframe, batch, { locked: true })) {
        const date = dates.get(symbol)!;
        changed.set(date, (changed.get(date) ?? 0) + 1);
      }
    }
    runs = new Map(timeframes.map((timeframe) => [timeframe, []]));
    held = 0;
  };
  return {
    async add(session: SymbolSession) {
      // Two sessions of a symbol share a block of hours and days: they are written in sequence.
      if (runs.get('1d')!.at(-1)?.symbol === session.symbol) await flush();
      dates.set(session.symbol, session.date);
      const whole = tradeSpan(session.date);
      for (const timeframe of timeframes) {
        const bars = barsOf(session, timeframe);
        held += bars.tsMs.length;
        if (timeframe === '1m') shares.minutes += sumOf(bars.volume);
        if (timeframe === '1d') shares.days += sumOf(bars.volume);
        runs.get(timeframe)!.push({ symbol: session.symbol, bars, whole });
      }
      if (held >= batchBars) await flush();
    },
    /** Number of shares in minute and day bars. */
    shares,
    async done() {
      await flush();
      return changed;
    },
  };
}

/** State of one symbol's session, with the records for the guard. */
interface NotedSession extends SymbolSession {
  sketch: PrintSketch;
  /** Its prints, if they are to be stored. */
  kept: ReturnType<typeof printCollector> | null;
}

/** Begins a symbol's session; `exact`: its prints are compared with those of a small tape. */
function beginSession(symbol: string, date: SessionDate, guard: TapeGuard, extendedBars: boolean): NotedSession {
  const sketch = createPrintSketch({ exact: guard.isExact(symbol, date) });
  const kept = guard.isKept(date) ? printCollector() : null;
  return { symbol, date, engine: new StockTape({ session: date, extendedBars }), tape: 0, sketch, kept };
}

/** Creates a function that takes the prints of a session. */
function taker(session: NotedSession): (print: StockPrint) => void {
  const { engine, sketch, kept, date } = session;
  const { fromMs } = tradeSpan(date);
  return (print) => {
    if (session.tape === 0) session.tape = print.tape;
    const { trades, duplicates } = engine.counts;
    engine.print(print);
    if (engine.counts.duplicates === duplicates) kept?.add(print);
    // A trade with several records counts once.
    if (engine.counts.trades === trades) return;
    sketch.count(Math.floor((print.tsMs - fromMs) / minuteMs), 0);
    if (!sketch.wantsPrints) return;
    const name = mixed(mixed(print.exchange, print.trf), print.id >>> 0);
    sketch.addPrint(mixed(name, Math.floor(print.id / 2 ** 32) >>> 0));
  };
}

/** State of writing a stock tape. */
interface StockTapeWriting {
  job: TapeJob;
  file: StockTapeFiles;
  guard: TapeGuard;
  counts: { duplicates: number; corrections: number };
}

/** Writes the permitted sessions of the tape. Returns the changes of each. */
async function writeSessions({ job: { tx, now, settings, onNote }, file, guard, counts }: StockTapeWriting) {
  const bars = barWriter(tx);
  const changed = new Map<SessionDate, number>();
  const addChanged = (date: SessionDate, rows: number) => changed.set(date, (changed.get(date) ?? 0) + rows);
  let session: NotedSession | null = null;
  await file.feed(
    (symbol, date) => {
      session = null;
      if (settings.only !== null && settings.only !== date) return () => {};
      session = beginSession(symbol, date, guard, settings.extendedBars);
      return taker(session);
    },
    async () => {
      if (!session) return;
      const { symbol, date, engine, sketch, kept } = session;
      const part = { symbol, session: date, prints: engine.counts.trades };
      const others = () => engine.bars(symbol, '1m').tsMs.length;
      if (!(await guard.mayWrite({ ...part, others, sketch: () => sketch }))) return;
      if (kept) await guard.keep(part, kept.packed());
      if (guard.isBeside(date)) return;
      counts.duplicates += engine.counts.duplicates;
      counts.corrections += engine.counts.corrections;
      await saveUnknownTickers(tx, [symbol]);
      await bars.add(session);
      addChanged(date, Number(await saveOffExchangeSession(tx, symbol, date, engine.offExchange(symbol), now())));
      await guard.wrote(part, sketch.encoded());
    },
  );
  for (const [date, blocks] of await bars.done()) addChanged(date, blocks);
  const held = sharesNote(bars.shares, settings);
  if (held !== null) onNote(held);
  return changed;
}

/**
 * Loads stock tapes, as one. Bars of all lengths, with the official close, and the off-exchange figures of a symbol's
 * session replace the stored ones, unless those contain prints that the tape lacks.
 */
export const loadStockTrades: TapeLoader = async (job) => {
  const { tx, settings, now, onBadLine, onNote, refused } = job;
  const unserved = unservedTickers();
  const file = await readStockTape({
    files: job.files,
    async waiting(hours) {
      const rows = await waitingPrints(tx, 'stock-trades', hours, settings.replace);
      return rows.map(({ symbol, payload }) => ({ symbol, kept: unpackPrints(payload) }));
    },
    ...{ bounds: instantBounds(now()), unserved, onBadLine, refused },
  });
  try {
    const { filesHours, hours, symbols, joined } = file;
    if (refused()) return unstored(job, filesHours);
    if (settings.only !== null && !hours.has(settings.only))
      throw new TapeFileError(job.files[0]!.path, `no print of ${settings.only}`);
    await lockAllBarBlocks(tx);
    const { replace, keepDays } = settings;
    const filesOf = filesOfSession(job, filesHours);
    const tape = { dataset: 'stock-trades', symbols, hours, filesOf, replace, keepDays, nowMs: now() } as const;
    const guard = await openTapeGuard(tx, tape);
    const counts = { duplicates: 0, corrections: 0 };
    const changed = await writeSessions({ job, file, guard, counts });
    for (const note of unserved.notes()) onNote(note);
    if (joined > 0) onNote(`${joined} prints that waited for these sessions were joined`);
    if (counts.duplicates > 0) onNote(`${counts.duplicates} duplicate prints count once`);
    if (counts.corrections > 0) onNote(`${counts.corrections} correction records cancelled or replaced prints`);
    return tapeResults(job, filesHours, changed, await guard.done());
  } finally {
    await file.close();
  }
};
