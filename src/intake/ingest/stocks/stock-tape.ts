import { StockTape, type StockTapeCounts } from '../../../core/analytics/session/stock-tape.ts';
import { type TradeSpan, tradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import { type InstantBounds, instantBounds } from '../../../core/domain/instant-gate.ts';
import { type StoredTimeframe, tapeTimeframes } from '../../../core/domain/market/bar.ts';
import type { StockPrint } from '../../../core/domain/market/print.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { joinedHours, type TapeHours, tapeHoursCounter } from '../../../core/domain/tape-hours.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { type BarRun, lockAllBarBlocks, writeBars } from '../../../store/market/bar-blocks.ts';
import { saveUnknownTickers } from '../../../store/market/symbols.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { type OnBadLine, TapeFileError } from '../../tape/csv/tape-file.ts';
import { type UnservedTickers, unservedTickers } from '../../tape/csv/unserved-tickers.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { readStockTrades } from '../../tape/prints/stock-trades.ts';
import type { IngestSettings, TapeFile, TapeJob, TapeLoader } from '../files/file-job.ts';
import { FileSpans } from '../files/file-spans.ts';
import { type KeptPrints, unpackPrints } from '../files/packed-prints.ts';
import { mixed, PrintSketch } from '../files/print-sketch.ts';
import { openTapeGuard, type PartHours, type TapeGuard, waitingPrints } from '../files/tape-guard.ts';
import { listed } from '../files/tape-report.ts';
import { filesOfSession, tapeResults, unstored } from '../files/tape-results.ts';
import { saveOffExchangeSession } from './off-exchange-session.ts';
import {
  recordAt as at,
  createTapeRecords,
  packedStockPrints,
  type TapeRecords,
  recordWidth as width,
} from './stock-records.ts';

/** Takes a print of a file. */
type TakePrint = (print: StockPrint, file: number) => void;

/** A stock tape read from its files, which feeds the sessions of symbols one after the other. */
interface StockTapeFiles {
  /** Each file's part of its sessions, by path. */
  readonly filesHours: ReadonlyMap<string, ReadonlyMap<SessionDate, TapeHours>>;
  /** Number of waiting prints. */
  readonly joined: number;
  /** The symbols' sessions of the files. */
  readonly parts: readonly PartHours[];
  /**
   * Feeds the prints of a symbol's session, in order of time and then of their files, to the function that `begin`
   * returns for it, then calls `end`; then those of the next. The print is one reused object; a file that continues
   * another has its number. Call it once.
   */
  feed(begin: (symbol: string, session: SessionDate) => TakePrint, end: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

interface StockTapeReading {
  files: readonly TapeFile[];
  /** Waiting prints for the symbols' sessions of the files. */
  waiting(parts: readonly PartHours[]): Promise<WaitingPrints[]>;
  bounds: InstantBounds;
  /** Counts the lines of unserved tickers. */
  unserved: UnservedTickers;
  onBadLine: OnBadLine;
  /** True once collecting has stopped: reading continues only for bad lines. */
  refused(): boolean;
}

/** Waiting prints of a symbol. */
interface WaitingPrints {
  symbol: string;
  kept: KeptPrints;
}

/** A hash of what a print is without its id. */
function contentHash({ exchange, trf, price, size, sizeMicros, conditions, correction }: StockPrint): number {
  let hash = mixed(mixed(mixed(0, exchange), trf), price >>> 0);
  hash = mixed(mixed(mixed(hash, size >>> 0), sizeMicros), correction);
  for (const condition of conditions) hash = mixed(hash, condition);
  return hash;
}

/** Records which files have prints of a symbol's session. */
class PartFiles {
  readonly #areSeveral: boolean;
  /** By session, then symbol. */
  readonly #sessions = new Map<SessionDate, Map<string, FileSpans>>();
  #span: TradeSpan = { date: '', fromMs: 0, toMs: -Infinity };
  #ofSession = new Map<string, FileSpans>();
  #symbol = '';
  #last = new FileSpans();

  constructor(files: number) {
    this.#areSeveral = files > 1;
  }

  add(file: number, print: StockPrint): void {
    const { symbol, tsMs } = print;
    if (tsMs < this.#span.fromMs || tsMs >= this.#span.toMs) {
      this.#span = tradeSpanAt(tsMs);
      this.#ofSession = this.#sessions.get(this.#span.date) ?? new Map();
      this.#sessions.set(this.#span.date, this.#ofSession);
      this.#symbol = '';
    }
    if (symbol !== this.#symbol) {
      this.#symbol = symbol;
      this.#last = this.#ofSession.get(symbol) ?? new FileSpans();
      this.#ofSession.set(symbol, this.#last);
    }
    this.#last.add(file, tsMs, print.tsNanos, this.#areSeveral ? () => contentHash(print) : null);
  }

  of(symbol: string, session: SessionDate): FileSpans | undefined {
    return this.#sessions.get(session)?.get(symbol);
  }

  /** The symbols' sessions, with the hours of the files that have prints of them. */
  hours(files: readonly ReadonlyMap<SessionDate, TapeHours>[]): PartHours[] {
    return [...this.#sessions].flatMap(([session, symbols]) =>
      Array.from(symbols, ([symbol, spans]) => {
        const sessions = spans.files.map((file) => files[file]!);
        return { symbol, session, hours: joinedHours(sessions).get(session)! };
      }),
    );
  }
}

/** Adds the prints of the files to the sorter. Returns the contents of each file, and of the symbols' sessions. */
async function readFiles({ files, refused, ...reading }: StockTapeReading, records: TapeRecords) {
  const filesHours = new Map<string, ReadonlyMap<SessionDate, TapeHours>>();
  const parts = new PartFiles(files.length);
  for (const [file, { path, onBytes }] of files.entries()) {
    const [days, hours] = [closedDayCounter(), tapeHoursCounter()];
    filesHours.set(path, hours.sessions);
    for await (const prints of readStockTrades(path, { ...reading, onBytes })) {
      if (refused()) continue;
      for (const print of prints) {
        days.add(print.tsMs);
        hours.add(print.tsMs);
        parts.add(file, print);
        const full = records.push(print, file);
        if (full) await full;
      }
    }
    if (!refused()) days.check(path);
  }
  return { filesHours, parts };
}

/** Calls `begin` and `end` for each symbol's session of sorted records, and its function for each print. */
async function feedSorted(
  { sorter, symbols, filled }: TapeRecords,
  parts: PartFiles,
  onBatch: () => void,
  ...[begin, end]: Parameters<StockTapeFiles['feed']>
): Promise<void> {
  let symbol = -1;
  let sessionEndMs = -Infinity;
  let take: TakePrint | null = null;
  let continued: ReadonlyMap<number, number> = new Map();
  for await (const batch of sorter.sorted()) {
    onBatch();
    for (let i = 0; i < batch.length; i += width) {
      if (batch[i + at.symbol] !== symbol || batch[i + at.tsMs]! >= sessionEndMs) {
        if (take) await end();
        symbol = batch[i + at.symbol]!;
        const { date, toMs } = tradeSpanAt(batch[i + at.tsMs]!);
        sessionEndMs = toMs;
        const name = symbols[symbol]!;
        continued = parts.of(name, date)?.continued() ?? new Map();
        take = begin(name, date);
      }
      const file = batch[i + at.file]!;
      take!(filled(batch, i), continued.size === 0 ? file : (continued.get(file) ?? file));
    }
  }
  if (take) await end();
}

/**
 * Reads stock tapes as one, with their lines in any order. Memory is that of a sorter. Throws `TapeFileError`. Always
 * close it, also after an error.
 */
async function readStockTape(reading: StockTapeReading): Promise<StockTapeFiles> {
  const records = createTapeRecords();
  try {
    const { filesHours, parts: partFiles } = await readFiles(reading, records);
    const parts = partFiles.hours([...filesHours.values()]);
    const waiting = reading.refused() ? [] : await reading.waiting(parts);
    let joined = 0;
    for (const [i, { symbol, kept }] of waiting.entries())
      joined += await records.join(symbol, kept, reading.files.length + i);
    return {
      filesHours,
      joined,
      parts,
      feed: (begin, end) => feedSorted(records, partFiles, () => reading.files.at(-1)!.onBytes(0), begin, end),
      close: () => records.sorter.close(),
    };
  } catch (error) {
    await records.sorter.close();
    throw error;
  }
}

// Number of bars in memory before a write: bounds memory, and saves a statement per symbol for rarely traded symbols.
const batchBars = 100_000;

/** State of one symbol's session. */
interface SymbolSession {
  symbol: string;
  date: SessionDate;
  engine: StockTape;
  sketch: PrintSketch;
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
  let runs = new Map<StoredTimeframe, BarRun[]>(tapeTimeframes.map((timeframe) => [timeframe, []]));
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
    runs = new Map(tapeTimeframes.map((timeframe) => [timeframe, []]));
    held = 0;
  };
  return {
    async add(session: SymbolSession) {
      // Two sessions of a symbol share a block of hours and days: they are written in sequence.
      if (runs.get('1d')!.at(-1)?.symbol === session.symbol) await flush();
      dates.set(session.symbol, session.date);
      const whole = tradeSpan(session.date);
      for (const timeframe of tapeTimeframes) {
        const bars = session.engine.bars(session.symbol, timeframe);
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

/** Begins a symbol's session; `exact`: its prints are compared with those of a small tape. */
function beginSession(symbol: string, date: SessionDate, guard: TapeGuard, extendedBars: boolean): SymbolSession {
  const sketch = new PrintSketch({ exact: guard.isExact(symbol, date), hasIds: true });
  return { symbol, date, engine: new StockTape({ session: date, extendedBars }), sketch };
}

type SketchedPrint = Pick<StockPrint, 'exchange' | 'trf' | 'id' | 'tsMs' | 'tsNanos'>;

/** Hashes of a print by its instant, and by its id, by which sketches of earlier releases name prints. */
function hashesOf({ exchange, trf, id, tsMs, tsNanos }: SketchedPrint, fromMs: number): [number, number] {
  const venue = mixed(exchange, trf);
  return [mixed(mixed(venue, tsMs - fromMs), tsNanos), mixed(mixed(venue, id >>> 0), Math.floor(id / 2 ** 32) >>> 0)];
}

/** Creates a function that takes the prints of a session. A trade with several records counts once in its sketch. */
function taker({ engine, sketch, date }: SymbolSession): (print: StockPrint, file: number) => void {
  const { fromMs } = tradeSpan(date);
  const minuteOf = ({ tsMs }: SketchedPrint) => Math.floor((tsMs - fromMs) / minuteMs);
  const add = (print: SketchedPrint) => {
    sketch.count(minuteOf(print), 0);
    if (sketch.wantsPrints) sketch.addPrint(...hashesOf(print, fromMs));
  };
  return (print, file) => {
    if (engine.print(print, file)) add(print);
    for (const trade of engine.revised) {
      if (trade.sign === 1) add(trade);
      else sketch.remove(minuteOf(trade), 0, ...hashesOf(trade, fromMs));
    }
  };
}

/** Counts of the prints of written sessions by their outcome. */
interface PrintCounts extends Pick<StockTapeCounts, 'duplicates' | 'copies' | 'corrections'> {
  /** Symbols with a venue whose ids collide, and the number of these venues' prints. */
  unnamed: Set<string>;
  unnamedPrints: number;
}

const noCounts = (): PrintCounts => {
  return { duplicates: 0, copies: 0, corrections: 0, unnamed: new Set(), unnamedPrints: 0 };
};

function addCounts(to: PrintCounts, engine: StockTape): void {
  for (const name of ['duplicates', 'copies', 'corrections'] as const) to[name] += engine.counts[name];
  const { symbols, prints } = engine.unnamed();
  for (const symbol of symbols) to.unnamed.add(symbol);
  to.unnamedPrints += prints;
}

/** Notes on prints that are not, or not by their ids, part of the written sessions. */
function countNotes({ duplicates, copies, corrections, unnamed, unnamedPrints }: PrintCounts): string[] {
  const notes: [number, string][] = [
    [
      unnamedPrints,
      `prints of ${listed([...unnamed])} are identified by time, exchange, price, size and conditions: their ids repeat`,
    ],
    [duplicates, 'duplicate prints count once'],
    [copies, 'prints of one file are in another too and count once'],
    [corrections, 'correction records cancelled or replaced prints'],
  ];
  return notes.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

/** State of writing a stock tape. */
interface StockTapeWriting {
  job: TapeJob;
  file: StockTapeFiles;
  guard: TapeGuard;
  counts: PrintCounts;
}

/** Writes the permitted sessions of the tape. Returns the changes of each. */
async function writeSessions({ job: { tx, now, settings, onNote }, file, guard, counts }: StockTapeWriting) {
  const bars = barWriter(tx);
  const changed = new Map<SessionDate, number>();
  const addChanged = (date: SessionDate, rows: number) => changed.set(date, (changed.get(date) ?? 0) + rows);
  let session: SymbolSession | null = null;
  await file.feed(
    (symbol, date) => {
      session = null;
      if (settings.only !== null && settings.only !== date) return () => {};
      session = beginSession(symbol, date, guard, settings.extendedBars);
      return taker(session);
    },
    async () => {
      if (!session) return;
      const { symbol, date, engine, sketch } = session;
      const part = { symbol, session: date, prints: engine.counts.trades };
      const others = () => engine.bars(symbol, '1m').tsMs.length;
      if (!(await guard.mayWrite({ ...part, others, sketch: () => sketch }))) return;
      if (guard.isKept(symbol, date)) await guard.keep(part, packedStockPrints(engine.prints(symbol)));
      if (guard.isBeside(symbol, date)) return;
      addCounts(counts, engine);
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
    async waiting(parts) {
      const rows = await waitingPrints(tx, 'stock-trades', parts, settings.replace);
      return rows.map(({ symbol, payload }) => ({ symbol, kept: unpackPrints(payload) }));
    },
    bounds: instantBounds(now()),
    unserved,
    onBadLine,
    refused,
  });
  try {
    const { filesHours, parts, joined } = file;
    if (refused()) return unstored(job, filesHours);
    if (settings.only !== null && !parts.some(({ session }) => session === settings.only))
      throw new TapeFileError(job.files[0]!.path, `no print of ${settings.only}`);
    await lockAllBarBlocks(tx);
    const { replace, keepDays } = settings;
    const filesOf = filesOfSession(job, filesHours);
    const tape = { dataset: 'stock-trades', parts, filesOf, replace, keepDays, nowMs: now() } as const;
    const guard = await openTapeGuard(tx, tape);
    const counts = noCounts();
    const changed = await writeSessions({ job, file, guard, counts });
    for (const note of unserved.notes()) onNote(note);
    if (joined > 0) onNote(`${joined} prints that waited for these sessions were joined`);
    for (const note of countNotes(counts)) onNote(note);
    return tapeResults(job, filesHours, changed, await guard.done());
  } finally {
    await file.close();
  }
};
