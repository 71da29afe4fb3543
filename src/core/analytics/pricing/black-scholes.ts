import type { OptionRight } from '../../domain/chain/option-contract.ts';

/** Inputs of a European option's value. Prices in dollars per share, rates continuous, time in years of 365 days. */
export interface OptionInputs {
  right: OptionRight;
  /** The underlying's price. */
  spot: number;
  strike: number;
  years: number;
  /** Risk-free rate r. */
  rate: number;
  /** Continuous dividend (and borrow) yield q; the forward is S·e^{(r−q)T}. */
  dividendYield: number;
  /** Annualized fraction σ. */
  volatility: number;
}

/** Value and sensitivities of one option per share. */
export interface OptionValue {
  /** Dollars per share. */
  price: number;
  /** Change of price per $1 of spot. */
  delta: number;
  /** Change of delta per $1 of spot. */
  gamma: number;
  /** Dollars per 1.00 of volatility (÷ 100 for a vol point). */
  vega: number;
  /** Dollars per year as time passes (÷ 365 for a day). */
  theta: number;
  /** Change of delta per 1.00 of volatility. */
  vanna: number;
  /** Change of delta per year as time passes (÷ 365 for a day). */
  charm: number;
}

/** Without time or volatility the option is worth a forward or nothing. */
function certainValue({ right, spot, strike, years, rate, dividendYield }: OptionInputs): OptionValue {
  const sign = right === 'call' ? 1 : -1;
  const time = Math.max(0, years);
  const spotValue = spot * Math.exp(-dividendYield * time);
  const strikeValue = strike * Math.exp(-rate * time);
  const price = Math.max(0, sign * (spotValue - strikeValue));
  const alive = price > 0 ? sign : 0;
  return {
    price,
    delta: (alive * spotValue) / spot,
    gamma: 0,
    vega: 0,
    theta: alive * (dividendYield * spotValue - rate * strikeValue),
    vanna: 0,
    charm: (alive * dividendYield * spotValue) / spot,
  };
}

/** Generalised Black–Scholes–Merton with a continuous yield (Haug, Option Pricing Formulas, ch. 1–2). */
export function blackScholes(inputs: OptionInputs): OptionValue {
  const { right, spot, strike, years, rate, dividendYield, volatility } = inputs;
  if (!(years > 0) || !(volatility > 0)) return certainValue(inputs);
  const sign = right === 'call' ? 1 : -1;
  const carry = rate - dividendYield;
  const rootT = Math.sqrt(years);
  const deviation = volatility * rootT;
  const d1 = (Math.log(spot / strike) + carry * years) / deviation + 0.5 * deviation;
  const d2 = d1 - deviation;
  const yieldFactor = Math.exp(-dividendYield * years);
  const density = yieldFactor * normalPdf(d1);
  const spotTerm = yieldFactor * normalCdf(sign * d1);
  const strikeTerm = strike * Math.exp(-rate * years) * normalCdf(sign * d2);
  return {
    price: Math.max(0, sign * (spot * spotTerm - strikeTerm)),
    delta: sign * spotTerm,
    gamma: density / (spot * deviation),
    vega: spot * density * rootT,
    theta: (-spot * density * volatility) / (2 * rootT) + sign * (dividendYield * spot * spotTerm - rate * strikeTerm),
    vanna: (-density * d2) / volatility,
    charm: -density * (carry / deviation - d2 / (2 * years)) + sign * dividendYield * spotTerm,
  };
}

/** The yield q at which S·e^{(r−q)T} is `forward`. */
export function yieldOfForward(forward: number, spot: number, rate: number, years: number): number {
  return rate - Math.log(forward / spot) / years;
}

const sqrtHalf = Math.SQRT1_2;
const inverseSqrt2Pi = 0.3989422804014327;
const inverseSqrtPi = 0.5641895835477563;

/**
 * erf(x)/x for |x| ≤ 0.46875 as a function of y = x² (W. J. Cody, Rational Chebyshev Approximations for the Error
 * Function, 1969).
 */
function erfOverX(y: number): number {
  const numerator =
    (((0.18577770618460315 * y + 3.1611237438705655) * y + 113.86415415105016) * y + 377.485237685302) * y +
    3209.3775891384694;
  const denominator =
    (((y + 23.601290952344122) * y + 244.02463793444417) * y + 1282.6165260773723) * y + 2844.236833439171;
  return numerator / denominator;
}

/** erfcx(x) for 0.46875 ≤ x ≤ 4 (Cody 1969). */
function erfcxMiddle(x: number): number {
  let numerator = 2.1531153547440383e-8 * x + 0.5641884969886701;
  numerator = (numerator * x + 8.883149794388377) * x + 66.11919063714163;
  numerator = (numerator * x + 298.6351381974001) * x + 881.952221241769;
  numerator = (numerator * x + 1712.0476126340707) * x + 2051.0783778260716;
  numerator = numerator * x + 1230.3393547979972;
  let denominator = x + 15.744926110709835;
  denominator = (denominator * x + 117.6939508913125) * x + 537.1811018620099;
  denominator = (denominator * x + 1621.3895745666903) * x + 3290.7992357334597;
  denominator = (denominator * x + 4362.619090143247) * x + 3439.3676741437216;
  denominator = denominator * x + 1230.3393548037495;
  return numerator / denominator;
}

/** erfcx(x) for x ≥ 4 (Cody 1969). */
function erfcxTail(x: number): number {
  const y = 1 / (x * x);
  const numerator =
    ((((0.016315387137302097 * y + 0.30532663496123236) * y + 0.36034489994980445) * y + 0.12578172611122926) * y +
      0.016083785148742275) *
      y +
    0.0006587491615298378;
  const denominator =
    ((((y + 2.568520192289822) * y + 1.8729528499234604) * y + 0.5279051029514285) * y + 0.06051834131244132) * y +
    0.0023352049762686918;
  return (inverseSqrtPi - (y * numerator) / denominator) / x;
}

/** The scaled complementary error function exp(x²)·erfc(x), to a relative 1e-15; infinite below −26.6. */
export function erfcx(x: number): number {
  const magnitude = x < 0 ? -x : x;
  if (magnitude <= 0.46875) return Math.exp(x * x) * (1 - x * erfOverX(x * x));
  const positive = magnitude <= 4 ? erfcxMiddle(magnitude) : erfcxTail(magnitude);
  // erfcx(−x) = 2·exp(x²) − erfcx(x)
  return x > 0 ? positive : 2 * Math.exp(x * x) - positive;
}

/** The standard normal density. */
export function normalPdf(x: number): number {
  return inverseSqrt2Pi * Math.exp(-0.5 * x * x);
}

/** The standard normal distribution function; the lower tail is relatively accurate down to 1e-300. */
export function normalCdf(x: number): number {
  const z = x * sqrtHalf;
  if (z < 0.46875 && z > -0.46875) return 0.5 + 0.5 * z * erfOverX(z * z);
  const tail = 0.5 * Math.exp(-0.5 * x * x) * erfcx(z < 0 ? -z : z);
  return z < 0 ? tail : 1 - tail;
}

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
