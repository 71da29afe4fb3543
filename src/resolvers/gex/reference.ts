import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { previousTradingDay, regularSession, sessionOf } from '../../core/domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { firstGexCaptures, type StoredGexCapture } from '../../store/gex/captures.ts';
import { throughMs } from '../as-of.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, fromSource, type RequestContext } from '../context.ts';
import { delayedSourceTime, type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import { capturePlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource } from '../source-keys.ts';
import { isPartial, type ServedGexCapture, servedCaptures } from './gex.ts';

/** Bases of comparison for a session's gamma: its own open, or the close of the session before. */
export const referenceBases = ['open', 'prev_close'] as const;
export type ReferenceBasis = (typeof referenceBases)[number];

export interface GexReferenceArgs {
  date?: SessionDate | null | undefined;
  basis?: ReferenceBasis | null | undefined;
}

export interface GexReferenceMeta extends ResponseMeta {
  /** Epoch ms; null if it is the capture's own time. */
  sourceTime: number | null;
  /** True if there is such a capture. */
  available: boolean;
  /** Null if there is no such capture. */
  capture: ServedGexCapture | null;
}

/** The capture with which a session's gamma is compared, by strike and expiry (contract-notes 3). */
export interface GexReference extends QuoteTime {
  symbol: string;
  basis: ReferenceBasis;
  sessionDate: SessionDate;
  /** Null if there is no such capture. */
  capture: ServedGexCapture | null;
  /** True if every contract with open interest has a gamma, and the chain is complete; null without a capture. */
  complete: boolean | null;
  meta: GexReferenceMeta;
}

/**
 * The first capture so far with quotes of the regular session of `date`; symbols with the same date are read together.
 */
async function openingCapture(
  context: RequestContext,
  symbol: string,
  date: SessionDate,
): Promise<StoredGexCapture | null> {
  const session = regularSession(date);
  if (session === null) return null;
  const window = { fromMs: session.openMs, toMs: session.closeMs, throughMs: throughMs(context), byExpiry: true };
  return batched(context, `gex open ${date}`, symbol, (symbols) =>
    fromSource(context, 'chain', () => firstGexCaptures(context.store, symbols, date, window)),
  );
}

/**
 * The first capture of the regular session of `date` by the time of its quotes, or the last of the session before it.
 * By strike and expiry if the capture has such rows, else net. Without `date`, the current or last session.
 */
export async function gexReference(
  context: RequestContext,
  symbol: string,
  { date, basis: asked }: GexReferenceArgs,
): Promise<GexReference> {
  const { nowMs } = context;
  const basis = asked ?? 'open';
  if (date != null && date > exchangeDate(nowMs))
    throw invalidParameter('date', `expected a date not in the future, got ${date}`);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const sessionDate = date ?? sessionOf(nowMs);
  const reference = basis === 'open' ? sessionDate : previousTradingDay(sessionDate);
  const stored =
    basis === 'open'
      ? await openingCapture(context, symbol, sessionDate)
      : await storedCapture(context, symbol, { sessionDate: reference, byExpiry: true });
  const hasExpiries = (stored?.byExpiry?.strike.length ?? 0) > 0;
  const capture = stored && servedCaptures([stored], hasExpiries, null)[0]!;
  return {
    symbol,
    basis,
    sessionDate,
    ...quoteTimeOf(stored),
    capture,
    complete: stored && stored.gammaAbsent === 0 && !(await isPartial(context, stored)),
    meta: {
      ...responseMeta(context, capturePlane(context, reference), [], () => captureSource(symbol, stored)),
      sourceTime: delayedSourceTime(stored),
      available: stored !== null,
      capture,
    },
  };
}
