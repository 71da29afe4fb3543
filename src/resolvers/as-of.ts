import { tradeSpan } from '../domain/calendar.ts';
import {
  addDays,
  exchangeTimeZone,
  parseRequestedInstant,
  type SessionDate,
  startOfDate,
} from '../domain/market-time.ts';
import { minuteMs } from '../domain/units.ts';
import { invalidParameter } from '../wire/failure.ts';
import type { RequestContext } from './context.ts';

/** The requested stored state. */
export interface AsOf {
  /** The latest time that counts, epoch ms; never later than the context's clock. */
  atMs: number;
  /** Set if only a date was given. */
  bareDate: SessionDate | null;
  /** True if the time lies beyond the instant of an `asOf` around it, to which it was cut. */
  isClamped: boolean;
}

/** Time up to which a caller's clock may be ahead, ms: such a time means now. */
const clockAheadMs = minuteMs;

/** True if a time has come: a date with its trade date, an instant up to a minute before. */
function hasCome(ms: number, bareDate: SessionDate | null, zone: string, nowMs: number): boolean {
  if (bareDate === null) return ms <= nowMs + clockAheadMs;
  return Math.min(startOfDate(bareDate, zone), tradeSpan(bareDate).fromMs) <= nowMs;
}

/**
 * The time a caller sent: a point in time, or a date in `tz`, which means its last state. Times up to a minute ahead
 * and today's date mean now. Below `asOf`, later times are cut to its instant. Throws 400 naming `parameter` for a
 * time that has not come.
 */
export function parseAsOf(
  text: string,
  tz: string | null | undefined,
  parameter: string,
  { nowMs, past }: Pick<RequestContext, 'nowMs' | 'past'>,
): AsOf {
  const zone = tz ?? exchangeTimeZone;
  const { ms, bareDate } = parseRequestedInstant(text, zone, parameter);
  const endMs = bareDate === null ? ms : startOfDate(addDays(bareDate, 1), zone) - 1;
  if (endMs <= nowMs) return { atMs: endMs, bareDate, isClamped: false };
  if (past) return { atMs: nowMs, bareDate, isClamped: true };
  if (!hasCome(ms, bareDate, zone, nowMs))
    throw invalidParameter(parameter, 'expected a time that is not in the future');
  return { atMs: nowMs, bareDate, isClamped: false };
}

/**
 * The start of a window that a caller sent, epoch ms; a date means its start in `tz`. Throws 400 naming `parameter` for
 * a time that has not come.
 */
export function parseStart(
  text: string,
  tz: string | null | undefined,
  parameter: string,
  { nowMs }: Pick<RequestContext, 'nowMs'>,
): number {
  const { ms } = parseRequestedInstant(text, tz ?? exchangeTimeZone, parameter);
  if (ms > nowMs + clockAheadMs) throw invalidParameter(parameter, 'expected a time that is not in the future');
  return Math.min(ms, nowMs);
}

/** The caps of an answer whose own instant was cut to that of the `asOf` around it. */
export function clampedCaps(asOf: AsOf | null): string[] {
  return asOf?.isClamped ? ['at_clamped'] : [];
}

/** Prices are known by the second: the last second that had ended counts. */
const resolutionMs = 1000;

/**
 * The context of answers as of an instant: its clock stands there, so that nothing later is read. Without `at` it is
 * the request's own. Data comes from the corrected tape (methodology 9).
 */
export function contextAsOf(
  context: RequestContext,
  { at, tz }: { at?: string | null | undefined; tz?: string | null | undefined },
): RequestContext {
  if (at == null) return context;
  const { atMs } = parseAsOf(at, tz, 'at', context);
  return contextAt(context, atMs);
}

/** As `contextAsOf`, for an instant in epoch ms. */
export function contextAt(context: RequestContext, atMs: number): RequestContext {
  if (atMs >= context.nowMs) return { ...context, past: { atMs: context.nowMs } };
  const known = context.pasts.get(atMs);
  if (known) return known;
  const made: RequestContext = {
    ...context,
    nowMs: atMs - (atMs % resolutionMs),
    store: { ...context.store, endedBarsOnly: true },
    past: { atMs },
    loaders: new Map(),
  };
  context.pasts.set(atMs, made);
  return made;
}
