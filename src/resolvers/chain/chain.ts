import { requireReadable } from '../../access/entitlement/entitlement.ts';
import {
  type ChainCapture,
  type ChainRow,
  type FilledGreek,
  filledGreekNames,
  type GreeksSource,
  isIncomplete,
} from '../../core/domain/chain/chain.ts';
import { greekNames } from '../../core/domain/chain/chain-columns.ts';
import type { OptionContract } from '../../core/domain/chain/option-contract.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { type AsOf, clampedCaps, parseAsOf } from '../as-of.ts';
import { chainAt } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { chainInstant, type FigureInstant, figureInstant } from '../figure-instant.ts';
import type { GexStrike } from '../gex/gex.ts';
import { type PriceChecked, priceChecksOfChain } from '../gex/price-checks.ts';
import { delayedSourceTime, type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import { instantMeta, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { chainSource } from '../source-keys.ts';

export interface ChainFilter {
  expiry?: SessionDate | null | undefined;
  /** Thousandths of a dollar, both inclusive. */
  strikeGte?: number | null | undefined;
  strikeLte?: number | null | undefined;
}

export interface ChainArgs extends ChainFilter {
  at?: string | null | undefined;
  tz?: string | null | undefined;
}

export interface ChainMeta extends ResponseMeta, PriceChecked {
  /** Epoch ms; null if it is the capture's own time. */
  sourceTime: number | null;
  underlying: string;
  rowCount: number;
  /** Source of the rows' greeks; null if no row has greeks, or if their source is unknown. */
  greeksSource: GreeksSource | null;
  /** Greeks computed at the source's volatility because the source lacks them; null = none. */
  greeksFilled: FilledGreek[] | null;
  /** Names the date of an old capture, or says that the ticker is unknown; null otherwise. */
  note: string | null;
}

/** A chain capture, or the requested part. */
export interface Chain extends QuoteTime {
  /** Dollars; null if unknown or nothing was captured. */
  spot: number | null;
  /** Epoch ms; null if nothing was captured. */
  capturedAt: number | null;
  partial: boolean;
  rows: ChainRow[];
  meta: ChainMeta;
}

/** True if a row was requested. */
export function chainFilter({ expiry, strikeGte, strikeLte }: ChainFilter): (row: ChainRow) => boolean {
  return (row) =>
    (expiry == null || row.expiry === expiry) &&
    (strikeGte == null || row.strike >= strikeGte) &&
    (strikeLte == null || row.strike <= strikeLte);
}

// Captures are shared and never change, so results are cached with them.
const sources = new WeakMap<ChainCapture, GreeksSource | null>();

/** Source of a chain's greeks: the source's if it provides any. Unknown for a chain stored by an older version. */
function greeksSourceOf(capture: ChainCapture): GreeksSource | null {
  if (capture.rate == null) return null;
  let source = sources.get(capture);
  if (source === undefined) {
    const isGiven = (row: ChainRow) => greekNames.some((name) => row[name] !== null);
    const isSolved = ({ solved }: ChainRow) => solved !== undefined && solved.iv !== null;
    source = capture.rows.some(isGiven) ? 'vendor' : capture.rows.some(isSolved) ? 'solved' : null;
    sources.set(capture, source);
  }
  return source;
}

function greeksFilledOf(rows: readonly ChainRow[]): FilledGreek[] | null {
  const found = new Set(rows.flatMap(({ filled }) => (filled ? Object.keys(filled) : [])));
  return found.size > 0 ? filledGreekNames.filter((name) => found.has(name)) : null;
}

/** The latest chain, or with `at` the stored one as of that time; a bare date means its last (contract-notes 3). */
export async function chain(context: RequestContext, symbol: string, args: ChainArgs): Promise<Chain> {
  const asOf = args.at == null ? null : parseAsOf(args.at, args.tz, 'at', context);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const instant = await chainInstant(context, symbol, asOf);
  await yieldForRows(instant.capture?.rows.length ?? 0);
  return servedChain(context, symbol, instant, args, asOf);
}

/** A followed chain as its subscriber requested it. */
export async function followedChain(
  context: RequestContext,
  underlying: string,
  capture: ChainCapture,
  filter: ChainFilter,
): Promise<Chain> {
  return servedChain(context, underlying, await figureInstant(context, capture), filter, null);
}

/** The requested part of a capture; `asOf` null = it is the latest. */
function servedChain(
  context: RequestContext,
  underlying: string,
  { capture, plane, note }: FigureInstant<ChainCapture>,
  filter: ChainFilter,
  asOf: AsOf | null,
): Chain {
  const rows = (capture?.rows ?? []).filter(chainFilter(filter));
  return {
    spot: capture?.spot ?? null,
    capturedAt: capture?.capturedAt ?? null,
    ...quoteTimeOf(capture),
    partial: capture !== null && isIncomplete(capture),
    rows,
    meta: {
      ...responseMeta(context, plane, clampedCaps(asOf), () => chainSource(underlying, capture)),
      ...instantMeta(context, asOf, capture?.capturedAt ?? null),
      sourceTime: delayedSourceTime(capture),
      priceChecks: () => {
        const expiries = new Set(rows.map(({ expiry }) => expiry));
        return priceChecksOfChain(context, capture, (expiry) => expiries.has(expiry));
      },
      underlying,
      rowCount: rows.length,
      greeksSource: capture && greeksSourceOf(capture),
      greeksFilled: greeksFilledOf(rows),
      note,
    },
  };
}

// Captures are shared and never change, so results are cached with them.
const byStrike = new WeakMap<ChainCapture, Map<number, ChainRow[]>>();

function rowsByStrike(capture: ChainCapture): Map<number, ChainRow[]> {
  let rows = byStrike.get(capture);
  if (!rows) {
    rows = Map.groupBy(capture.rows, (row) => row.strike);
    byStrike.set(capture, rows);
  }
  return rows;
}

/**
 * The chain rows behind a strike row: those of its strike, and of its expiry unless it is a net row, in the chain
 * behind its capture.
 */
export async function chainRowsAtStrike(context: RequestContext, row: GexStrike): Promise<ChainRow[]> {
  const { underlying, capturedAt } = row.capture;
  const capture = await chainAt(context, underlying, capturedAt);
  if (capture?.capturedAt !== capturedAt) return [];
  const rows = rowsByStrike(capture).get(row.strike) ?? [];
  return row.expiry === null ? rows : rows.filter(({ expiry }) => expiry === row.expiry);
}

/** A contract's row, with the chain that lists it. */
export interface ContractListing {
  row: ChainRow;
  capture: ChainCapture;
}

/**
 * The row of a contract in the latest chain; null when that does not list it. The caller must be allowed to read the
 * underlying.
 */
export async function latestListing(
  context: RequestContext,
  underlying: string,
  contract: OptionContract,
): Promise<ContractListing | null> {
  const capture = await chainAt(context, underlying);
  const row = rowIn(capture, contract);
  return capture && row ? { row, capture } : null;
}

/** The row of a contract in a chain; null if the chain does not list it, or is null. */
export function rowIn(capture: ChainCapture | null, { root, expiry, right, strike }: OptionContract): ChainRow | null {
  const rows = capture ? (rowsByStrike(capture).get(strike) ?? []) : [];
  return rows.find((one) => one.expiry === expiry && one.right === right && one.root === root) ?? null;
}

/** `latestListing` without the chain. */
export async function latestChainRow(
  context: RequestContext,
  underlying: string,
  contract: OptionContract,
): Promise<ChainRow | null> {
  return (await latestListing(context, underlying, contract))?.row ?? null;
}
