import type { OptionRight } from '../../domain/chain/option-contract.ts';
import type { GexProfilePoint } from '../../domain/gex/gex.ts';
import { methodologySettings } from '../methodology.ts';
import { brent } from '../pricing/brent.ts';

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
