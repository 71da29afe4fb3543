import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { flipStatusOfRows, isRemote } from '../../core/analytics/gex/flip-point.ts';
import { topStrikes } from '../../core/analytics/gex/gex-rows.ts';
import { previousTradingDay } from '../../core/domain/calendar.ts';
import { columnsAt } from '../../core/domain/columns.ts';
import { type FlipStatus, type GexColumns, type GexRow, gexExpiryAt, gexRowAt } from '../../core/domain/gex/gex.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { type MaybePromise, whenThere } from '../../platform/runtime/maybe-promise.ts';
import { ColumnRows } from '../../platform/wire/column-rows.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { incompleteChains } from '../../store/chain/chain-captures.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { parseAsOf } from '../as-of.ts';
import { hasCome } from '../captures-at.ts';
import { findSymbol, fromSource, ofAllInstants, type RequestContext } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { type FigureInstant, gexInstant } from '../figure-instant.ts';
import { type QuoteTime, quoteTimeOf } from '../quote-time.ts';

/** A capture in served form: the rows in force, cut as requested, as columns. */
export interface ServedGexCapture extends Omit<StoredGexCapture, 'strikes' | 'byExpiry'>, QuoteTime {
  /** Net rows, or rows by expiry. */
  columns: GexColumns;
  /** True if the rows are by expiry. */
  isByExpiry: boolean;
  /** Number of strikes after the trim; null = no trim. */
  top: number | null;
  /** Indexes of the served rows, ascending; null = all. */
  selected: Uint32Array | null;
}

/** A strike row with its capture. */
export interface GexStrike extends GexRow {
  capture: ServedGexCapture;
}

interface CaptureArgs {
  topStrikes?: number | null | undefined;
  byExpiry?: boolean | null | undefined;
}

/** Throws 400 for a `top` below 1. */
export function checkTop(top: number | null | undefined, parameter: string): void {
  if (top != null && top < 1) throw invalidParameter(parameter, 'expected 1 or more');
}

/** Indexes of the rows by expiry of the strikes of the net rows at `selected`. */
function ofStrikes(rows: GexColumns, net: GexColumns, selected: Uint32Array): Uint32Array {
  const strikes = new Set<number>();
  for (const index of selected) strikes.add(net.strike[index]!);
  const indexes = Uint32Array.from(rows.strike, (_, index) => index);
  return indexes.filter((index) => strikes.has(rows.strike[index]!));
}

/** The last selected rows of a capture: the same selection is requested repeatedly while it is the latest. */
const lastSelected = new WeakMap<Float64Array, { top: number; selected: Uint32Array | null }>();

function selectedOf(strikes: GexColumns, top: number): Uint32Array | null {
  const last = lastSelected.get(strikes.gex);
  if (last?.top === top) return last.selected;
  const selected = topStrikes(strikes, top);
  lastSelected.set(strikes.gex, { top, selected });
  return selected;
}

/**
 * Captures in served form: net or by expiry, with at most `top` strikes each. A trim uses a strike's net figure, even
 * for rows by expiry, so that the same strikes stay.
 */
export function servedCaptures(
  captures: readonly StoredGexCapture[],
  byExpiry: boolean,
  top: number | null,
): ServedGexCapture[] {
  return captures.map(({ strikes, byExpiry: rows, ...stored }): ServedGexCapture => {
    const facts = { ...stored, ...quoteTimeOf(stored) };
    const selected = top === null ? null : selectedOf(strikes, top);
    if (!byExpiry || !rows) return { ...facts, columns: strikes, isByExpiry: false, top, selected };
    const indexes = selected && ofStrikes(rows, strikes, selected);
    return { ...facts, columns: rows, isByExpiry: true, top, selected: indexes };
  });
}

const rowCount = ({ columns, selected }: ServedGexCapture) => (selected ?? columns.strike).length;

function rowOf(capture: ServedGexCapture, index: number): GexStrike {
  const { columns, selected } = capture;
  const row = gexRowAt(columns, selected === null ? index : selected[index]!) as GexStrike;
  row.capture = capture;
  return row;
}

/** Selected columns, by their selection. */
const selectedColumns = new WeakMap<Uint32Array, GexColumns>();

/** The columns of the served rows. */
function servedColumns({ columns, selected }: ServedGexCapture): GexColumns {
  if (selected === null) return columns;
  const found = selectedColumns.get(selected) ?? columnsAt(columns, selected);
  selectedColumns.set(selected, found);
  return found;
}

/** The rows of a capture, ascending by strike, then expiry. */
export function strikeRows(capture: ServedGexCapture): ColumnRows<GexStrike> {
  const columns = servedColumns(capture);
  return new ColumnRows(rowCount(capture), (index) => rowOf(capture, index), {
    ...columns,
    expiry: (index) => gexExpiryAt(columns, index),
  });
}

/** The net row of a strike; null if the capture has none. */
export function rowAtStrike(capture: ServedGexCapture, strikeThousandths: number): GexStrike | null {
  const index = capture.columns.strike.indexOf(strikeThousandths);
  return index === -1 ? null : rowOf(capture, index);
}

/**
 * Dollars as shares: divided by the capture's spot, or its prior close without a spot (spec 2.10); null if both are
 * unknown.
 */
export function inShares(
  { spot, priorCloseSpot }: Pick<ServedGexCapture, 'spot' | 'priorCloseSpot'>,
  dollars: number | null,
): number | null {
  const price = spot ?? priorCloseSpot;
  return dollars === null || !price ? null : dollars / price;
}

/**
 * A symbol's capture at a written time (null: the latest); a bare date means that session's last. Null if there is
 * none.
 */
export async function gexCaptureAt(
  context: RequestContext,
  symbol: string,
  time: string | null,
  args: CaptureArgs & { tz?: string | null | undefined },
): Promise<ServedGexCapture | null> {
  return (await servedInstant(context, symbol, time, args)).capture;
}

/** As `gexCaptureAt`, with the instant of its figures. */
export async function servedInstant(
  context: RequestContext,
  symbol: string,
  time: string | null,
  args: CaptureArgs & { tz?: string | null | undefined },
): Promise<FigureInstant<ServedGexCapture>> {
  checkTop(args.topStrikes, 'topStrikes');
  const asOf = time === null ? null : parseAsOf(time, args.tz, 'time', context);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const byExpiry = args.byExpiry ?? false;
  const { capture, ...instant } = await gexInstant(context, symbol, { asOf, byExpiry });
  await yieldForRows((byExpiry ? capture?.byExpiry : capture?.strikes)?.strike.length ?? 0);
  return { ...instant, capture: capture && servedCaptures([capture], byExpiry, args.topStrikes ?? null)[0]! };
}

/** The capture of exactly that instant, epoch ms; null if there is none, or not yet. */
export async function gexCaptureOf(
  context: RequestContext,
  symbol: string,
  capturedAt: number,
  args: CaptureArgs,
): Promise<ServedGexCapture | null> {
  if (!hasCome(context, capturedAt)) return null;
  const capture = await gexCaptureAt(context, symbol, String(capturedAt), args);
  return capture?.capturedAt === capturedAt ? capture : null;
}

const priceOf = ({ spot, priorCloseSpot }: Pick<ServedGexCapture, 'spot' | 'priorCloseSpot'>) => spot ?? priorCloseSpot;

/** True if a capture's flip point is far from its price; null without either. */
export function flipIsRemote(capture: ServedGexCapture): boolean | null {
  return isRemote(capture.flipPoint, priceOf(capture));
}

/**
 * Status of a capture's flip point; computed from its rows if it was stored without one. Null if they do not determine
 * it.
 */
export function flipStatusOf(context: RequestContext, capture: ServedGexCapture): MaybePromise<FlipStatus | null> {
  if (capture.flipStatus !== null) return capture.flipStatus;
  const { flipPoint, netGex, columns } = capture;
  const figures = { strikeCount: columns.strike.length, flipPoint, price: priceOf(capture), netGex };
  const crosses = columns.strike.length > 0 && flipPoint !== null;
  return whenThere(crosses && isPartial(context, capture), (partial) =>
    flipStatusOfRows({ ...figures, isPartial: partial }, columns.gex),
  );
}

/** True if the chain behind a capture is known to lack contracts. */
export function isPartial(
  context: RequestContext,
  { underlying, capturedAt }: Pick<StoredGexCapture, 'underlying' | 'capturedAt'>,
): Promise<boolean> {
  return batched(ofAllInstants(context), 'incomplete chains', { underlying, capturedAt }, (captures) =>
    fromSource(context, 'chain', () => incompleteChains(context.store, captures)),
  );
}

/**
 * The prior close of a capture, dollars, in shares of its session; null if unknown. On the ex-date of a split some
 * sources report it as printed, others already divided: the value nearer to the spot is used.
 */
export async function priorCloseOf(
  context: RequestContext,
  {
    underlying,
    sessionDate,
    spot,
    priorCloseSpot: stored,
  }: Pick<ServedGexCapture, 'underlying' | 'sessionDate' | 'spot' | 'priorCloseSpot'>,
): Promise<number | null> {
  if (stored === null) return null;
  const splits = await loadSplits(context, underlying);
  const divided = stored / splitFactor(splits, previousTradingDay(sessionDate), sessionDate);
  if (spot === null || !(spot > 0)) return divided;
  const distance = (price: number) => Math.abs(Math.log(price / spot));
  return distance(divided) < distance(stored) ? divided : stored;
}
