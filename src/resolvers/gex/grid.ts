import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { flipPoint, flipStatus, grossOfRows, netCurve, rowsOfExpiries } from '../../core/analytics/gex/flip-point.ts';
import { lastSession } from '../../core/domain/chain/option-root.ts';
import type { GexColumns } from '../../core/domain/gex/gex.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { type AsOf, clampedCaps, dateOf, parseAsOf } from '../as-of.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { type FigureInstant, gexInstant } from '../figure-instant.ts';
import { delayedSourceTime, type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import { capturePlane, instantMeta, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource } from '../source-keys.ts';
import { checkTop, type ServedGexCapture, servedCaptures } from './gex.ts';
import { type PriceChecked, priceChecksOf } from './price-checks.ts';

interface GexGridArgs {
  at?: string | null | undefined;
  tz?: string | null | undefined;
  expiries?: readonly SessionDate[] | null | undefined;
  dte?: number | null | undefined;
  top?: number | null | undefined;
  byExpiry?: boolean | null | undefined;
}

export interface GexGridMeta extends ResponseMeta, PriceChecked {
  /** Null if nothing was captured. */
  capture: ServedGexCapture | null;
  /** Epoch ms; null if it is the capture's own time. */
  sourceTime: number | null;
  /** Session of the capture; without one, the requested date. */
  date: SessionDate;
  underlying: string;
  /** Number of served strikes. */
  strikeCount: number;
  /** True if settled expiries were omitted from a live grid; null otherwise. */
  expiredFiltered: true | null;
  /** 0 and its expiry; null if not requested. */
  dte: number | null;
  dteExpiry: SessionDate | null;
  /** Names the date of an old capture, or says that the ticker is unknown; null otherwise. */
  note: string | null;
}

/** One capture by strike, over the requested expiries (contract-notes 3). */
export interface GexGrid extends QuoteTime {
  /** Null if nothing was captured. Its totals are over all strikes left after filtering by expiry, before `top`. */
  capture: ServedGexCapture | null;
  /** Largest |gex| of the rows before `top`, dollars per $1 move; null without a capture. */
  maxAbsGex: number | null;
  /** True if totals were computed for the requested expiries, not when the chain was captured. */
  adhoc: boolean;
  meta: GexGridMeta;
}

/**
 * A capture over some of its expiries: its rows, `netGex`, `flipPoint` and `flipStatus`. Other figures are those of
 * all.
 */
export function overExpiries(capture: StoredGexCapture, expiries: ReadonlySet<number>): StoredGexCapture {
  const byExpiry = rowsOfExpiries(capture.byExpiry!, (day) => expiries.has(day));
  const strikes = netCurve(byExpiry);
  const curve = Array.from(strikes.strike, (strike, i) => ({ strike, gex: strikes.gex[i]! }));
  const price = capture.spot ?? capture.priorCloseSpot;
  const netGex = strikes.gex.reduce((sum, gex) => sum + gex, 0);
  const crossing = flipPoint(curve, price ?? 0);
  const isPartial = capture.flipStatus === 'partial';
  const figures = { strikeCount: curve.length, flipPoint: crossing, isPartial, price, netGex };
  const isWhole = byExpiry.strike.length === capture.byExpiry!.strike.length;
  // A capture of an older version has no status: it is computed from its rows on demand.
  const asStored = isWhole || capture.flipStatus === null;
  const status = asStored ? capture.flipStatus : flipStatus({ ...figures, grossGex: grossOfRows(byExpiry) });
  return { ...capture, strikes, byExpiry, netGex, flipPoint: crossing, flipStatus: status };
}

/** Expiry dates that a capture lists. */
function listedExpiries(capture: StoredGexCapture): SessionDate[] {
  return Array.from(new Set(capture.byExpiry!.expiry), dateOfEpochDay);
}

/** Expiries of a grid; null = all of the capture. A live grid omits settled ones. */
function chosenExpiries(
  listed: readonly SessionDate[],
  wanted: readonly SessionDate[] | null,
  { hasSettled }: Pick<FigureInstant, 'hasSettled'>,
): { days: Set<number> | null; expiredFiltered: boolean } {
  const open = listed.filter((expiry) => !hasSettled(expiry));
  const chosen = wanted === null ? open : open.filter((expiry) => wanted.includes(expiry));
  const expiredFiltered = open.length < listed.length;
  return { days: wanted === null && !expiredFiltered ? null : new Set(chosen.map(epochDay)), expiredFiltered };
}

/** The listed expiry whose last session is `session`; that date itself if there is none. */
function expiringOn(session: SessionDate, listed: readonly SessionDate[]): SessionDate {
  return listed.find((expiry) => lastSession(expiry) === session) ?? session;
}

const largest = ({ gex }: GexColumns) => gex.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

function checkedArgs(context: RequestContext, { at, tz, expiries, dte, top }: GexGridArgs): AsOf | null {
  checkTop(top, 'top');
  if (dte != null && dte !== 0) throw invalidParameter('dte', 'expected 0');
  if (dte != null && expiries != null) throw invalidParameter('dte', 'cannot be combined with expiries');
  return at == null ? null : parseAsOf(at, tz, 'at', context);
}

/**
 * The latest capture by strike, or with `at` the last at or before it as stored; a bare date means that session's last.
 */
export async function gexGrid(context: RequestContext, symbol: string, args: GexGridArgs): Promise<GexGrid> {
  const asOf = checkedArgs(context, args);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const instant = await gexInstant(context, symbol, { asOf, byExpiry: true });
  const { capture: stored, plane } = instant;
  await yieldForRows(stored?.byExpiry?.strike.length ?? 0);
  const date = stored?.sessionDate ?? dateOf(context, asOf);
  const listed = stored ? listedExpiries(stored) : [];
  const dteExpiry = args.dte == null ? null : expiringOn(date, listed);
  const wanted = dteExpiry === null ? (args.expiries ?? null) : [dteExpiry];
  const { days, expiredFiltered } = stored
    ? chosenExpiries(listed, wanted, instant)
    : { days: null, expiredFiltered: false };
  const chosen = stored && (days === null ? stored : overExpiries(stored, days));
  const capture = chosen && servedCaptures([chosen], args.byExpiry ?? false, args.top ?? null)[0]!;
  return {
    ...quoteTimeOf(stored),
    capture,
    maxAbsGex: capture && largest(capture.columns),
    adhoc: days !== null,
    meta: {
      ...responseMeta(context, plane, clampedCaps(asOf), () => captureSource(symbol, stored)),
      ...instantMeta(context, asOf, stored?.capturedAt ?? null),
      capture,
      priceChecks: () => priceChecksOf(chosen, (expiry) => days === null || days.has(epochDay(expiry))),
      sourceTime: delayedSourceTime(stored),
      date,
      underlying: symbol,
      strikeCount: chosen ? Math.min(chosen.strikes.strike.length, args.top ?? Number.POSITIVE_INFINITY) : 0,
      expiredFiltered: expiredFiltered || null,
      note: instant.note,
      dte: args.dte ?? null,
      dteExpiry,
    },
  };
}

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
