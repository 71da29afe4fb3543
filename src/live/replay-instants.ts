import { regularSession, tradeDate, tradeSpan, tradeSpanAt } from '../core/domain/calendar.ts';
import { type StoredTimeframe, type Timeframe, timeframeMs } from '../core/domain/market/bar.ts';
import { exchangeInstant } from '../core/domain/market-time.ts';
import { dayMs, minuteMs } from '../platform/runtime/clock.ts';
import { captureTimes } from '../store/chain/session-captures.ts';
import { premiumSessions } from '../store/flow/cross-sections.ts';
import { readBars } from '../store/market/bar-blocks.ts';
import type { Store } from '../store/rows/connection.ts';
import { barSpan } from './stock-bars.ts';

/** Prices are known by the second: a replay shows a state at the end of each. */
export const replayStepMs = 1000;

/** The end of the second of an instant, epoch ms. */
export const stepOf = (ms: number) => Math.ceil(ms / replayStepMs) * replayStepMs;

/** The instants in (fromMs, toMs] at which a session begins and ends, and its date. */
function bounds(fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let span = tradeSpanAt(fromMs); span.fromMs <= toMs; span = tradeSpanAt(span.toMs)) {
    const { openMs, closeMs } = regularSession(span.date)!;
    // Auctions print in the minute after the close.
    found.push(span.fromMs, exchangeInstant(span.date), openMs, closeMs, closeMs + minuteMs, tradeSpan(span.date).toMs);
  }
  return found.filter((ms) => ms > fromMs && ms <= toMs);
}

/**
 * The instants in (fromMs, toMs] at which prices of symbols may change: ends of seconds and minutes with trades, and of
 * bars of `timeframe`, and bounds of sessions.
 */
export async function priceInstants(
  store: Store,
  symbols: readonly string[],
  timeframe: Timeframe,
  fromMs: number,
  toMs: number,
): Promise<Set<number>> {
  const instants = new Set(bounds(fromMs, toMs));
  for (const each of new Set<StoredTimeframe>(['1s', 'unpriced', '1m', timeframe])) {
    const length = each === 'unpriced' ? '1s' : each;
    const range = {
      fromMs: fromMs - Math.max(timeframeMs[length], each === '1d' ? 7 * dayMs : 0),
      toMs,
      limit: Infinity,
    };
    for (const { bars } of (await readBars(store, symbols, each, range)).values())
      for (const tsMs of bars.tsMs) {
        const endMs = barSpan(length, tsMs).toMs;
        if (endMs > fromMs && endMs <= toMs) instants.add(endMs);
      }
  }
  return instants;
}

/** The instants in (fromMs, toMs] at which captures of underlyings appear. */
export async function captureInstants(
  store: Store,
  kind: 'chain' | 'gex',
  underlyings: readonly string[],
  fromMs: number,
  toMs: number,
): Promise<Set<number>> {
  const instants = new Set<number>();
  for (const underlying of underlyings)
    for (const capturedAt of await captureTimes(store, kind, underlying, fromMs + 1, toMs + 1))
      instants.add(stepOf(capturedAt));
  return instants;
}

/** The minutes of a session, from the evening before on. */
function* minutesOf({ toMs }: { toMs: number }): Generator<number> {
  for (let ms = toMs - dayMs; ms < toMs; ms += minuteMs) yield ms;
}

/**
 * The instants in (fromMs, toMs] at which cross-sections of underlyings may change: the ends of minutes with option
 * trades, and of sessions. Sessions stored without them may change at the end of every minute.
 */
export async function flowInstants(
  store: Store,
  underlyings: readonly string[],
  fromMs: number,
  toMs: number,
): Promise<Set<number>> {
  const instants = new Set<number>();
  const range = { from: tradeDate(fromMs), to: tradeDate(toMs) };
  const stored = await premiumSessions(store, underlyings, range);
  for (const underlying of underlyings) {
    const bySession = new Map(stored.get(underlying)?.map(({ sessionDate, minutes }) => [sessionDate, minutes.tsMs]));
    for (let span = tradeSpanAt(fromMs); span.fromMs <= toMs; span = tradeSpanAt(span.toMs)) {
      for (const tsMs of bySession.get(span.date) ?? minutesOf(span)) instants.add(tsMs + minuteMs);
      instants.add(span.toMs);
    }
  }
  return new Set([...instants].filter((ms) => ms > fromMs && ms <= toMs));
}
