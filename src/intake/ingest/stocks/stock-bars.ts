import { type TradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import type { GenerationPart } from '../../../core/domain/generation.ts';
import { instantBounds } from '../../../core/domain/instant-gate.ts';
import { type BarColumns, barColumns, isSameBar } from '../../../core/domain/market/bar.ts';
import { aggregateBars } from '../../../core/domain/market/bar-aggregation.ts';
import { exchangeDate, type SessionDate } from '../../../core/domain/market-time.ts';
import {
  concatBars,
  firstAtOrAfter,
  lockAllBarBlocks,
  type WrittenBlock,
  writeBars,
} from '../../../store/market/bar-blocks.ts';
import { rejectSealedBars, rejectSealedSpans } from '../../../store/market/sealed-bars.ts';
import type { SymbolSpan } from '../../../store/market/session-seals.ts';
import { splitsIn } from '../../../store/market/splits.ts';
import { indexSymbols, saveUnknownTickers } from '../../../store/market/symbols.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { stockDayBars, stockMinuteBars } from '../../tape/csv/stock-bars.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import { unservedTickers } from '../../tape/csv/unserved-tickers.ts';
import { slices } from '../files/bar-batch.ts';
import { type BarRuns, loadBarFile } from '../files/bar-file.ts';
import { type BarDataset, barsToWrite, replaceableBars } from '../files/bar-guard.ts';
import type { FileJob, FileResult, Loader } from '../files/file-job.ts';
import { fileTally, keyedChanges, type LeftCounts, talliedResult } from '../files/session-tally.ts';

// Number of runs merged and written by one statement: bounds the decoded data.
const runsAtOnce = 256;

/** Computes 5m and 1h bars from all 1m bars of the sessions: a late bar changes the longer bar that contains it. */
async function writeDerived(tx: Transaction, sessions: readonly WrittenBlock[]): Promise<number> {
  let changed = 0;
  for (const timeframe of ['5m', '1h'] as const) {
    const bySymbol = new Map<string, BarColumns[]>();
    for (const { symbol, bars } of sessions) {
      const part = aggregateBars(bars, timeframe);
      const parts = bySymbol.get(symbol);
      if (parts) parts.push(part);
      else bySymbol.set(symbol, [part]);
    }
    const runs = [...bySymbol].map(([symbol, parts]) => ({
      symbol,
      bars: parts.length === 0 ? barColumns(0) : concatBars(parts),
    }));
    changed += (await writeBars(tx, timeframe, runs, { locked: true })).length;
  }
  return changed;
}

/** The sessions of ascending bars. */
function* sessionsOf(bars: BarColumns): Generator<SessionDate> {
  for (let i = 0; i < bars.tsMs.length; ) {
    const { date, toMs } = tradeSpanAt(bars.tsMs[i]!);
    yield date;
    i = firstAtOrAfter(bars, toMs);
  }
}

const countIn = (bars: BarColumns, { fromMs, toMs }: TradeSpan) =>
  firstAtOrAfter(bars, toMs) - firstAtOrAfter(bars, fromMs);

/** The sessions whose bars in a block changed, with their number before and after. */
function* changedSessions({ before, bars }: WrittenBlock) {
  let [old, throughMs] = [0, -Infinity];
  for (let i = 0; i < bars.tsMs.length; i++) {
    while (before.tsMs[old]! < bars.tsMs[i]!) old++;
    if (bars.tsMs[i]! < throughMs || isSameBar(before, old, bars, i)) continue;
    const span = tradeSpanAt(bars.tsMs[i]!);
    throughMs = span.toMs;
    yield { session: span.date, before: countIn(before, span), after: countIn(bars, span) };
  }
}

/** State of writing a file's batches. */
interface BarFileWriting {
  tx: Transaction;
  dataset: BarDataset;
  timeframe: '1m' | '1d';
  /** The sessions of the file. */
  sessions: Set<SessionDate>;
  /** Tickers of indexes. */
  indexes: Set<string>;
  replace: boolean;
  onLesser(session: SessionDate, of: LeftCounts): void;
  /** Called for every session of a file that replaces: its bars count as the file's, also where they are equal. */
  onReplaced(symbol: string, session: SessionDate): void;
  onChange(symbol: string, change: ReturnType<typeof changedSessions> extends Generator<infer T> ? T : never): void;
}

async function writeRuns(read: BarRuns, writing: BarFileWriting): Promise<number> {
  const { tx, dataset, timeframe, sessions, indexes, replace, onChange, onLesser, onReplaced } = writing;
  let changed = 0;
  for (const slice of slices(read, runsAtOnce)) {
    const runs = slice.map(([symbol, bars]) => ({ symbol, bars }));
    for (const { bars } of runs) for (const session of sessionsOf(bars)) sessions.add(session);
    const symbols = runs.map((run) => run.symbol);
    await saveUnknownTickers(tx, symbols, (symbol) => (indexes.has(symbol) ? 'index' : 'equity'));
    const part = { symbols, sessions: [...new Set(runs.flatMap(({ bars }) => [...sessionsOf(bars)]))] };
    const replaceable = replace ? () => 'everything' as const : await replaceableBars(tx, dataset, part);
    const lesser: SymbolSpan[] = [];
    // The longer bars of a session change only with its minutes.
    const written = await writeBars(tx, timeframe, runs, {
      locked: true,
      unless: rejectSealedBars,
      pick: ({ symbol, before, bars }) =>
        barsToWrite(
          before,
          bars,
          (session) => replaceable(symbol, session),
          ({ session, ...of }) => {
            lesser.push({ symbol, from: session, to: session });
            onLesser(session, { symbol, ...of });
          },
        ),
    });
    // A report that names --replace would lead to a second rejection.
    if (lesser.length > 0) await rejectSealedSpans(tx, lesser);
    if (replace)
      for (const { symbol, bars } of runs) for (const session of sessionsOf(bars)) onReplaced(symbol, session);
    for (const block of written) for (const change of changedSessions(block)) onChange(block.symbol, change);
    changed += written.length + (timeframe === '1m' ? await writeDerived(tx, written) : 0);
  }
  return changed;
}

/** The sessions of symbols that were written: each, or those of day bars from the first to the last. */
function writtenParts(timeframe: '1m' | '1d') {
  const parts = new Map<string, GenerationPart>();
  return {
    add(symbol: string, session: SessionDate) {
      const key = timeframe === '1m' ? `${symbol} ${session}` : symbol;
      const known = parts.get(key) ?? { symbol, from: session, through: session, instantMs: 0 };
      if (session < known.from) known.from = session;
      if (session > known.through) known.through = session;
      parts.set(key, known);
    },
    all: () => [...parts.values()],
  };
}

/** Symbols whose prices before a split are divided by it, with the start of the first bar, epoch ms. */
class DividedPrices {
  readonly #firstMs = new Map<string, number>();

  add(symbol: string, tsMs: number): void {
    if (!(this.#firstMs.get(symbol)! <= tsMs)) this.#firstMs.set(symbol, tsMs);
  }

  /** Notes symbols without known splits. Throws `TapeFileError` for one with a split since its first bar. */
  async check({ tx, path, now, onNote }: FileJob): Promise<void> {
    if (this.#firstMs.size === 0) return;
    const known = await splitsIn(tx, [...this.#firstMs.keys()]);
    const today = exchangeDate(now());
    for (const [symbol, firstMs] of this.#firstMs) {
      const last = known.get(symbol)?.findLast(({ exDate }) => exDate > exchangeDate(firstMs) && exDate <= today);
      if (last)
        throw new TapeFileError(
          path,
          `prices of ${symbol} before ${last.exDate} are divided by the split of that day, ${last.ratio} new shares ` +
            'for one, and prices are stored as printed; begin the file with that day',
        );
      if (!known.has(symbol))
        onNote(
          `prices of ${symbol} before a split are divided by it, and no split of ${symbol} is stored: ` +
            'they are taken as printed; ingest splits first if there was one',
        );
    }
  }
}

async function loadBars(job: FileJob, timeframe: '1m' | '1d'): Promise<FileResult> {
  const { tx, name, settings } = job;
  await lockAllBarBlocks(tx);
  const sessions = new Set<SessionDate>();
  const dataset = timeframe === '1m' ? 'stock-minute-bars' : 'stock-day-bars';
  const tally = fileTally(tx, dataset, 'bars', name);
  const ofKey = keyedChanges(tally);
  const written = writtenParts(timeframe);
  const indexes = new Set<string>();
  const writing: BarFileWriting = {
    tx,
    dataset,
    timeframe,
    sessions,
    indexes,
    replace: settings.replace,
    onLesser: (session, of) => tally.left(session, 'fewer', of),
    onReplaced: written.add,
    onChange(symbol, { session, ...of }) {
      written.add(symbol, session);
      if (timeframe === '1m') ofKey({ session, symbol, key: symbol, ...of });
      // A file of several years has one bar in each of millions of symbols' sessions: they are not recorded.
      else tally.changed(session, { symbols: 1, ...of });
    },
  };
  const known = await indexSymbols(tx);
  const isIndex = (symbol: string) => known.has(symbol);
  const divided = new DividedPrices();
  const options = {
    bounds: instantBounds(job.now()),
    unserved: unservedTickers(),
    isIndex,
    onIndex: (symbol: string) => void indexes.add(symbol),
    onDivided: divided.add.bind(divided),
  };
  const result = await loadBarFile(job, (timeframe === '1m' ? stockMinuteBars : stockDayBars)(options), {
    length: timeframe === '1m' ? 'minute' : 'day',
    push: (batch, { symbol, bar }) => batch.push(symbol, bar),
    write: (runs) => writeRuns(runs, writing),
    check: () => divided.check(job),
  });
  for (const note of options.unserved.notes()) job.onNote(note);
  return { ...(await talliedResult(result, tally)), parts: [...sessions], written: written.all() };
}

/**
 * Loads minute aggregates: 1m blocks, and the derived 5m and 1h blocks. An unknown ticker is added to the directory.
 */
export const loadStockMinuteBars: Loader = (job) => loadBars(job, '1m');

/** Loads day aggregates: 1d blocks. */
export const loadStockDayBars: Loader = (job) => loadBars(job, '1d');
