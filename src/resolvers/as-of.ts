import { tradeSpan } from '../core/domain/calendar.ts';
import {
  addDays,
  exchangeDate,
  exchangeTimeZone,
  parseRequestedInstant,
  type SessionDate,
  startOfDate,
} from '../core/domain/market-time.ts';
import { minuteMs } from '../platform/runtime/clock.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import type { Past, RequestContext } from './context.ts';

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

/** The instant up to which captures and own trades count, epoch ms: exactly the requested one, not its second. */
export const throughMs = ({ nowMs, past }: Pick<RequestContext, 'nowMs' | 'past'>): number => past?.atMs ?? nowMs;

/**
 * The time a caller sent: a point in time, or a date in `tz`, which means its last state. Times up to a minute ahead
 * and today's date mean now. Below `asOf`, later times are cut to its instant. Throws 400 naming `parameter` for a
 * time that has not come.
 */
export function parseAsOf(
  text: string,
  tz: string | null | undefined,
  parameter: string,
  context: Pick<RequestContext, 'nowMs' | 'past'>,
): AsOf {
  const lastMs = throughMs(context);
  const zone = tz ?? exchangeTimeZone;
  const { ms, bareDate } = parseRequestedInstant(text, zone, parameter);
  const endMs = bareDate === null ? ms : startOfDate(addDays(bareDate, 1), zone) - 1;
  if (endMs <= lastMs) return { atMs: endMs, bareDate, isClamped: false };
  if (context.past && context.past.atMs !== null) return { atMs: lastMs, bareDate, isClamped: true };
  if (!hasCome(ms, bareDate, zone, lastMs))
    throw invalidParameter(parameter, 'expected a time that is not in the future');
  return { atMs: lastMs, bareDate, isClamped: false };
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

/** The New York date of a requested state; null = of the context's clock. */
export function dateOf({ nowMs }: Pick<RequestContext, 'nowMs'>, asOf: AsOf | null): SessionDate {
  return asOf?.bareDate ?? exchangeDate(asOf?.atMs ?? nowMs);
}

/** The caps of an answer of which an instant of its own was cut to that of the `asOf` around it. */
export function clampedCaps(...instants: (Pick<AsOf, 'isClamped'> | null)[]): string[] {
  return instants.some((each) => each?.isClamped) ? ['at_clamped'] : [];
}

/** Prices are known by the second: the last second that had ended counts. */
const resolutionMs = 1000;

/** Arguments of an instant in the past. */
export interface PastArgs {
  at?: string | null | undefined;
  known?: string | null | undefined;
  tz?: string | null | undefined;
}

/**
 * The context of answers as of an instant: its clock stands there, so that nothing later is read. Without `at` and
 * `known` it is the request's own. Data comes from the corrected tape (methodology 9), as it was known at `known`.
 */
export function contextAsOf(context: RequestContext, { at, known, tz }: PastArgs): RequestContext {
  if (at == null && known == null) return context;
  const instantOf = (text: string | null | undefined, parameter: string) =>
    text == null ? null : parseAsOf(text, tz, parameter, context).atMs;
  return contextAt(context, { atMs: instantOf(at, 'at'), knownMs: instantOf(known, 'known') });
}

/** As `contextAsOf`, for instants in epoch ms; null = now. */
export function contextAt(context: RequestContext, { atMs, knownMs }: Past): RequestContext {
  const { nowMs, pasts, store } = context;
  const isLive = atMs === null || atMs >= nowMs;
  // Below an instant, its knowledge is that of the store.
  const isSameKnown = context.past !== null && context.past.knownMs === knownMs;
  const isKnownNow = isSameKnown || knownMs === null || knownMs >= nowMs;
  const cut = (ms: number | null) => (ms === null ? null : Math.min(ms, nowMs));
  const past = { atMs: cut(atMs), knownMs: isSameKnown ? knownMs : cut(knownMs) };
  if (isLive && isKnownNow) return { ...context, past };
  const key = `${past.atMs} ${past.knownMs}`;
  const made = pasts.get(key);
  if (made) return made;
  const from = isKnownNow ? store : context.asKnown(knownMs);
  const below: RequestContext = {
    ...context,
    ...(isLive ? { store: from } : { nowMs: atMs - (atMs % resolutionMs), store: { ...from, endedBarsOnly: true } }),
    past,
    loaders: new Map(),
    // Instants of event time share only reads of one knowledge.
    ...(isKnownNow ? {} : { once: new Map(), sharedLoaders: new Map() }),
  };
  pasts.set(key, below);
  return below;
}

/** The context as of another instant of event time, epoch ms, of the same knowledge. */
export function contextAtTime(context: RequestContext, atMs: number): RequestContext {
  return contextAt(context, { atMs, knownMs: context.past?.knownMs ?? null });
}

/** Throws 400 for data whose earlier generations are not kept. */
export function requireNow({ past }: Pick<RequestContext, 'past'>, data: string): void {
  if (past?.knownMs != null)
    throw invalidParameter('known', `expected none: ${data} as it was known before is not kept`);
}
