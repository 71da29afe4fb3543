import type { FlipStatus } from '../../domain/gex/flip-status.ts';
import type { GexColumns } from '../../domain/gex/gex.ts';
import { methodologySettings } from '../methodology.ts';

/** Figures that decide the status of a flip point. */
export interface FlipFigures {
  strikeCount: number;
  /** Dollars; null without a crossing. */
  flipPoint: number | null;
  /** True if the chain is known to lack contracts. */
  isPartial: boolean;
  /** Price of the underlying, dollars: its spot, else its prior close. Null when unknown. */
  price: number | null;
  netGex: number;
  /** Σ|gex| over contracts, dollars per $1 move. */
  grossGex: number;
}

/** True if a flip point is too far from the price to be informative; null without either. Both in dollars. */
export function isRemote(flipPoint: number | null, price: number | null): boolean | null {
  return flipPoint === null || !price ? null : Math.abs(flipPoint / price - 1) > methodologySettings.remoteFlip;
}

/** Status of a flip point. */
export function flipStatus(figures: FlipFigures): FlipStatus {
  const { strikeCount, flipPoint, isPartial, price, netGex, grossGex } = figures;
  if (strikeCount === 0) return 'no_strikes';
  if (flipPoint === null) return 'no_crossing';
  if (isPartial) return 'partial';
  if (isRemote(flipPoint, price)) return 'remote';
  return Math.abs(netGex) < methodologySettings.fragileNet * grossGex ? 'fragile' : 'crosses';
}

/**
 * Σ|gex| over contracts, dollars per $1 move, computed from rows by strike and expiry. Call and put of a row have
 * almost the same gamma, so their open interest determines how much of their gex cancels; a row that cancels completely
 * counts as zero.
 */
export function grossOfRows({ gex, callOi, putOi }: Pick<GexColumns, 'gex' | 'callOi' | 'putOi'>): number {
  return gex.reduce((sum, net, i) => {
    const [calls, puts] = [callOi[i]! || 0, putOi[i]! || 0];
    return sum + Math.abs(net) * (calls === puts ? 1 : (calls + puts) / Math.abs(calls - puts));
  }, 0);
}

/**
 * The status of a capture stored without one; null if unknown. Only its rows' gex is known, whose Σ|gex| is at most
 * that of the contracts: a net that is fragile relative to it is fragile.
 */
export function flipStatusOfRows(figures: Omit<FlipFigures, 'grossGex'>, rowGex: Float64Array): FlipStatus | null {
  const grossGex = rowGex.reduce((sum, gex) => sum + Math.abs(gex), 0);
  const found = flipStatus({ ...figures, grossGex });
  return found === 'crosses' ? null : found;
}
