import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { erfcx } from './normal.ts';

const sqrt2OverPi = 0.7978845608028654;
const sqrt2Pi = 2.5066282746310002;
const halfLog2Pi = 0.9189385332046727;

/** The bracket of a solve, annualized fractions. */
const leastVolatility = 1e-6;
const mostVolatility = 20;
/** exp of half its square overflows beyond; no option reaches it. */
const mostDeviation = 70;

/**
 * The starting point: the deviation s = σ√T at which the normalised out-of-the-money price is approximately `price`.
 * Prices below the one at the inflection s = √(2|x|) fall as φ(x/s)·s/(x²/s² + 3); above, the tangent at the inflection
 * is used.
 */
function firstDeviation(price: number, logPrice: number, x: number): number {
  const inflection = Math.sqrt(2 * x);
  const decay = Math.exp(-0.5 * x);
  const priceThere = 0.5 * decay * (1 - erfcx(Math.sqrt(x)));
  if (price >= priceThere) return inflection + ((price - priceThere) * sqrt2Pi) / decay;
  const target = Math.log(x) - logPrice - halfLog2Pi;
  let h2 = Math.max(0.5 * x, 2 * target - 3 * Math.log(Math.max(2 * target, 1)));
  for (let i = 0; i < 2; i++) {
    const excess = 0.5 * h2 + 0.5 * Math.log(h2) + Math.log(h2 + 3) - target;
    h2 = Math.max(0.25 * h2, h2 - excess / (0.5 + 0.5 / h2 + 1 / (h2 + 3)));
  }
  return x / Math.sqrt(h2);
}

/**
 * The deviation σ√T of a normalised out-of-the-money price, undiscounted price / √(F·K), at log-moneyness x
 * = |ln(F/K)|; by Halley steps on ln(price) that never leave a shrinking bracket. With h = −x/s and t = s/2 the price
 * is ½·exp(−(h² + t²)/2)·[erfcx(−(h + t)/√2) − erfcx(−(h − t)/√2)], exact to its last digits in the far tail too.
 */
function deviationOf(price: number, x: number, least: number, most: number): number {
  const logPrice = Math.log(price);
  let low = least;
  let high = most;
  let s = firstDeviation(price, logPrice, x);
  if (!(s > low && s < high)) s = Math.sqrt(low * high);
  for (let iteration = 0; iteration < 100; iteration++) {
    const h = -x / s;
    const t = 0.5 * s;
    const difference = erfcx(-(h + t) * Math.SQRT1_2) - erfcx(-(h - t) * Math.SQRT1_2);
    const error = Math.log(0.5 * difference) - 0.5 * (h * h + t * t) - logPrice;
    if (error > 0) high = s;
    else low = s;
    const slope = sqrt2OverPi / difference;
    const newton = -error / slope;
    const bend = 0.5 * newton * ((h * h) / s - 0.25 * s - slope);
    const step = newton / (bend > -0.5 ? 1 + bend : 0.5);
    // Steps converge cubically: after one of 1e-6 no error is left.
    if (Math.abs(step) <= 1e-6 * s) return s + step;
    const next = s + step;
    // A NaN (the price underflowed at this s) bisects too.
    s = next > low && next < high ? next : 0.5 * (low + high);
  }
  return s;
}

/**
 * The volatility, annualized fraction, at which a European option on `forward` is worth `price` (dollars per share,
 * discounted by `discount` = e^{−rT}). NaN if there is none in [1e-6, 20]: the price is at or outside its bounds, no
 * time is left, or an input is unknown. Positional arguments for speed: a chain calls it thousands of times.
 */
export function europeanVolatility(
  right: OptionRight,
  price: number,
  forward: number,
  strike: number,
  years: number,
  discount: number,
): number {
  const inTheMoney = right === 'call' ? forward - strike : strike - forward;
  const outPrice = price / discount - Math.max(inTheMoney, 0);
  // Also false for NaN anywhere, and above the bound of the smaller of F and K.
  if (!(outPrice > 0 && outPrice < Math.min(forward, strike) && years > 0)) return Number.NaN;
  const x = Math.abs(Math.log(forward / strike));
  const rootT = Math.sqrt(years);
  const least = leastVolatility * rootT;
  const most = Math.min(mostVolatility * rootT, mostDeviation);
  const deviation = deviationOf(outPrice / Math.sqrt(forward * strike), x, least, most);
  const volatility = deviation / rootT;
  const atAnEnd = deviation - least <= 1e-6 * least || most - deviation <= 1e-6 * most;
  return atAnEnd ? Number.NaN : volatility;
}
