import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { capturePlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource } from '../source-keys.ts';
import { type ServedGexCapture, servedCaptures } from './gex.ts';

export interface SessionStrikesMeta extends ResponseMeta {
  underlying: string;
  date: SessionDate;
  /** Epoch ms; null if the session has no capture. */
  capturedAt: number | null;
  rowCount: number;
}

/** The rows of a session's last capture: by (strike, expiry) if the capture has them, else net. */
export interface SessionStrikes {
  /** Null if the session has no capture. */
  capture: ServedGexCapture | null;
  meta: SessionStrikesMeta;
}

/** The last capture of a session so far, as listed by the legacy route (spec 4.6). */
export async function sessionStrikes(
  context: RequestContext,
  symbol: string,
  date: SessionDate,
): Promise<SessionStrikes> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  const stored = await storedCapture(context, symbol, { sessionDate: date, byExpiry: true });
  const hasExpiries = (stored?.byExpiry?.strike.length ?? 0) > 0;
  const capture = stored && servedCaptures([stored], hasExpiries, null)[0]!;
  return {
    capture,
    meta: {
      ...responseMeta(context, capturePlane(context, date), [], () => captureSource(symbol, stored)),
      underlying: symbol,
      date,
      capturedAt: capture?.capturedAt ?? null,
      rowCount: capture?.columns.strike.length ?? 0,
    },
  };
}
