import { regularSession, sessionMinutes, tradeSpanAt } from '../domain/calendar.ts';
import { type Bar, type BarColumns, type Timeframe, timeframeMs, toBarColumns } from '../domain/market/bar.ts';
import { oneBar } from '../domain/market/bar-aggregation.ts';
import { exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import { minuteMs } from '../domain/units.ts';
import { concatBars, firstAtOrAfter, readBars, sliceBars } from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';

/** The store, as far as it says what is shown of the bars in progress. */
export type Shown = Pick<Store, 'endedBarsOnly'>;

/**
 * A session's day bar made of its minutes; null if none has a price of it. Where minutes have prices of extended hours,
 * those of the day are from the open to the minute after the close, in which auctions print; its volume is of all.
 */
export function dayOfParts(
  { extendedBars }: Pick<Store, 'extendedBars'>,
  parts: BarColumns,
  session: SessionDate,
): Bar | null {
  const startMs = exchangeInstant(session);
  const whole = oneBar(parts, startMs);
  const hours = extendedBars ? regularSession(session) : null;
  if (whole === null || hours === null) return whole;
  const [from, to] = [hours.openMs, hours.closeMs + minuteMs].map((tsMs) => firstAtOrAfter(parts, tsMs));
  const regular = oneBar(sliceBars(parts, from!, to!), startMs);
  return regular && { ...regular, volume: whole.volume, tradeCount: whole.tradeCount };
}

/**
 * The last instant whose prices are shown at `nowMs`, epoch ms. A live tape has stored what has traded so far, and all
 * of it is shown. A replayed session is stored whole, and seconds are the shortest that is stored of it: it is shown
 * up to the last second that has ended (`endedBarsOnly`).
 */
export function shownThrough({ endedBarsOnly }: Shown, nowMs: number): number {
  return endedBarsOnly ? nowMs - (nowMs % timeframeMs['1s']) - 1 : nowMs;
}

/**
 * Bars that start before this, epoch ms, are shown at `nowMs`, the last as far as it has come. A day bar starts at the
 * midnight of its session, but builds from the evening before on.
 */
export function shownBefore(shown: Shown, timeframe: Timeframe, nowMs: number): number {
  return timeframe === '1d' ? tradeSpanAt(nowMs).toMs : shownThrough(shown, nowMs) + 1;
}

/** True for bars in progress that are made again of shorter ones, where the store may know what comes after now. */
export function isMadeOfParts({ endedBarsOnly }: Shown, timeframe: Timeframe): boolean {
  return timeframe !== '1s' && (endedBarsOnly || timeframe !== '1m');
}

/** Minutes that start before this, epoch ms, are shown at `nowMs` as they are stored. */
export function minutesShownBefore({ endedBarsOnly }: Shown, nowMs: number): number {
  return endedBarsOnly ? nowMs - (nowMs % minuteMs) : nowMs + 1;
}

/**
 * From when on the day bar of a session is shown of which the store has no minutes, epoch ms: nobody can say what it
 * was while the session traded. A live server shows it from the open on, a replay, which has the whole one, from the
 * close.
 */
export function dayWithoutMinutesFrom({ endedBarsOnly }: Shown, session: SessionDate): number {
  const { open, extendedClose } = sessionMinutes;
  if (!endedBarsOnly) return exchangeInstant(session, open);
  return regularSession(session)?.closeMs ?? exchangeInstant(session, extendedClose);
}

/**
 * Parts of the bars in progress of `symbols`: their minutes from `fromMs` on that are shown as they are stored, and of
 * the minute that is not, its seconds. Two statements at most for each of them.
 */
export async function partsSoFar(
  store: Store,
  symbols: readonly string[],
  fromMs: number,
  nowMs: number,
): Promise<Map<string, BarColumns>> {
  const throughMs = shownThrough(store, nowMs);
  const secondsMs = Math.max(fromMs, minutesShownBefore(store, nowMs));
  const [minutes, seconds] = await Promise.all([
    readBars(store, symbols, '1m', { fromMs, toMs: secondsMs, limit: Infinity }),
    secondsMs > throughMs
      ? null
      : readBars(store, symbols, '1s', { fromMs: secondsMs, toMs: throughMs + 1, limit: Infinity }),
  ]);
  return new Map(
    symbols.map((symbol) => {
      const parts = [minutes, seconds].flatMap((read) => read?.get(symbol)?.bars ?? []);
      return [symbol, concatBars(parts)];
    }),
  );
}

/** `bars` with another last one; without it if that is null. */
export function withLast(bars: BarColumns, soFar: Bar | null): BarColumns {
  const before = sliceBars(bars, 0, bars.tsMs.length - 1);
  return soFar === null ? before : concatBars([before, toBarColumns([soFar])]);
}
