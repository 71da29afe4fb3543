import { type TradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import { tapeOfBars } from '../../../core/domain/dataset.ts';
import { sessionPart } from '../../../core/domain/generation.ts';
import type { BarColumns } from '../../../core/domain/market/bar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { firstAtOrAfter, pickBars } from '../../../store/market/bar-blocks.ts';
import { readGenerations } from '../../../store/market/generations.ts';
import { sessionsOfFiles } from '../../../store/market/ingested-files.ts';
import { liveSessions } from '../../../store/market/session-origins.ts';
import { storedTapes } from '../../../store/market/tape-sessions.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';

export type BarDataset = keyof typeof tapeOfBars;

/**
 * The stored bars of a session that a file of bars may replace: all; those that have no more figures, as of a live
 * tape, and of a tape with conditions, which a vendor's differ from; or, of another file, those without other trades.
 */
export type Replaceable = 'everything' | 'trades' | 'same trades';

/** Creates a function that is true for symbols' sessions whose bars are of a tape, and of no file that came later. */
async function barsOfTapes(
  tx: Transaction,
  dataset: BarDataset,
  of: { symbols: readonly string[]; sessions: readonly SessionDate[] },
) {
  const tapes = await storedTapes(tx, { dataset: tapeOfBars[dataset], ...of });
  const datasets = [dataset, tapeOfBars[dataset]];
  const keys = tapes.map(({ symbol, sessionDate }) => ({ ...sessionPart(symbol, sessionDate), datasets }));
  const made = Map.groupBy(await readGenerations(tx, keys), ({ symbol }) => symbol);
  // Stores of the oldest releases know the sessions of files alone.
  const ofFiles = tapes.length === 0 ? new Set() : await sessionsOfFiles(tx, dataset, of.sessions);
  const ofTapes = keys.filter(({ symbol, from: session }) => {
    const own = made.get(symbol)?.filter((each) => each.from <= session && each.through >= session) ?? [];
    if (own.length === 0) return !ofFiles.has(session);
    const lastOf = (name: string) =>
      Math.max(...own.filter((each) => each.dataset === name).map(({ ingestedMs }) => ingestedMs));
    return lastOf(tapeOfBars[dataset]) > lastOf(dataset);
  });
  const found = new Set(ofTapes.map(({ symbol, from }) => `${symbol} ${from}`));
  return (symbol: string, session: SessionDate) => found.has(`${symbol} ${session}`);
}

/** Creates a function that returns what a file of bars may replace of a symbol's session. */
export async function replaceableBars(
  tx: Transaction,
  dataset: BarDataset,
  { symbols, sessions }: { symbols: readonly string[]; sessions: readonly SessionDate[] },
): Promise<(symbol: string, session: SessionDate) => Replaceable> {
  const live = await liveSessions(tx, { dataset: tapeOfBars[dataset], symbols, sessions });
  const isOfTape = await barsOfTapes(tx, dataset, { symbols, sessions });
  return (symbol, session) =>
    live.has(`${symbol} ${session}`) || isOfTape(symbol, session) ? 'trades' : 'same trades';
}

/**
 * True if a stored bar is of other trades than one of its instant: its volume differs, and its range is not within the
 * other's, as that of a minute in progress is. Of one volume, another range is a correction.
 */
const isOfOthers = (bars: BarColumns, i: number, stored: BarColumns, j: number) =>
  bars.volume[i] !== Math.round(stored.volume[j]!) &&
  !(bars.high[i]! >= stored.high[j]! && bars.low[i]! <= stored.low[j]!);

const prices = ['open', 'high', 'low', 'close', 'volume'] as const;
const optional = ['vwap', 'tradeCount'] as const;
/** True if a bar has nothing that another lacks: written in its place, it would take the sums of its prints away. */
const addsNothing = (bars: BarColumns, i: number, to: BarColumns, j: number) =>
  prices.every((name) => bars[name][i] === to[name][j]) &&
  optional.every((name) => Number.isNaN(bars[name][i]) || bars[name][i] === to[name][j]);

/** Bars of a file beside the stored ones: nothing stored is replaced by less, such as the bar of another venue. */
interface ComparedBars {
  /** Indexes of bars that are stored, with these figures or more: they need not be written. */
  stored: Set<number>;
  /** Number of bars that lack trades of a stored one. */
  lacking: number;
}

/** Compares a file's bars `from` to `to` (exclusive) with the stored ones. Both ascend. */
function compareBars(stored: BarColumns, bars: BarColumns, from: number, to: number): ComparedBars {
  const found: ComparedBars = { stored: new Set(), lacking: 0 };
  let j = firstAtOrAfter(stored, bars.tsMs[from]!);
  for (let i = from; i < to; i++) {
    while (stored.tsMs[j]! < bars.tsMs[i]!) j++;
    if (stored.tsMs[j] !== bars.tsMs[i]) continue;
    if (addsNothing(bars, i, stored, j)) found.stored.add(i);
    else if (isOfOthers(bars, i, stored, j)) found.lacking++;
  }
  return found;
}

/** A session's bars of a file that would replace more. */
interface LesserSession {
  session: SessionDate;
  /** Number of the file's bars of the session, of the stored ones, and of those that lack something. */
  count: number;
  stored: number;
  missing: number;
}

const countIn = (bars: BarColumns, { fromMs, toMs }: TradeSpan) =>
  firstAtOrAfter(bars, toMs) - firstAtOrAfter(bars, fromMs);

/**
 * The bars of a file that may replace stored ones, by what may be replaced of a session. `onLesser` is called for each
 * omitted session.
 */
export function barsToWrite(
  stored: BarColumns,
  bars: BarColumns,
  replaceable: (session: SessionDate) => Replaceable,
  onLesser: (session: LesserSession) => void,
): BarColumns {
  const omitted = new Set<number>();
  for (let from = 0; from < bars.tsMs.length; ) {
    const span = tradeSpanAt(bars.tsMs[from]!);
    const to = firstAtOrAfter(bars, span.toMs);
    const may = replaceable(span.date);
    if (may !== 'everything') {
      const { stored: known, lacking } = compareBars(stored, bars, from, to);
      for (const i of known) omitted.add(i);
      if (may === 'same trades' && lacking > 0) {
        for (let i = from; i < to; i++) omitted.add(i);
        onLesser({ session: span.date, count: to - from, stored: countIn(stored, span), missing: lacking });
      }
    }
    from = to;
  }
  return omitted.size === 0 ? bars : pickBars(bars, (i) => !omitted.has(i));
}
