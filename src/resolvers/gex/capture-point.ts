import { invalidParameter } from '../../platform/wire/failure.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { type AsOf, parseAsOf } from '../as-of.ts';
import { hasCome, storedCapture } from '../captures-at.ts';
import type { RequestContext } from '../context.ts';

/** A capture as a caller names it: by its id, or by a time or date, which mean the last one by then. */
export type CapturePoint = { underlying: string; capturedAt: number } | { time: string };

/** A point that was read. */
export interface AskedPoint extends AsOf {
  /** True if a capture of exactly that time is meant. */
  isExact: boolean;
}

/** Reads a point. Throws 400 naming `parameter`, also for the capture of another symbol. */
export function parseCapturePoint(
  point: CapturePoint,
  {
    symbol,
    tz,
    parameter,
    context,
  }: {
    symbol: string;
    tz: string | null | undefined;
    parameter: string;
    context: RequestContext;
  },
): AskedPoint {
  if ('time' in point) return { ...parseAsOf(point.time, tz, parameter, context), isExact: false };
  const { underlying, capturedAt } = point;
  if (underlying !== symbol)
    throw invalidParameter(parameter, `expected a capture of ${symbol}, got one of ${underlying}`);
  return { atMs: capturedAt, bareDate: null, isClamped: false, isExact: true };
}

/** The capture of a point: the last one by a time, or of a date; null if there is none. */
export async function captureAtPoint(
  context: RequestContext,
  symbol: string,
  { atMs, bareDate, isExact }: AskedPoint,
): Promise<StoredGexCapture | null> {
  if (!hasCome(context, atMs)) return null;
  const lastMs = bareDate === null ? atMs : null;
  const capture = await storedCapture(context, symbol, { atMs: lastMs, sessionDate: bareDate, byExpiry: false });
  return isExact && capture?.capturedAt !== atMs ? null : capture;
}

/** A point with its capture. */
interface Pointed {
  asked: AskedPoint;
  capture: { capturedAt: number } | null;
}

/** Throws 400 if the second of two points is before the first. Of a time and a date the captures decide. */
export function requireOrder(from: Pointed, to: Pointed): void {
  const isSameForm = (from.asked.bareDate === null) === (to.asked.bareDate === null);
  const isReversed = isSameForm
    ? from.asked.atMs > to.asked.atMs
    : from.capture !== null && to.capture !== null && from.capture.capturedAt > to.capture.capturedAt;
  if (isReversed) throw invalidParameter('from', 'expected from to be at or before to');
}
