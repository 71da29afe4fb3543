import {
  type SurfacePoint,
  surfacePoint,
  type TermExpiry,
  type VolatilitySurface,
  volatilitySurface,
} from '../analytics/volatility-surface.ts';
import type { ChainCapture } from '../domain/chain.ts';
import { nextTurn } from '../domain/turn.ts';
import { chainAt } from './chain.ts';
import type { RequestContext } from './context.ts';
import { requireReadable } from './gex.ts';
import { inTurns } from './in-turns.ts';
import { type ResponseMeta, responseMeta } from './response-meta.ts';

export type { SurfacePoint, TermExpiry };

export interface VolatilityMeta extends ResponseMeta {
  /** Why there is nothing; null when there is something. */
  note: string | null;
}

/** Implied volatility by expiry, of the latest chain (contract-notes 3). */
export interface VolatilityTerm {
  symbol: string;
  /** When the chain was captured, epoch ms; null when none was. */
  asOfMs: number | null;
  /** Dollars, at the capture; null when unknown. */
  spot: number | null;
  expiries: TermExpiry[];
  meta: VolatilityMeta;
}

/** As the term structure, and by contract. */
export interface VolatilitySurfacePage extends VolatilityTerm {
  /** The chain whose rows the points are, and which; null when none was captured. */
  points: { chain: ChainCapture; rows: Uint32Array } | null;
}

// Captures are shared and never change, so what is worked out of one is kept with it.
const surfaces = new WeakMap<ChainCapture, VolatilitySurface>();

async function surfaceOf(chain: ChainCapture): Promise<VolatilitySurface> {
  let surface = surfaces.get(chain);
  if (!surface) {
    // The forwards of a large chain take some 10 ms: others are heard between two symbols.
    await nextTurn();
    surface = volatilitySurface(chain);
    surfaces.set(chain, surface);
  }
  return surface;
}

async function latest(
  context: RequestContext,
  symbol: string,
): Promise<{ chain: ChainCapture; surface: VolatilitySurface } | null> {
  await requireReadable(context, symbol);
  const chain = await chainAt(context, symbol, context.nowMs);
  return chain && { chain, surface: await surfaceOf(chain) };
}

function term(
  context: RequestContext,
  symbol: string,
  found: { chain: ChainCapture; surface: VolatilitySurface } | null,
): VolatilityTerm {
  const expiries = found?.surface.expiries ?? [];
  const empty = found === null ? `No option chain of ${symbol} has been captured.` : null;
  const note = expiries.length === 0 ? (empty ?? `The latest option chain of ${symbol} has no open expiry.`) : null;
  const { capturedAt = null, spot = null } = found?.chain ?? {};
  return { symbol, asOfMs: capturedAt, spot, expiries, meta: { ...responseMeta(context, 'live'), note } };
}

/** Implied volatility at the money by expiry, as of the latest chain. */
export async function volatilityTerm(context: RequestContext, symbol: string): Promise<VolatilityTerm> {
  return term(context, symbol, await latest(context, symbol));
}

/** Implied volatility by contract, as of the latest chain. */
export async function volatilitySurfacePage(context: RequestContext, symbol: string): Promise<VolatilitySurfacePage> {
  const found = await latest(context, symbol);
  const page = term(context, symbol, found);
  const unknown = found?.surface.rows.length === 0 ? `The latest option chain of ${symbol} tells no volatility.` : null;
  return {
    ...page,
    points: found && { chain: found.chain, rows: found.surface.rows },
    meta: { ...page.meta, note: page.meta.note ?? unknown },
  };
}

/** The points of a surface, by expiry, strike, call before put. */
export function surfacePoints({ points }: VolatilitySurfacePage) {
  return points === null ? [] : inTurns(points.rows.length, (place) => surfacePoint(points.chain, points.rows[place]!));
}
