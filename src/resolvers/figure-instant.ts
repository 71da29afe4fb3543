import { type ChainCapture, sourceTime } from '../core/domain/chain/chain.ts';
import { lastInstant } from '../core/domain/chain/option-root.ts';
import { exchangeDate, type SessionDate } from '../core/domain/market-time.ts';
import type { StoredGexCapture } from '../store/gex/captures.ts';
import { type AsOf, dateOf } from './as-of.ts';
import { chainAsOf, type ReadGex, storedCapture } from './captures-at.ts';
import { findSymbol, type RequestContext } from './context.ts';
import { isOver } from './current-date.ts';
import { capturePlane, type Plane } from './response-meta.ts';

/** A capture, as far as its instant follows from it. */
type Captured = Pick<ChainCapture, 'underlying' | 'sessionDate' | 'capturedAt' | 'delayMs' | 'alone'>;

/**
 * The instant of what is computed from a capture: that of its quotes, with the inputs that are stored with it
 * (methodology 0). The clock decides one thing, here and nowhere else: which expiries a live answer omits.
 */
export interface FigureInstant<C extends Captured = Captured> {
  /** Null if there is none. */
  capture: C | null;
  /** Time of its quotes, epoch ms; null without a capture. */
  sourceTime: number | null;
  /** `archive` for a capture of neither the current session nor the last one. */
  plane: Plane;
  /**
   * Names the date of a latest capture that is of neither, and of one that was compared with none, or says that the
   * ticker is unknown; null otherwise.
   */
  note: string | null;
  /** True if a live answer omits an expiry, which has settled since. */
  hasSettled(expiry: SessionDate): boolean;
}

const settledNever = () => false;

function oldNote({ underlying, sessionDate, capturedAt }: Captured): string {
  const date = exchangeDate(capturedAt);
  const session = date === sessionDate ? '' : `, session ${sessionDate}`;
  return `The latest capture of ${underlying} is of ${date}${session}.`;
}

function aloneNote({ underlying, capturedAt }: Captured): string {
  const date = exchangeDate(capturedAt);
  return `There was no earlier chain of ${underlying} to compare that of ${date} with: it may lack contracts.`;
}

/** True if an expiry has not settled by the context's clock. */
export function isOpen({ nowMs }: Pick<RequestContext, 'nowMs'>, expiry: SessionDate): boolean {
  return lastInstant(expiry, 'pm') > nowMs;
}

/**
 * The instant of a capture that was read; `asOf` null: it is the latest. One of the current session, or of the last one
 * until the next begins, is live. Others, and those of a requested time, are served as stored.
 */
export async function figureInstant<C extends Captured>(
  context: RequestContext,
  capture: C | null,
  asOf: AsOf | null = null,
): Promise<FigureInstant<C>> {
  const isOld = capture !== null && (await isOver(context, capture.sessionDate));
  const plane = isOld ? 'archive' : capturePlane(context, asOf && dateOf(context, asOf));
  const isLive = asOf === null && !isOld;
  const old = asOf === null && isOld ? [oldNote(capture)] : [];
  const notes = [...old, ...(capture?.alone === true ? [aloneNote(capture)] : [])];
  return {
    capture,
    plane,
    sourceTime: capture && sourceTime(capture),
    note: notes.length > 0 ? notes.join(' ') : null,
    hasSettled: isLive ? (expiry) => !isOpen(context, expiry) : settledNever,
  };
}

/** The instant of the capture of a symbol; without one the note says if the symbol is no known ticker. */
export async function symbolInstant<C extends Captured>(
  context: RequestContext,
  symbol: string,
  capture: C | null,
  asOf: AsOf | null = null,
): Promise<FigureInstant<C>> {
  const instant = await figureInstant(context, capture, asOf);
  if (capture !== null || (await findSymbol(context, symbol)) !== null) return instant;
  return { ...instant, note: `${symbol} is not a known ticker.` };
}

/** The last chain as of a requested time, null = the latest, with its instant. */
export async function chainInstant(
  context: RequestContext,
  symbol: string,
  asOf: AsOf | null = null,
): Promise<FigureInstant<ChainCapture>> {
  return symbolInstant(context, symbol, await chainAsOf(context, symbol, asOf), asOf);
}

/** The last GEX capture as of a requested time, null = the latest, with its instant; of one session for a date. */
export async function gexInstant(
  context: RequestContext,
  symbol: string,
  { asOf, sessionDate = asOf?.bareDate ?? null, byExpiry }: Omit<ReadGex, 'atMs'> & { asOf: AsOf | null },
): Promise<FigureInstant<StoredGexCapture>> {
  const atMs = sessionDate === null ? (asOf?.atMs ?? null) : null;
  const capture = await storedCapture(context, symbol, { atMs, sessionDate, byExpiry });
  return symbolInstant(context, symbol, capture, asOf);
}

/** Time since the quotes of a capture as of the answer's instant, ms; null without a capture. */
export function ageOf({ nowMs }: Pick<RequestContext, 'nowMs'>, sourceMs: number | null): number | null {
  return sourceMs === null ? null : Math.max(0, nowMs - sourceMs);
}
