import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { takeInFlightSlot } from '../../access/limits/in-flight.ts';
import { sessionMinutes, tradeDate, tradeSpan } from '../../core/domain/calendar.ts';
import {
  type Bar,
  type BarColumns,
  latenessMs,
  type Series,
  type StockBar,
  stockBarAt,
  type Timeframe,
  timeframeMs,
} from '../../core/domain/market/bar.ts';
import { type Split, splitAdjusted, splitFactor } from '../../core/domain/market/splits.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import {
  earliestDate,
  epochDay,
  exchangeDate,
  exchangeInstant,
  exchangeOffsetMs,
  exchangeTimeZone,
  parseRequestedInstant,
  startOfDate,
} from '../../core/domain/market-time.ts';
import { requireServedWindow } from '../../core/domain/served-window.ts';
import { type BarState, barsSince, keyOf, missed } from '../../live/bars.ts';
import { dailyBarsAt } from '../../live/daily-bars.ts';
import { barsAsOfNow, lastBarStart } from '../../live/stock-bars.ts';
import type { Following } from '../../live/topics.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { dayMs } from '../../platform/runtime/clock.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { ColumnRows } from '../../platform/wire/column-rows.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { firstAtOrAfter, readBars } from '../../store/market/bar-blocks.ts';
import { fromSource, type RequestContext, realTicker, requireSource } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { currentDate } from '../current-date.ts';
import { ofInstant, readPosition, writeCursor } from '../cursor.ts';
import { type Plane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { resumption, type Since } from '../since.ts';
import { spanOf, stockBarSource } from '../source-keys.ts';

/** Number of bars in a page: the default, the maximum for a site session, the maximum for an API key (spec 8). */
export const barLimits = { default: 10_000, max: 50_000, keyMax: 1000 };

/** Adjustments of bars: as printed, or in current shares, divided by the splits since. */
const barAdjustments = ['raw', 'split'] as const;
export type BarAdjustment = (typeof barAdjustments)[number];

/** The longest span that an API key may read, by timeframe; longer ones are clamped (spec 8). */
export const keySpanDays: Record<Timeframe, number> = { '1s': 7, '1m': 7, '5m': 30, '1h': 90, '1d': 2 * 365 };

interface StockBarsArgs {
  from: string;
  to: string;
  tz?: string | null | undefined;
  timeframe?: Timeframe | null | undefined;
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
  source?: string | null | undefined;
  adjust?: BarAdjustment | null | undefined;
}

export interface StockBarsMeta extends ResponseMeta {
  rowCount: number;
  /** Start of the last complete bar in range; null if there is none. */
  completeThrough: number | null;
  cursor: string | null;
  /** Reason for which the range can have no bar, or that an index has no volume; null if neither. */
  note: string | null;
  /** True if the bars are adjusted; null if that was not requested and no split is in the range. */
  adjusted: boolean | null;
  /** The splits in the range; null if there are none. */
  splits: Split[] | null;
}

export interface StockBarsPage {
  symbol: string;
  timeframe: Timeframe;
  bars: BarColumns;
  adjust: BarAdjustment;
  meta: StockBarsMeta;
}

interface Window {
  /** Start as sent, to which a cursor is bound, since a clamp moves with the clock. */
  writtenFromMs: number;
  fromMs: number;
  toMs: number;
  limit: number;
  applied: string[];
}

/**
 * The earliest `from` that a key may read, counted back from `toMs`; the more generous of calendar and elapsed days, so
 * that a clock change clamps no request.
 */
function earliestFrom(toMs: number, timeframe: Timeframe): number {
  let days = keySpanDays[timeframe];
  if (timeframe === '1d') {
    const date = exchangeDate(toMs);
    const twoYearsBefore = `${Number(date.slice(0, 4)) - 2}${date.slice(4).replace('02-29', '02-28')}`;
    days = epochDay(date) - epochDay(twoYearsBefore);
  }
  const elapsed = toMs - days * dayMs;
  return Math.min(elapsed, elapsed + exchangeOffsetMs(toMs) - exchangeOffsetMs(elapsed));
}

/** From this instant it is later than that in every time zone, epoch ms. */
const laterAnywhereMs = (epochDay(earliestDate) + 2) * dayMs;

/** An end of the range as sent, epoch ms; 400 below the year 1900. */
function rangeEnd(text: string, zone: string, parameter: 'from' | 'to'): number {
  const { ms } = parseRequestedInstant(text, zone, parameter);
  if (ms < laterAnywhereMs && ms < startOfDate(earliestDate, zone))
    throw invalidParameter(parameter, `expected ${earliestDate} or later, got ${JSON.stringify(text.slice(0, 40))}`);
  return ms;
}

function barWindow(context: RequestContext, args: StockBarsArgs, timeframe: Timeframe): Window {
  const zone = args.tz ?? exchangeTimeZone;
  const toMs = rangeEnd(args.to, zone, 'to');
  const writtenFromMs = rangeEnd(args.from, zone, 'from');
  let fromMs = writtenFromMs;
  requireServedWindow({ name: 'from', ms: fromMs }, { name: 'to', ms: toMs });
  const isKey = context.caller.kind === 'key';
  const applied: string[] = [];
  // Counted from now if `to` is in the future, so that the newest bars stay in the range.
  const earliestMs = earliestFrom(Math.min(toMs, context.nowMs), timeframe);
  if (isKey && fromMs < earliestMs) {
    fromMs = earliestMs;
    applied.push('range_clamped');
  }
  const max = isKey ? barLimits.keyMax : barLimits.max;
  if ((args.limit ?? 0) > max) applied.push('limit_clamped');
  return { writtenFromMs, fromMs, toMs, limit: Math.min(args.limit ?? barLimits.default, max), applied };
}

/** The latest start of a bar that is complete at `nowMs`. */
function lastCompleteStart(timeframe: Timeframe, nowMs: number): number {
  const settled = nowMs - latenessMs;
  if (timeframe !== '1d') return settled - timeframeMs[timeframe];
  const date = exchangeDate(settled);
  return settled >= exchangeInstant(date, sessionMinutes.extendedClose)
    ? exchangeInstant(date)
    : exchangeInstant(date) - 1;
}

/** Start of the last complete bar of the whole window; taken from the page, unless it is not the last or is empty. */
async function completeThrough(
  context: RequestContext,
  symbol: string,
  timeframe: Timeframe,
  window: Window,
  page: { bars: BarColumns; more: boolean; isFirst: boolean },
): Promise<number | null> {
  const end = Math.min(window.toMs, lastCompleteStart(timeframe, context.nowMs) + 1);
  if (!page.more) {
    const index = firstAtOrAfter(page.bars, end) - 1;
    if (index >= 0) return page.bars.tsMs[index]!;
    if (page.isFirst) return null;
  }
  if (end <= window.fromMs) return null;
  return fromSource(context, 'bars', () => lastBarStart(context, symbol, timeframe, window.fromMs, end));
}

/**
 * `live` if the range reaches into the current session, whose bars may still change. A range that ends with the
 * midnight in it does so only if there are bars of the evening before.
 */
async function planeOf(context: RequestContext, toMs: number, { tsMs }: BarColumns): Promise<Plane> {
  const date = await currentDate(context);
  const { fromMs } = tradeSpan(date);
  const reachesMs = date > exchangeDate(context.nowMs) ? fromMs : exchangeInstant(date);
  return toMs > reachesMs || (tsMs.at(-1) ?? -Infinity) >= fromMs ? 'live' : 'archive';
}

const isWithin = (ms: number, { fromMs, toMs }: Pick<Window, 'fromMs' | 'toMs'>) => ms >= fromMs && ms < toMs;

function noteOf({ fromMs, toMs }: Window, entry: Pick<SymbolEntry, 'class'>, { tsMs }: BarColumns): string | null {
  if (fromMs === toMs) return '`from` and `to` are the same time. `to` is exclusive, so the range holds no bar.';
  return entry.class === 'index' && tsMs.length > 0 ? 'An index has no volume: that of its bars is 0.' : null;
}

/** A page of a symbol's bars (spec 4.7). */
export async function stockBars(context: RequestContext, symbol: string, args: StockBarsArgs): Promise<StockBarsPage> {
  if (args.source != null && args.source !== 'trade') throw invalidParameter('source', 'only trade bars are served');
  if (args.limit != null && args.limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  const entry = await realTicker(context, symbol);
  requireReadable(context.caller, entry);
  const timeframe = args.timeframe ?? '1m';
  const window = barWindow(context, args, timeframe);
  const adjust = args.adjust ?? 'raw';
  // A cursor continues with the adjustment that it was created with.
  const asked = [symbol, timeframe, window.writtenFromMs, window.toMs, ...(adjust === 'raw' ? [] : [adjust])];
  const bound = [...asked, ...ofInstant(context)];
  const start = args.cursor ? readPosition(args.cursor, bound) : window.fromMs;
  await takeInFlightSlot(context);
  const range = { fromMs: start, toMs: window.toMs, limit: window.limit };
  const [page, splits] = await Promise.all([
    fromSource(context, 'bars', () => barsAsOfNow(context, symbol, timeframe, range)),
    loadSplits(context, symbol),
  ]);
  const last = page.bars.tsMs.at(-1);
  const today = exchangeDate(context.nowMs);
  const inWindow = splits.filter(({ exDate }) => exDate <= today && isWithin(exchangeInstant(exDate), window));
  await yieldForRows(page.bars.tsMs.length);
  return {
    symbol,
    timeframe,
    bars: adjust === 'split' ? splitAdjusted(page.bars, splits, today) : page.bars,
    adjust,
    meta: {
      ...responseMeta(context, await planeOf(context, window.toMs, page.bars), window.applied, () => {
        const dateOf = timeframe === '1d' ? exchangeDate : tradeDate;
        const span = spanOf([page.bars.tsMs[0], last].flatMap((ms) => (ms === undefined ? [] : [dateOf(ms)])));
        return span ? [stockBarSource(symbol, timeframe, ...span)] : [];
      }),
      rowCount: page.bars.tsMs.length,
      completeThrough: await completeThrough(context, symbol, timeframe, window, {
        ...page,
        isFirst: start === window.fromMs,
      }),
      cursor: page.more && last !== undefined ? writeCursor(String(last + 1), bound) : null,
      note: noteOf(window, entry, page.bars),
      adjusted: adjust === 'split' || inWindow.length > 0 ? adjust === 'split' : null,
      splits: inWindow.length > 0 ? inWindow : null,
    },
  };
}

/** A page's bars as rows. */
export function stockBarRows({ bars, ...series }: StockBarsPage): ColumnRows<StockBar> {
  const one = { symbol: { all: series.symbol }, timeframe: { all: series.timeframe } };
  return new ColumnRows(bars.tsMs.length, (i) => stockBarAt(bars, i, series), { ...bars, ...one });
}

/** Maximum age of the prior close, in days. */
const priorCloseWindowDays = 14;

/**
 * The close, in dollars, of the session before the page's first bar, adjusted like the bars; null if the page is empty
 * or none is known.
 */
export async function priorClose(
  context: RequestContext,
  { symbol, bars, adjust }: StockBarsPage,
): Promise<number | null> {
  const first = bars.tsMs[0];
  if (first === undefined) return null;
  const toMs = exchangeInstant(tradeDate(first));
  const range = { fromMs: toMs - priorCloseWindowDays * dayMs, toMs, limit: Infinity };
  const daily = await batched(context, `prior closes ${toMs}`, symbol, (symbols) =>
    fromSource(context, 'bars', () => readBars(context.store, symbols, '1d', range)),
  );
  const before = daily?.bars;
  const close = before?.close.at(-1) ?? null;
  if (close === null || adjust === 'raw') return close;
  const splits = await loadSplits(context, symbol);
  return close / splitFactor(splits, exchangeDate(before!.tsMs.at(-1)!), exchangeDate(context.nowMs));
}

/** Number of bars of a day that trades from 4:00 to 20:00, by timeframe; of seconds, those with a trade. */
const barsADay: Record<Timeframe, number> = { '1s': 57_600, '1m': 960, '5m': 192, '1h': 16, '1d': 1 };

/** An approximate instant: the zone of a local time is ignored. NaN for an invalid text. */
function aboutMs(text: string): number {
  return /^\d{9,}$/.test(text) ? Number(text) : Date.parse(text.slice(0, 10));
}

/** Arguments of a request for bars. */
interface BarsAsked {
  from: string;
  to: string;
  timeframe?: Timeframe | null | undefined;
  limit?: number | null | undefined;
}

/** The maximum number of bars in a page of [from, to), before the data is read. Keys read shorter pages. */
export function barsAsked({ from, to, timeframe, limit }: BarsAsked, kind: 'key' | 'session'): number {
  const most = Math.min(limit ?? barLimits.default, kind === 'key' ? barLimits.keyMax : barLimits.max);
  // Either end may be anywhere in its day.
  const days = Math.ceil((aboutMs(to) - aboutMs(from)) / dayMs) + 1;
  const there = Number.isNaN(days) ? most : days * barsADay[timeframe ?? '1m'];
  return Math.max(1, Math.min(most, there));
}

/** The daily bars of a symbol at the request's instant; those of one request are read together. */
export async function loadDailyBars(context: RequestContext, symbol: string): Promise<Bar[]> {
  const bars = await batched(context, 'daily bars', symbol, (symbols) =>
    fromSource(context, 'bars', () => dailyBarsAt(context.store, symbols, context.nowMs)),
  );
  return bars!;
}

/** Following a symbol's bars: the newest, then each new or changed one; withdrawn bars are not reported. */
export async function barsFollowing(
  context: RequestContext,
  { symbol, timeframe }: Series,
  since: Since,
): Promise<Following<BarState, StockBar>> {
  requireReadable(context.caller, await realTicker(context, symbol));
  requireSource(context, 'bars');
  const { after } = context;
  if (after !== null && !/^\d{1,15}\.[0-9a-z]{1,7}\.[0-9a-z]{1,7}$/.test(after))
    throw invalidParameter('after', 'expected a position in a stream of bars');
  const series = { symbol, timeframe };
  return {
    keys: [keyOf(series)],
    resume: resumption(context, since, {
      after: (state, position, store) => missed(store, series, position, state),
      since: (state, sinceMs, store) => barsSince(store, series, sinceMs, state),
    }),
    check: async (caller) => requireReadable(caller, await realTicker(context, symbol)),
  };
}
