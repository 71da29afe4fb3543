import { previousTradingDay, tradeSpan, tradeSpanAt } from '../core/domain/calendar.ts';
import {
  type BarColumns,
  isSameBar,
  latenessMs,
  type Series,
  type StockBar,
  stockBarAt,
  type Timeframe,
  timeframeMs,
  timeframes,
} from '../core/domain/market/bar.ts';
import { barColumnNames, barNumbers } from '../core/domain/market/bar-columns.ts';
import type { SessionDate } from '../core/domain/market-time.ts';
import { dayMs } from '../platform/runtime/clock.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import { concatBars, firstAtOrAfter, lastBarStarts, readBars, sliceBars } from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';
import { requiredPart } from '../store/rows/required-part.ts';
import { concerns } from '../store/versions/subjects.ts';
import { recentDays } from './daily-bars.ts';
import { priceInstants } from './replay-instants.ts';
import { type LiveEvent, requireHeld, tooEarly } from './source.ts';
import { type BarReading, barSpan, barsAsOfNow } from './stock-bars.ts';
import type { TopicKind } from './topics.ts';

/** Maximum number of missed bars with which a reader may resume. */
const mostMissed = 10_000;

/** State of a symbol's bars of a timeframe. */
export interface BarState {
  /**
   * Those of the session in progress, as of now, after those of the session before; if both have none, the last one.
   */
  bars: BarColumns;
  /** Those of the session before: its tape may still be corrected. */
  before: BarColumns;
  date: SessionDate;
  /** The newest bar; null if there is none in recent days. */
  latest: LiveEvent<StockBar> | null;
}

export const keyOf = ({ symbol, timeframe }: Series) => `${symbol} ${timeframe}`;
function seriesOf(key: string): Series {
  const [symbol, timeframe] = key.split(' ');
  return { symbol: symbol!, timeframe: timeframe as Timeframe };
}

/** Columns that no block lacks: one of later releases does not change the fingerprint of bars stored before. */
const certainNames = barColumnNames.filter((name) => 'nullable' in barNumbers[name]);

/** A short fingerprint of the bars [start, end). */
function printOf(bars: BarColumns, start: number, end: number): string {
  let hash = 5381;
  for (let i = start; i < end; i++)
    for (const name of certainNames)
      hash = ((Math.imul(hash, 33) + Math.round(bars[name][i]! * 10_000)) % 0x7fffffff) | 0;
  return (hash >>> 0).toString(36);
}

/** Bars that start before this, epoch ms, are final when the one at `tsMs` begins. */
const settledBefore = (tsMs: number, timeframe: Timeframe) => tsMs - latenessMs - timeframeMs[timeframe];

/**
 * The cursor of a reader whose newest bar is `index`: its start, its fingerprint, and that of the bars before it that
 * late prints may still change.
 */
function cursorAt(bars: BarColumns, index: number, timeframe: Timeframe): string {
  const early = firstAtOrAfter(bars, settledBefore(bars.tsMs[index]!, timeframe));
  return `${bars.tsMs[index]}.${printOf(bars, index, index + 1)}.${printOf(bars, early, index)}`;
}

/** True if both have the same arrays. */
const isSameMemory = ({ tsMs: a }: BarColumns, { tsMs: b }: BarColumns) =>
  a.buffer === b.buffer && a.byteOffset === b.byteOffset && a.length === b.length;

/** Indexes of the bars of `now` that are new or differ from those of `was`. */
function changedBars(was: BarState, now: Pick<BarState, 'bars' | 'before'>): number[] {
  const [a, b] = [was.bars.tsMs, now.bars.tsMs];
  const changed: number[] = [];
  // The session before seldom changes: its block is then the cached one.
  const first = isSameMemory(was.before, now.before) ? now.before.tsMs.length : 0;
  let i = first;
  for (let j = first; j < b.length; j++) {
    while (i < a.length && a[i]! < b[j]!) i++;
    if (a[i] !== b[j] || !isSameBar(was.bars, i, now.bars, j)) changed.push(j);
  }
  return changed;
}

/** The bars at `indexes` as events; `newest` is the newest bar sent before. */
function eventsOf(
  series: Series,
  bars: BarColumns,
  indexes: readonly number[],
  sent: { tsMs: number; cursor: string } | null,
): LiveEvent<StockBar>[] {
  let at = sent;
  return indexes.map((index) => {
    const tsMs = bars.tsMs[index]!;
    if (at === null || tsMs >= at.tsMs) at = { tsMs, cursor: cursorAt(bars, index, series.timeframe) };
    return { value: stockBarAt(bars, index, series), cursor: at.cursor, slot: String(tsMs) };
  });
}

const lastSent = (latest: LiveEvent<StockBar> | null) => latest && { tsMs: latest.value.tsMs, cursor: latest.cursor };

/**
 * The last bar of earlier days, with the unsettled ones before it, of symbols without bars in the session in progress.
 */
async function lastBars(store: Store, symbols: readonly string[], timeframe: Timeframe, todayMs: number) {
  if (symbols.length === 0) return new Map<string, BarColumns>();
  const starts = await lastBarStarts(store, symbols, timeframe, todayMs - recentDays * dayMs, todayMs);
  if (starts.size === 0) return new Map<string, BarColumns>();
  const range = { fromMs: Math.min(...starts.values()), toMs: todayMs, limit: Infinity };
  const read = await readBars(store, [...starts.keys()], timeframe, range);
  return new Map(
    [...read].map(([symbol, { bars }]) => {
      const from = firstAtOrAfter(bars, settledBefore(bars.tsMs.at(-1)!, timeframe));
      return [symbol, sliceBars(bars, from, bars.tsMs.length)];
    }),
  );
}

type Readings = Awaited<ReturnType<TopicKind<BarState, StockBar>['read']>>;

async function readTimeframe(
  reading: BarReading,
  timeframe: Timeframe,
  topics: ReadonlyMap<string, BarState | null>,
  into: Readings,
): Promise<void> {
  const { store, nowMs } = reading;
  const { date, fromMs: startMs, toMs } = tradeSpanAt(nowMs);
  const { fromMs } = tradeSpan(previousTradingDay(date));
  const symbols = [...topics.keys()];
  const read = new Map(
    await Promise.all(
      symbols.map(async (symbol) => {
        const [before, current] = await Promise.all([
          barsAsOfNow(reading, symbol, timeframe, { fromMs, toMs: startMs, limit: Infinity }),
          barsAsOfNow(reading, symbol, timeframe, { fromMs: startMs, toMs, limit: Infinity }),
        ]);
        return [symbol, { before: before.bars, bars: concatBars([before.bars, current.bars]) }] as const;
      }),
    ),
  );
  const without = symbols.filter(
    (symbol) => requiredPart(read, symbol, 'bars of').bars.tsMs.length === 0 && !topics.get(symbol)?.latest,
  );
  const last = await lastBars(store, without, timeframe, fromMs);
  for (const symbol of symbols) {
    const was = topics.get(symbol)!;
    const series = { symbol, timeframe };
    const { before, bars } = requiredPart(read, symbol, 'bars of');
    const now = { before, bars: last.get(symbol) ?? bars };
    const length = now.bars.tsMs.length;
    // A new subscriber gets the newest bar, not the earlier ones.
    const sent = was === null ? [] : changedBars(was, now);
    const events = eventsOf(series, now.bars, sent, lastSent(was?.latest ?? null));
    const newest = length === 0 ? null : eventsOf(series, now.bars, [length - 1], null)[0]!;
    const same = newest && events.at(-1)?.slot === newest.slot ? events.at(-1)! : newest;
    const latest = was?.latest && (same === null || events.length === 0) ? was.latest : same;
    into.set(keyOf(series), { state: { ...now, date, latest }, events });
  }
}

/** Live bars, one topic per symbol and timeframe. */
export function barTopics(store: Store): TopicKind<BarState, StockBar> {
  return {
    dataset: 'bars',
    queued: 'latest',
    concerns: (key, change) => concerns(change, 'market', seriesOf(key).symbol),
    async read(topics, nowMs) {
      // The source was checked when the stream was opened.
      const reading: BarReading = { store, loaders: new Map(), nowMs };
      const into: Readings = new Map();
      for (const timeframe of timeframes) {
        const of = [...topics].filter(([key]) => seriesOf(key).timeframe === timeframe);
        if (of.length === 0) continue;
        const bySymbol = new Map(of.map(([key, state]) => [seriesOf(key).symbol, state]));
        await readTimeframe(reading, timeframe, bySymbol, into);
      }
      return into;
    },
    async instants(keys, fromMs, toMs) {
      const found = new Set<number>();
      for (const { symbol, timeframe } of keys.map(seriesOf))
        for (const instant of await priceInstants(store, [symbol], timeframe, fromMs, toMs)) found.add(instant);
      return found;
    },
    first: ({ latest }) => (latest ? [latest] : []),
    cursor: ({ latest }) => latest?.cursor ?? '0.0.0',
  };
}

/** The bars missed by a client that received those up to `after`. */
export async function missed(store: Store, series: Series, after: string, { bars, date, latest }: BarState) {
  if (latest === null) return [];
  const [start, print, early] = after.split('.');
  const sentMs = Number(start);
  const fromMs = settledBefore(sentMs, series.timeframe);
  const todayMs = tradeSpan(date).fromMs;
  let all = bars;
  if (sentMs > 0 && fromMs < (bars.tsMs[0] ?? todayMs)) {
    const range = { fromMs, toMs: bars.tsMs[0] ?? todayMs, limit: mostMissed };
    const read = await readBars(store, [series.symbol], series.timeframe, range);
    const stored = requiredPart(read, series.symbol, 'bars of');
    if (stored.more)
      throw invalidParameter(
        'after',
        `more than ${mostMissed} bars were missed; start a new stream, and read them with the bars query`,
      );
    all = concatBars([stored.bars, bars]);
  }
  const sent = firstAtOrAfter(all, sentMs);
  const isKnown = all.tsMs[sent] === sentMs;
  const first = firstAtOrAfter(all, fromMs);
  const isEarlyUnchanged = printOf(all, first, sent) === early;
  const isSentUnchanged = isKnown && printOf(all, sent, sent + 1) === print;
  const from = isEarlyUnchanged ? sent : first;
  const indexes = Array.from({ length: all.tsMs.length - from }, (_, i) => from + i);
  const wanted = indexes.filter((index) => index !== sent || !isSentUnchanged);
  return eventsOf(series, all, wanted, null);
}

/** Time that `mostMissed` bars span at most, in lengths of a bar: trading hours are a fifth of a week. */
const missedSpans = 6 * mostMissed;

/**
 * The bars that had not ended at `sinceMs`, epoch ms, each in its latest state. Throws 400 naming the first instant
 * that is served.
 */
export async function barsSince(store: Store, series: Series, sinceMs: number, { bars, date, latest }: BarState) {
  if (latest === null) return [];
  const { symbol, timeframe } = series;
  const read = async (fromMs: number, limit: number) => {
    const range = { fromMs, toMs: bars.tsMs[0] ?? tradeSpan(date).fromMs, limit };
    return requiredPart(await readBars(store, [symbol], timeframe, range), symbol, 'bars of').bars;
  };
  const first = (await read(0, 1)).tsMs[0] ?? bars.tsMs[0] ?? null;
  requireHeld(sinceMs, first, 'bars');
  const toMs = bars.tsMs[0] ?? tradeSpan(date).fromMs;
  const fromMs = Math.max(sinceMs - dayMs, toMs - missedSpans * timeframeMs[timeframe]);
  const all = fromMs < toMs ? concatBars([await read(fromMs, Infinity), bars]) : bars;
  const starts = all.tsMs;
  const from = starts.findIndex((tsMs) => barSpan(timeframe, tsMs).toMs > sinceMs);
  if (from < 0) return [];
  const isCut = sinceMs < fromMs || starts.length - from > mostMissed;
  if (isCut) throw tooEarly(starts[Math.max(0, starts.length - mostMissed)]!, `more than ${mostMissed} bars followed`);
  const indexes = Array.from({ length: starts.length - from }, (_, i) => from + i);
  return eventsOf(series, all, indexes, null);
}
