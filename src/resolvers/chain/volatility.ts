import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { type MinuteChain, minuteChain } from '../../core/analytics/chain/solved-chain.ts';
import {
  type SurfacePoint,
  surfacePoint,
  type TermExpiry,
  type VolatilitySurface,
  volatilitySurface,
} from '../../core/analytics/chain/volatility-surface.ts';
import { sessionOf } from '../../core/domain/calendar.ts';
import { type ChainCapture, type GreeksSource, sourceTime } from '../../core/domain/chain/chain.ts';
import { ColumnRows } from '../../platform/wire/column-rows.ts';
import type { SolvedMinute } from '../../store/chain/solved-minutes.ts';
import { chainAt, solvedMinute } from '../captures-at.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { type FigureInstant, symbolInstant } from '../figure-instant.ts';
import { type PriceChecked, priceChecksOfChain } from '../gex/price-checks.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource, greeksSource } from '../source-keys.ts';
import { chainFigures } from './chain-figures.ts';

export type { SurfacePoint, TermExpiry };

export interface VolatilityMeta extends ResponseMeta, PriceChecked {
  /** Source of the volatilities; null if unknown or there are none. */
  greeksSource: GreeksSource | null;
  /** Reason for an empty answer, or the date of an old capture; null if it is of the last session. */
  note: string | null;
}

/**
 * Implied volatility by expiry, as of the last minute's solves or the latest chain, whichever is newer (contract-notes
 * 3).
 */
export interface VolatilityTerm {
  symbol: string;
  /** The minute of the solves, or the time of the chain's quotes, epoch ms; null if there is neither. */
  asOfMs: number | null;
  /** Spot at that time, dollars; null if unknown. */
  spot: number | null;
  expiries: TermExpiry[];
  /** With those that have settled since the quotes. */
  all: TermExpiry[];
  meta: VolatilityMeta;
}

/** The term structure, and volatilities by contract. */
export interface VolatilitySurfacePage extends VolatilityTerm {
  /** The chain with the rows of the points, and their indexes; null if none was captured. */
  points: (MinuteChain & Pick<VolatilitySurface, 'rows' | 'price'>) | null;
}

const surfaceOf = chainFigures(volatilitySurface);

// The result for a chain is cached with the minute while the chain is unchanged.
const minuteChains = new WeakMap<SolvedMinute, { captured: ChainCapture | null; made: MinuteChain }>();
const noMarks: MinuteChain['marks'] = new Map();

/** The latest chain, updated to the last solved minute if that is newer. */
async function latestChain(context: RequestContext, symbol: string): Promise<MinuteChain | null> {
  const { chain: hasChains, option_tape: hasTape } = context.sources;
  requireSource(context, 'chain', 'option_tape');
  const [captured, minute] = await Promise.all([
    hasChains ? chainAt(context, symbol) : null,
    hasTape ? solvedMinute(context, symbol) : null,
  ]);
  if (minute === null || (captured !== null && sourceTime(captured) > minute.tsMs))
    return captured && { chain: captured, marks: noMarks };
  const known = minuteChains.get(minute);
  if (known?.captured === captured) return known.made;
  const made = minuteChain(captured, minute);
  minuteChains.set(minute, { captured, made });
  return made;
}

/** The latest chain with its volatilities, and its instant. */
interface Found {
  latest: (MinuteChain & { surface: VolatilitySurface }) | null;
  instant: FigureInstant;
}

async function latest(context: RequestContext, symbol: string): Promise<Found> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  const found = await latestChain(context, symbol);
  const surface = found && (await surfaceOf(context, found.chain));
  const instant = await symbolInstant(context, symbol, found?.chain ?? null);
  return { latest: found && { ...found, surface: surface! }, instant };
}

function term(context: RequestContext, symbol: string, { latest: found, instant }: Found): VolatilityTerm {
  const all = found?.surface.expiries ?? [];
  const expiries = all.filter(({ expiry }) => !instant.hasSettled(expiry));
  const empty =
    found === null
      ? (instant.note ?? `No option chain of ${symbol} has been captured, and no contract has been solved.`)
      : null;
  const note =
    expiries.length === 0 ? (empty ?? `The latest option chain of ${symbol} has no open expiry.`) : instant.note;
  const spot = found?.chain.spot ?? null;
  const shown = new Set(expiries.map(({ expiry }) => expiry));
  // The checks of a capture do not apply to a minute solved after it.
  const checked = found?.marks === noMarks ? found.chain : null;
  const meta = {
    ...responseMeta(context, instant.plane, [], () => {
      if (found === null) return [];
      if (found.marks === noMarks) return captureSource(symbol, found.chain);
      return [greeksSource(symbol, sessionOf(sourceTime(found.chain)))];
    }),
    priceChecks: () => priceChecksOfChain(context, checked, (expiry) => shown.has(expiry)),
    greeksSource: found?.surface.source ?? null,
    note,
  };
  return { symbol, asOfMs: instant.sourceTime, spot, expiries, all, meta };
}

/**
 * Implied volatility at the money by expiry, as of the last minute's solves or the latest chain, whichever is newer.
 */
export async function volatilityTerm(context: RequestContext, symbol: string): Promise<VolatilityTerm> {
  return term(context, symbol, await latest(context, symbol));
}

/** Implied volatility by contract, as of the same time. */
export async function volatilitySurfacePage(context: RequestContext, symbol: string): Promise<VolatilitySurfacePage> {
  const found = await latest(context, symbol);
  const page = term(context, symbol, found);
  const { latest: chain, instant } = found;
  const rows = chain?.surface.rows.filter((index) => !instant.hasSettled(chain.chain.rows[index]!.expiry));
  const unknown = rows?.length === 0 ? `The latest option chain of ${symbol} has no volatility.` : null;
  return {
    ...page,
    points: chain && { rows: rows!, price: chain.surface.price, chain: chain.chain, marks: chain.marks },
    meta: { ...page.meta, note: page.expiries.length === 0 ? page.meta.note : (unknown ?? page.meta.note) },
  };
}

/** The points of a surface, by expiry, strike, call before put. */
export function surfacePoints({ points }: VolatilitySurfacePage): Iterable<SurfacePoint> {
  return points === null
    ? []
    : new ColumnRows(points.rows.length, (index) =>
        surfacePoint(points.chain, points.rows[index]!, points.price, points.marks),
      );
}
