import { regularSession, sessionMinutes, tradeSpanAt } from '../core/domain/calendar.ts';
import {
  type Bar,
  type BarColumns,
  barColumns,
  type StoredTimeframe,
  type Timeframe,
  timeframeMs,
  toBarColumns,
} from '../core/domain/market/bar.ts';
import { oneBar } from '../core/domain/market/bar-aggregation.ts';
import { exchangeInstant, type SessionDate } from '../core/domain/market-time.ts';
import { minuteMs } from '../platform/runtime/clock.ts';
import {
  concatBars,
  firstAtOrAfter,
  lastBarStarts,
  mergeBars,
  pickBars,
  readBars,
  sliceBars,
} from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';

/** The store's setting for showing bars in progress. */
export type Shown = Pick<Store, 'endedBarsOnly'>;

/** Parts of a session's day bar up to an instant. */
export interface DayParts {
  /** Its minutes, and seconds of the minute in progress, with the seconds that are in none of these. */
  parts: BarColumns;
  /** The official close that was printed last, dollars; null before the first. */
  officialClose: number | null;
}

/**
 * A session's day bar built from its parts; null if none has a price for it. If minutes have prices of extended hours,
 * those of the day are from the open to the minute after the close, in which auctions print; its volume is that of all.
 */
export function dayOfParts(
  { extendedBars }: Pick<Store, 'extendedBars'>,
  { parts, officialClose }: DayParts,
  session: SessionDate,
): Bar | null {
  const startMs = exchangeInstant(session);
  const whole = oneBar(parts, startMs);
  if (whole === null) return null;
  const hours = extendedBars ? regularSession(session) : null;
  const [from, to] = hours
    ? [hours.openMs, hours.closeMs + minuteMs].map((tsMs) => firstAtOrAfter(parts, tsMs))
    : [0, parts.tsMs.length];
  const day = hours ? oneBar(sliceBars(parts, from!, to!), startMs) : whole;
  if (day === null) return null;
  const { volume, tradeCount } = whole;
  if (officialClose === null) return { ...day, volume, tradeCount };
  const [high, low] = [Math.max(day.high, officialClose), Math.min(day.low, officialClose)];
  return { ...day, high, low, close: officialClose, volume, tradeCount };
}

/**
 * The last instant whose prices are shown at `nowMs`, epoch ms. A live tape has stored the trades so far, all of which
 * are shown. A replayed session is stored whole, with seconds as the shortest bars: it is shown up to the last second
 * that has ended (`endedBarsOnly`).
 */
export function shownThrough({ endedBarsOnly }: Shown, nowMs: number): number {
  return endedBarsOnly ? nowMs - (nowMs % timeframeMs['1s']) - 1 : nowMs;
}

/**
 * Bars that start before this, epoch ms, are shown at `nowMs`, the last one up to now. A day bar starts at the midnight
 * of its session, but is built from the evening before on.
 */
export function shownBefore(shown: Shown, timeframe: Timeframe, nowMs: number): number {
  return timeframe === '1d' ? tradeSpanAt(nowMs).toMs : shownThrough(shown, nowMs) + 1;
}

/** True for bars in progress that are rebuilt from shorter ones, because the store may contain later data. */
export function isMadeOfParts({ endedBarsOnly }: Shown, timeframe: Timeframe): boolean {
  return timeframe !== '1s' && (endedBarsOnly || timeframe !== '1m');
}

/** Minutes that start before this, epoch ms, are shown at `nowMs` as stored. */
export function minutesShownBefore({ endedBarsOnly }: Shown, nowMs: number): number {
  return endedBarsOnly ? nowMs - (nowMs % minuteMs) : nowMs + 1;
}

/**
 * Time from which the day bar of a session without stored minutes is shown, epoch ms: its state during the session is
 * unknown. A live server shows it from the open on, a replay, which has the whole bar, from the close.
 */
export function dayWithoutMinutesFrom({ endedBarsOnly }: Shown, session: SessionDate): number {
  const { open, extendedClose } = sessionMinutes;
  if (!endedBarsOnly) return exchangeInstant(session, open);
  return regularSession(session)?.closeMs ?? exchangeInstant(session, extendedClose);
}

/** The wanted seconds with prints. Their official closes are omitted: those are of the day alone. */
function rowsWhere(unpriced: BarColumns, isWanted: (index: number) => boolean): BarColumns {
  const rows = pickBars(unpriced, (i) => isWanted(i) && (unpriced.volume[i]! > 0 || !Number.isNaN(unpriced.high[i]!)));
  return { ...rows, close: new Float64Array(rows.close.length).fill(Number.NaN) };
}

const withRows = (bars: BarColumns, rows: BarColumns) => (rows.tsMs.length === 0 ? bars : mergeBars(bars, rows));

const minuteOf = (tsMs: number) => tsMs - (tsMs % minuteMs);

/** Stored parts of a symbol's bars in progress. */
interface StoredParts {
  /** Minutes that are shown as stored. */
  minutes: BarColumns;
  /** Seconds of the minute in progress. */
  seconds: BarColumns;
  /** Seconds without a bar. */
  unpriced: BarColumns;
}

/** The parts of bars up to an hour: a minute has its unpriced seconds, but without a price it is no part. */
function partsOfBar({ minutes, seconds, unpriced }: StoredParts): BarColumns {
  const inProgress = seconds.tsMs[0] === undefined ? Infinity : minuteOf(seconds.tsMs[0]);
  return concatBars([
    minutes,
    withRows(
      seconds,
      rowsWhere(unpriced, (i) => unpriced.tsMs[i]! >= inProgress),
    ),
  ]);
}

/** The parts of a day: all its unpriced seconds, less those of stored minutes, which have them. */
function partsOfDay({ minutes, seconds, unpriced }: StoredParts): DayParts {
  const stored = new Set(minutes.tsMs);
  const rest = rowsWhere(unpriced, (i) => !stored.has(minuteOf(unpriced.tsMs[i]!)));
  const officialClose = unpriced.close.findLast((close) => !Number.isNaN(close)) ?? null;
  return { parts: withRows(concatBars([minutes, seconds]), rest), officialClose };
}

/**
 * Stored parts of the bars in progress of `symbols`: their minutes from `fromMs` on that are shown as stored, the
 * seconds of the minute in progress, and the seconds without a bar. At most two statements for each part.
 */
async function readParts(
  store: Store,
  symbols: readonly string[],
  fromMs: number,
  nowMs: number,
): Promise<Map<string, StoredParts>> {
  const throughMs = shownThrough(store, nowMs);
  const secondsMs = Math.max(fromMs, minutesShownBefore(store, nowMs));
  const read = (timeframe: StoredTimeframe, from: number, toMs: number) =>
    from >= toMs ? null : readBars(store, symbols, timeframe, { fromMs: from, toMs, limit: Infinity });
  const [minutes, seconds, unpriced] = await Promise.all([
    read('1m', fromMs, secondsMs),
    read('1s', secondsMs, throughMs + 1),
    read('unpriced', fromMs, throughMs + 1),
  ]);
  const none = barColumns(0);
  return new Map(
    symbols.map((symbol) => [
      symbol,
      {
        minutes: minutes?.get(symbol)?.bars ?? none,
        seconds: seconds?.get(symbol)?.bars ?? none,
        unpriced: unpriced?.get(symbol)?.bars ?? none,
      },
    ]),
  );
}

/** Parts of the bars in progress of `symbols` from `fromMs` on, of bars up to an hour. */
export async function partsSoFar(store: Store, symbols: readonly string[], fromMs: number, nowMs: number) {
  const parts = await readParts(store, symbols, fromMs, nowMs);
  return new Map([...parts].map(([symbol, stored]) => [symbol, partsOfBar(stored)]));
}

/** Parts of the day bars in progress of `symbols`, of the session that begins at `fromMs`. */
export async function daysSoFar(store: Store, symbols: readonly string[], fromMs: number, nowMs: number) {
  const parts = await readParts(store, symbols, fromMs, nowMs);
  return new Map([...parts].map(([symbol, stored]) => [symbol, partsOfDay(stored)]));
}

/**
 * Symbols with minutes in a session, each with true if all of its prints are shown at `nowMs`: then its stored day bar
 * holds nothing later.
 */
export async function shownWhole(
  store: Store,
  symbols: readonly string[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
  nowMs: number,
): Promise<Map<string, boolean>> {
  const [minutes, unpriced] = await Promise.all([
    lastBarStarts(store, symbols, '1m', fromMs, toMs),
    // A live tape stores nothing later than now.
    store.endedBarsOnly ? lastBarStarts(store, symbols, 'unpriced', fromMs, toMs) : null,
  ]);
  const [minutesMs, secondsMs] = [minutesShownBefore(store, nowMs), shownThrough(store, nowMs)];
  return new Map(
    [...minutes].map(([symbol, last]) => [
      symbol,
      last < minutesMs && (unpriced?.get(symbol) ?? -Infinity) <= secondsMs,
    ]),
  );
}

/** `bars` with the last one replaced, or removed for null. */
export function withLast(bars: BarColumns, soFar: Bar | null): BarColumns {
  const before = sliceBars(bars, 0, bars.tsMs.length - 1);
  return soFar === null ? before : concatBars([before, toBarColumns([soFar])]);
}
