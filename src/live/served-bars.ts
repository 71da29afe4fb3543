import { regularSession, sessionMinutes, tradeSpanAt } from '../domain/calendar.ts';
import { type Bar, type BarColumns, type Timeframe, timeframeMs, toBarColumns } from '../domain/market/bar.ts';
import { oneBar } from '../domain/market/bar-aggregation.ts';
import { exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import { minuteMs } from '../domain/units.ts';
import { concatBars, firstAtOrAfter, readBars, sliceBars } from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';

/** The store's setting for showing bars in progress. */
export type Shown = Pick<Store, 'endedBarsOnly'>;

/**
 * A session's day bar built from its minutes; null if none has a price for it. If minutes have prices of extended
 * hours, those of the day are from the open to the minute after the close, in which auctions print; its volume is that
 * of all.
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

/**
 * Parts of the bars in progress of `symbols`: their minutes from `fromMs` on that are shown as stored, and the seconds
 * of the minute in progress. At most two statements for each part.
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

/** `bars` with the last one replaced, or removed for null. */
export function withLast(bars: BarColumns, soFar: Bar | null): BarColumns {
  const before = sliceBars(bars, 0, bars.tsMs.length - 1);
  return soFar === null ? before : concatBars([before, toBarColumns([soFar])]);
}
