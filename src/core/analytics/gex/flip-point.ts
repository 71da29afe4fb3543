import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { columnsAt, rowBy } from '../../domain/columns.ts';
import type { FlipStatus, GexColumns, GexProfilePoint } from '../../domain/gex/gex.ts';
import { exposureColumns, partColumns } from '../../domain/gex/gex-columns.ts';
import { fromThousandths } from '../../domain/units.ts';
import { methodologySettings } from '../methodology.ts';
import { brent } from '../pricing/brent.ts';

/** Share of Σ|gex| below which cumulative sums count as zero: the rounding error of doubles that should cancel. */
const zeroShare = 1e-9;

/**
 * The price, dollars, at which the cumulative net curve crosses zero; null if it does not (spec 2.10). Strikes
 * ascending, integer thousandths. Leaving the initial zero is not a crossing. Of several crossings the nearest to
 * `spot`, the lower of two equally near ones.
 */
export function flipPoint(curve: readonly { strike: number; gex: number }[], spot: number): number | null {
  let nearest: number | null = null;
  for (const crossing of crossings(curve)) {
    if (nearest === null || Math.abs(crossing - spot) < Math.abs(nearest - spot)) nearest = crossing;
  }
  return nearest;
}

function* crossings(curve: readonly { strike: number; gex: number }[]): Generator<number> {
  const zero = zeroShare * curve.reduce((sum, row) => sum + Math.abs(row.gex), 0);
  let cumulative = 0;
  // The last non-zero point, and the exact zeros since then.
  let last: { strike: number; sum: number } | null = null;
  let zeros: number[] = [];
  for (const { strike: thousandths, gex } of curve) {
    const strike = fromThousandths(thousandths);
    cumulative += gex;
    if (Math.abs(cumulative) <= zero) {
      zeros.push(strike);
      continue;
    }
    if (last !== null && last.sum > 0 !== cumulative > 0) {
      if (zeros.length > 0) yield* zeros;
      else yield interpolated(last, { strike, sum: cumulative });
    }
    last = { strike, sum: cumulative };
    zeros = [];
  }
}

function interpolated(a: { strike: number; sum: number }, b: { strike: number; sum: number }): number {
  const weight = Math.abs(a.sum) / (Math.abs(a.sum) + Math.abs(b.sum));
  return a.strike + (b.strike - a.strike) * weight;
}

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

/** An open position that can be re-priced at another spot, with its implied volatility fixed. */
export interface RepricedPosition {
  right: OptionRight;
  /** Dollars. */
  strike: number;
  openInterest: number;
  multiplier: number;
  /** Annualized fraction. */
  volatility: number;
  years: number;
  rate: number;
  dividendYield: number;
  /** Ratio of the spot that its expiry is priced at to the chain's; absent = 1. */
  spotShare?: number;
}

/** Net gex at hypothetical levels of the underlying (dollars, ascending), in dollars per 1% move of that level. */
export interface GammaProfile {
  levels: Float64Array;
  gexPerPercent: Float64Array;
}

/** A profile as it is published, in dollars per $1 move. */
export function profilePoints({ levels, gexPerPercent }: GammaProfile): GexProfilePoint[] {
  return Array.from(levels, (price, i) => ({ price, gex: (100 * gexPerPercent[i]!) / price }));
}

/**
 * Re-prices every position's gamma at 60 levels from 0.8 to 1.2 of spot with its volatility fixed, as European options.
 */
export function gammaProfile(positions: readonly RepricedPosition[], spot: number): GammaProfile {
  const { profileLevels: count, profileFrom, profileTo } = methodologySettings;
  const sharesPerDollar = netGamma(positions);
  const levels = Float64Array.from(
    { length: count },
    (_, i) => spot * (profileFrom + ((profileTo - profileFrom) * i) / (count - 1)),
  );
  return { levels, gexPerPercent: levels.map((level) => 0.01 * level * level * sharesPerDollar(level)) };
}

/** Σ s·Γ·OI·M at a level, shares per $1; level-independent factors are computed once. */
function netGamma(positions: readonly RepricedPosition[]): (level: number) => number {
  const count = positions.length;
  const weight = new Float64Array(count);
  const center = new Float64Array(count);
  const deviation = new Float64Array(count);
  let used = 0;
  for (const position of positions) {
    const { right, strike, openInterest, multiplier, volatility, years, rate, dividendYield, spotShare = 1 } = position;
    const width = volatility * Math.sqrt(years);
    if (!(width > 0) || openInterest === 0) continue;
    const size = (right === 'call' ? 1 : -1) * openInterest * multiplier;
    weight[used] = (size * Math.exp(-dividendYield * years)) / (spotShare * width * Math.sqrt(2 * Math.PI));
    center[used] = (rate - dividendYield) * years - Math.log(strike / spotShare) + 0.5 * width * width;
    deviation[used] = width;
    used++;
  }
  return (level) => {
    const logLevel = Math.log(level);
    let sum = 0;
    for (let i = 0; i < used; i++) {
      const d1 = (logLevel + center[i]!) / deviation[i]!;
      sum += weight[i]! * Math.exp(-0.5 * d1 * d1);
    }
    return sum / level;
  };
}

/**
 * Sign changes of a gamma profile, as indices of the levels on either side. Both must exceed 1% of the largest |gex|,
 * so that the flat ends make no crossing; one level too near zero to count may be between them.
 */
function signChanges(gexPerPercent: Float64Array): [number, number][] {
  const largest = gexPerPercent.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const clear = (i: number) => Math.abs(gexPerPercent[i]!) > methodologySettings.profileNoise * largest;
  const changes: [number, number][] = [];
  for (let i = 1; i < gexPerPercent.length; i++) {
    if (!clear(i)) continue;
    const before = clear(i - 1) ? i - 1 : i - 2;
    if (before < 0 || !clear(before)) continue;
    if (gexPerPercent[before]! > 0 !== gexPerPercent[i]! > 0) changes.push([before, i]);
  }
  return changes;
}

/**
 * The price, dollars, at which re-priced net gamma is zero: the crossing of the profile nearest to `spot`, refined
 * between its two levels. Null if the profile has none. Differs from the flip point, which re-prices nothing.
 */
export function zeroGamma(
  positions: readonly RepricedPosition[],
  spot: number,
  profile = gammaProfile(positions, spot),
): number | null {
  const gamma = netGamma(positions);
  const { levels, gexPerPercent } = profile;
  const roots = signChanges(gexPerPercent).map(([i, j]) => {
    const [low, high] = [levels[i]!, levels[j]!];
    return brent(gamma, low, gamma(low), high, gamma(high), 1e-9 * spot);
  });
  return nearest(spot, roots);
}

/**
 * The zero crossing of a profile nearest to `spot`, dollars, on straight lines between its levels, as published charts
 * show it. Null if there is none.
 */
export function profileCrossing({ levels, gexPerPercent }: GammaProfile, spot: number): number | null {
  const crossings = signChanges(gexPerPercent).map(([before, after]) => {
    const from = gexPerPercent[before]! > 0 === gexPerPercent[before + 1]! > 0 ? after - 1 : before;
    const [left, right] = [gexPerPercent[from]!, gexPerPercent[from + 1]!];
    return levels[from]! + ((levels[from + 1]! - levels[from]!) * left) / (left - right);
  });
  return nearest(spot, crossings);
}

function nearest(spot: number, candidates: readonly number[]): number | null {
  let best: number | null = null;
  for (const candidate of candidates) {
    if (best === null || Math.abs(candidate - spot) < Math.abs(best - spot)) best = candidate;
  }
  return best;
}

/** Sums of the known values at each strike; NaN if none is known. */
function summed(values: Float64Array, strikeIndex: Uint32Array, count: number): Float64Array {
  const sums = new Float64Array(count).fill(Number.NaN);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    const sum = sums[strikeIndex[i]!]!;
    sums[strikeIndex[i]!] = Number.isNaN(sum) ? value : sum + value;
  }
  return sums;
}

/** Sums at each strike; NaN if any value is unknown. */
function total(values: Float64Array, strikeIndex: Uint32Array, count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let i = 0; i < values.length; i++) sums[strikeIndex[i]!] = sums[strikeIndex[i]!]! + values[i]!;
  return sums;
}

/** Net rows from rows by expiry, ascending by strike. */
export function netCurve(rows: GexColumns): GexColumns {
  const strikeIndex = new Uint32Array(rows.strike.length);
  const strikes: number[] = [];
  for (let i = 0; i < strikeIndex.length; i++) {
    if (rows.strike[i] !== strikes.at(-1)) strikes.push(rows.strike[i]!);
    strikeIndex[i] = strikes.length - 1;
  }
  return {
    strike: Float64Array.from(strikes),
    expiry: new Float64Array(strikes.length).fill(Number.NaN),
    ...rowBy(exposureColumns, (name) => total(rows[name], strikeIndex, strikes.length)),
    ...rowBy(partColumns, (name) => summed(rows[name], strikeIndex, strikes.length)),
  };
}

/** The rows whose expiry (epoch day) is selected. */
export function rowsOfExpiries(rows: GexColumns, keeps: (expiryDay: number) => boolean): GexColumns {
  const indexes = Uint32Array.from(rows.strike, (_, index) => index).filter((index) => keeps(rows.expiry[index]!));
  return columnsAt(rows, indexes);
}
