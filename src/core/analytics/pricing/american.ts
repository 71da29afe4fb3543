import { methodologySettings } from '../methodology.ts';
import { blackScholes, type OptionInputs, type OptionValue } from './black-scholes.ts';
import { brent } from './brent.ts';
import { type CashDividend, noDividends, presentDividends } from './cash-dividends.ts';
import { europeanVolatility } from './implied-volatility.ts';
import { growLattice, type Lattice, type TreeTop } from './lattice.ts';

/**
 * Inputs of an American option's value. With cash dividends `spot` is the underlying's price less their present value
 * (escrowed), and the yield is the remaining one.
 */
export interface AmericanInputs extends OptionInputs {
  /** Those with an ex-date before expiry, ascending; absent = none. */
  dividends?: readonly CashDividend[] | undefined;
}

/** Value and sensitivities of an American option per share; units as in `OptionValue`. */
export type AmericanValue = Pick<OptionValue, 'price' | 'delta' | 'gamma' | 'theta'>;

const { treeSteps, coarseTreeSteps } = methodologySettings;

/** Absolute tolerance of a solved volatility. */
const volatilityTolerance = 1e-6;
const leastVolatility = 1e-4;

/** True if early exercise never pays. */
function neverExercised({ right, rate, dividendYield, dividends = noDividends }: AmericanInputs): boolean {
  if (right === 'put') return rate <= 0 && dividendYield >= 0;
  return dividendYield <= 0 && rate >= 0 && dividends.length === 0;
}

/** Early-exercise premium over the European price in a tree of `steps`, dollars per share. */
function treePremium(inputs: AmericanInputs, steps: number): number {
  const { right, spot, strike, years, rate, dividendYield, volatility, dividends } = inputs;
  const tree = growLattice(right, spot, strike, years, rate, dividendYield, volatility, steps, dividends);
  return tree === null ? 0 : tree.american.root - tree.european.root;
}

/**
 * Early-exercise premium over the European price, dollars per share; zero if it never pays. A tree exercises only at
 * its steps, with an error that falls as 1/N: extrapolating from two trees leaves a tenth of it. A call on a share with
 * dividends is exercised at their ex-dates, which the tree has exactly.
 */
function exercisePremium(inputs: AmericanInputs): number {
  if (neverExercised(inputs)) return 0;
  return extrapolated(inputs, treePremium(inputs, treeSteps));
}

function extrapolated(inputs: AmericanInputs, fine: number): number {
  if (!(fine > 1e-9 * inputs.spot)) return 0;
  if (inputs.right === 'call' && inputs.dividends?.length) return fine;
  const coarse = treePremium(inputs, coarseTreeSteps);
  return Math.max(0, (treeSteps * fine - coarseTreeSteps * coarse) / (treeSteps - coarseTreeSteps));
}

/** Value of immediate exercise, dollars per share: before an ex-date, at the price with its dividend. */
function intrinsicValue({ right, spot, strike, rate, dividends = noDividends }: Omit<AmericanInputs, 'volatility'>) {
  const price = spot + presentDividends(dividends, rate);
  return Math.max(0, right === 'call' ? price - strike : strike - price);
}

/**
 * Without volatility the price is known at every instant, and the option is exercised at the best one: now, at expiry,
 * before an ex-date, or at the sign change of the gain of waiting, ±(r·K·e^{−rt} − q·S·e^{−qt}), in between.
 */
function certainValue(inputs: AmericanInputs): AmericanValue {
  const { right, spot, strike, years, rate, dividendYield, dividends = noDividends } = inputs;
  const sign = right === 'call' ? 1 : -1;
  const worthAt = (time: number) => {
    const stillToCome = presentDividends(dividends, rate, time) * Math.exp(-rate * time);
    return sign * (spot * Math.exp(-dividendYield * time) + stillToCome - strike * Math.exp(-rate * time));
  };
  const turning = Math.log((rate * strike) / (dividendYield * spot)) / (rate - dividendYield);
  let best = 0;
  for (const time of [years, turning, ...dividends.map((dividend) => dividend.years)])
    if (time > 0 && time <= years && worthAt(time) > worthAt(best)) best = time;
  const price = worthAt(best);
  if (!(price > 0)) return { price: 0, delta: 0, gamma: 0, theta: 0 };
  const spotValue = spot * Math.exp(-dividendYield * best);
  const theta = best === years ? sign * (dividendYield * spotValue - rate * strike * Math.exp(-rate * best)) : 0;
  return { price, delta: (sign * spotValue) / spot, gamma: 0, theta };
}

function treeDelta({ firstPrices }: Lattice, { first }: TreeTop): number {
  return (first[1] - first[0]) / (firstPrices[1] - firstPrices[0]);
}

function treeGamma({ secondPrices }: Lattice, { second }: TreeTop): number {
  const upper = (second[2] - second[1]) / (secondPrices[2] - secondPrices[1]);
  const lower = (second[1] - second[0]) / (secondPrices[1] - secondPrices[0]);
  return (2 * (upper - lower)) / (secondPrices[2] - secondPrices[0]);
}

/**
 * An American option's price, delta, gamma and theta. Each is the European formula's value plus the difference between
 * the American and the European reading of one tree, so that the tree's own error cancels; theta follows from the
 * others by the pricing equation. An option that is best exercised immediately has its intrinsic value: delta ±1, gamma
 * and theta 0.
 */
export function americanValue(inputs: AmericanInputs): AmericanValue {
  const { right, spot, strike, years, rate, dividendYield, volatility, dividends } = inputs;
  if (!(volatility > 0) && years > 0) return certainValue(inputs);
  const european = blackScholes(inputs);
  const intrinsic = intrinsicValue(inputs);
  // Deep in the money and without carry the two are equal, and rounding may put the European price below it.
  if (neverExercised(inputs) || !(years > 0)) return { ...european, price: Math.max(intrinsic, european.price) };
  const tree = growLattice(right, spot, strike, years, rate, dividendYield, volatility, treeSteps, dividends);
  if (tree === null && european.price >= intrinsic) return european;
  if (tree === null || tree.exercised) {
    return { price: intrinsic, delta: right === 'call' ? 1 : -1, gamma: 0, theta: 0 };
  }
  const size = european.delta + treeDelta(tree, tree.american) - treeDelta(tree, tree.european);
  const delta = right === 'call' ? Math.min(1, Math.max(0, size)) : Math.max(-1, Math.min(0, size));
  const gamma = Math.max(0, european.gamma + treeGamma(tree, tree.american) - treeGamma(tree, tree.european));
  const premium = extrapolated(inputs, tree.american.root - tree.european.root);
  const price = Math.max(intrinsic, european.price + premium);
  const theta = rate * price - (rate - dividendYield) * spot * delta - 0.5 * (volatility * spot) ** 2 * gamma;
  return { price, delta, gamma, theta };
}

/** An American option's price, dollars a share: that of its value. */
export function americanPrice(inputs: AmericanInputs): number {
  return americanValue(inputs).price;
}

/**
 * Vega of an American option, dollars per 1.00 of volatility: the European vega plus the slope of the exercise premium.
 */
export function americanVega(inputs: AmericanInputs): number {
  if (!(inputs.volatility > 0)) return 0;
  const step = 0.01 * inputs.volatility;
  const above = exercisePremium({ ...inputs, volatility: inputs.volatility + step });
  const below = exercisePremium({ ...inputs, volatility: inputs.volatility - step });
  return Math.max(0, blackScholes(inputs).vega + (above - below) / (2 * step));
}

/**
 * The volatility, annualized fraction, at which an American option is worth `price` (dollars per share). NaN if there
 * is none: the price is at or below its intrinsic value, or at or above its upper bound. The European volatility of the
 * same price is never lower, and nearly right: Brent's method starts from it, to 1e-6.
 */
export function americanVolatility(price: number, option: Omit<AmericanInputs, 'volatility'>): number {
  const { right, spot, strike, years, rate, dividendYield } = option;
  const forward = spot * Math.exp((rate - dividendYield) * years);
  const european = europeanVolatility(right, price, forward, strike, years, Math.exp(-rate * years));
  const inputs: AmericanInputs = { ...option, volatility: european };
  if (Number.isNaN(european) || neverExercised(inputs)) return european;
  if (price <= intrinsicValue(inputs)) return Number.NaN;
  const excessAt = (volatility: number): number => {
    inputs.volatility = volatility;
    return blackScholes(inputs).price + exercisePremium(inputs) - price;
  };
  const excess = exercisePremium(inputs);
  const slope = blackScholes(inputs).vega;
  if (!(excess > 0.5 * volatilityTolerance * slope)) return european;
  let width = Math.min(0.5 * european, (1.25 * excess) / slope);
  let low = european - width;
  let lowExcess = excessAt(low);
  while (lowExcess > 0) {
    width *= 2;
    low = Math.max(leastVolatility, low - width);
    lowExcess = excessAt(low);
    if (low === leastVolatility && lowExcess > 0) return Number.NaN;
  }
  return brent(excessAt, low, lowExcess, european, excess, volatilityTolerance);
}

/**
 * The yield q at which an American call and put of one strike have the same volatility: without their early-exercise
 * premiums they obey parity. NaN if the prices admit none. Prices in dollars per share; a guess near the solution saves
 * iterations.
 */
export function americanYield(
  callPrice: number,
  putPrice: number,
  { spot, strike, years, rate, dividends }: Pick<AmericanInputs, 'spot' | 'strike' | 'years' | 'rate' | 'dividends'>,
  guess = Number.NaN,
): number {
  const discount = Math.exp(-rate * years);
  // Exercise earns interest on the strike. At a spot that is too low the yield would take the rest for growth of the
  // price, and grow with the premium that follows from it.
  const growth = Math.exp(-methodologySettings.leastYield * years) - 1;
  const mostPutPremium = strike * Math.max(0, 1 - discount) + spot * growth;
  let callPremium = 0;
  let putPremium = 0;
  let dividendYield = guess;
  for (let iteration = 0; iteration < 60; iteration++) {
    const call = callPrice - callPremium;
    const put = putPrice - putPremium;
    const implied = strike + (call - put) / discount;
    if (!(implied > 0)) return Number.NaN;
    const next = rate - Math.log(implied / spot) / years;
    if (Math.abs(next - dividendYield) < 1e-9) return next;
    // The first premiums are those of the guess.
    if (iteration > 0 || Number.isNaN(dividendYield)) dividendYield = next;
    const forward = spot * Math.exp((rate - dividendYield) * years);
    const right = forward > strike ? 'put' : 'call';
    const volatility = europeanVolatility(right, right === 'put' ? put : call, forward, strike, years, discount);
    if (Number.isNaN(volatility)) return Number.NaN;
    const option = { spot, strike, years, rate, dividendYield, volatility, dividends };
    callPremium = exercisePremium({ ...option, right: 'call' });
    putPremium = Math.min(mostPutPremium, exercisePremium({ ...option, right: 'put' }));
  }
  return dividendYield;
}
