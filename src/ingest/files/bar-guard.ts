import { type TradeSpan, tradeSpanAt } from '../../domain/calendar.ts';
import type { BarColumns } from '../../domain/market/bar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { firstAtOrAfter, pickBars } from '../../store/market/bar-blocks.ts';
import { sessionsOfFiles } from '../../store/market/ingested-files.ts';
import { liveSessions, simulatedSymbols } from '../../store/market/session-origins.ts';
import { storedTapes } from '../../store/market/tape-sessions.ts';
import type { Transaction } from '../../store/rows/transaction.ts';

/** Datasets of bars, and the tapes from which their bars are computed too. */
const tapesOf = {
  'stock-minute-bars': 'stock-trades',
  'stock-day-bars': 'stock-trades',
  'option-minute-bars': 'option-trades',
} as const;
export type BarDataset = keyof typeof tapesOf;

/**
 * Sessions, as `symbol session`, whose bars a file of bars may replace: those of a live tape, simulated ones, and those
 * computed from a tape with conditions, which a vendor's differ from. Those of another file of bars are compared.
 */
export async function replaceableSessions(
  tx: Transaction,
  dataset: BarDataset,
  { symbols, sessions }: { symbols: readonly string[]; sessions: readonly SessionDate[] },
): Promise<ReadonlySet<string>> {
  const simulated = (await simulatedSymbols(tx)).filter((symbol) => symbols.includes(symbol));
  // Simulated bars are replaced whole: the write of other data to their symbol sets them aside.
  const ofSample = simulated.flatMap((symbol) => sessions.map((session) => `${symbol} ${session}`));
  const live = new Set([...(await liveSessions(tx, symbols)), ...ofSample]);
  const tapes = await storedTapes(tx, { dataset: tapesOf[dataset], symbols, sessions });
  if (tapes.length === 0) return live;
  const ofFiles = await sessionsOfFiles(tx, dataset, sessions);
  const taped = tapes.filter(({ sessionDate }) => !ofFiles.has(sessionDate));
  return new Set([...live, ...taped.map(({ symbol, sessionDate }) => `${symbol} ${sessionDate}`)]);
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
/** True if a bar is another one without its average price or number of trades. */
const isPoorer = (bars: BarColumns, i: number, than: BarColumns, j: number) =>
  prices.every((name) => bars[name][i] === than[name][j]) &&
  optional.some((name) => Number.isNaN(bars[name][i]) && !Number.isNaN(than[name][j]));

/** Bars of a file beside the stored ones: nothing stored is replaced by less, such as the bar of another venue. */
interface ComparedBars {
  /** Indexes of bars that are stored, with more figures: they need not be written. */
  poorer: Set<number>;
  /** Number of bars that lack trades of a stored one. */
  lacking: number;
}

/** Compares a file's bars `from` to `to` (exclusive) with the stored ones. Both ascend. */
function compareBars(stored: BarColumns, bars: BarColumns, from: number, to: number): ComparedBars {
  const found: ComparedBars = { poorer: new Set(), lacking: 0 };
  let j = firstAtOrAfter(stored, bars.tsMs[from]!);
  for (let i = from; i < to; i++) {
    while (stored.tsMs[j]! < bars.tsMs[i]!) j++;
    if (stored.tsMs[j] !== bars.tsMs[i]) continue;
    if (isPoorer(bars, i, stored, j)) found.poorer.add(i);
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
 * The bars of a file that may replace stored ones. `onLesser` is called for each omitted session, unless
 * `mayReplace` allows it.
 */
export function barsToWrite(
  stored: BarColumns,
  bars: BarColumns,
  mayReplace: (session: SessionDate) => boolean,
  onLesser: (session: LesserSession) => void,
): BarColumns {
  const omitted = new Set<number>();
  for (let from = 0; from < bars.tsMs.length; ) {
    const span = tradeSpanAt(bars.tsMs[from]!);
    const to = firstAtOrAfter(bars, span.toMs);
    if (!mayReplace(span.date)) {
      const { poorer, lacking } = compareBars(stored, bars, from, to);
      for (const i of poorer) omitted.add(i);
      if (lacking > 0) {
        for (let i = from; i < to; i++) omitted.add(i);
        onLesser({ session: span.date, count: to - from, stored: countIn(stored, span), missing: lacking });
      }
    }
    from = to;
  }
  return omitted.size === 0 ? bars : pickBars(bars, (i) => !omitted.has(i));
}
