import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { methodologySettings } from '../methodology.ts';
import { blackScholes, europeanVolatility, type OptionInputs, type OptionValue } from './black-scholes.ts';
import { brent } from './brent.ts';
import { type CashDividend, fillExerciseStrikes, noDividends, presentDividends } from './cash-dividends.ts';

/**
 * Inputs of an American option's value. With cash dividends `spot` is the underlying's price less their present value
 * (escrowed), and the yield is the remaining one.
 */
export interface AmericanInputs extends OptionInputs {
  /** Those with an ex-date before expiry, ascending; absent = none. */
  dividends?: readonly CashDividend[] | undefined;
}

/** Value and sensitivities of an American option per share; units as in `OptionValue`. */
type AmericanValue = Pick<OptionValue, 'price' | 'delta' | 'gamma' | 'theta'>;

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

/*
 * Nodes are numbered from the side on which the option is exercised: node m of a level has made m moves away from it
 * (up for a put, down for a call), so that exercised nodes are those up to some m. `near` and `far` are the moves
 * towards and away from exercise. Node m of a level is worth near·(node m) + far·(node m + 1) of the next, or what
 * exercise brings.
 */
const mostSteps = methodologySettings.treeSteps;

// Only one tree exists at a time, so its arrays are allocated once.
const spacing = new Float64Array(mostSteps + 2);
const values = new Float64Array(mostSteps + 2);
const weights = new Float64Array(mostSteps + 1);
// Cost of exercise at each level, dollars: the strike, less coming dividends.
const strikes = new Float64Array(mostSteps + 1);

/** The first three levels of a tree: values at its root, after one step and after two, from the side of exercise. */
interface TreeTop {
  root: number;
  first: [number, number];
  second: [number, number, number];
}

/** An option's American and European value on one Leisen–Reimer tree, with the prices of its nodes. Dollars a share. */
interface Lattice {
  american: TreeTop;
  european: TreeTop;
  /** Prices of the underlying after one step and after two, from the side of exercise. */
  firstPrices: [number, number];
  secondPrices: [number, number, number];
  /** True if immediate exercise is worth at least as much as holding. */
  exercised: boolean;
}

function emptyTop(): TreeTop {
  return { root: 0, first: [0, 0], second: [0, 0, 0] };
}

const lattice: Lattice = {
  american: emptyTop(),
  european: emptyTop(),
  firstPrices: [0, 0],
  secondPrices: [0, 0, 0],
  exercised: false,
};

/**
 * The tree under construction: discounted probabilities, price moves, and sign·price = `scale`·spacing[m] at the last
 * level.
 */
interface Growth {
  steps: number;
  sign: number;
  signedStrike: number;
  nearValue: number;
  farValue: number;
  nearMove: number;
  scale: number;
  /** The last node of the last level that is in the money; −1 when none is. Beyond it everything is worthless. */
  lastPaying: number;
}

const stepGrowth: Growth = {
  steps: 0,
  sign: 1,
  signedStrike: 0,
  nearValue: 0,
  farValue: 0,
  nearMove: 1,
  scale: 0,
  lastPaying: -1,
};

/**
 * Peizer–Pratt inversion (method 2): the probability of an up move for a normal deviate; its complement is that of −z.
 */
function upProbability(z: number, steps: number): number {
  const scaled = z / (steps + 1 / 3 + 0.1 / (steps + 1));
  const excess = Math.exp(-scaled * scaled * (steps + 1 / 6));
  const root = Math.sqrt(1 - excess);
  // The smaller probability without subtracting nearly equal numbers.
  return z > 0 ? 0.5 + 0.5 * root : (0.5 * excess) / (1 + root);
}

/**
 * Fills `weights` with the probabilities of m far moves in `count`, outward from the mode so that none underflows
 * early.
 */
function fillWeights(count: number, far: number, near: number): void {
  const mode = Math.min(count, Math.floor((count + 1) * far));
  weights[mode] = 1;
  let sum = 1;
  for (let m = mode; m < count; m++) {
    weights[m + 1] = (weights[m]! * (count - m) * far) / ((m + 1) * near);
    sum += weights[m + 1]!;
  }
  for (let m = mode; m > 0; m--) {
    weights[m - 1] = (weights[m]! * m * near) / ((count - m + 1) * far);
    sum += weights[m - 1]!;
  }
  for (let m = 0; m <= count; m++) weights[m]! /= sum;
}

/** European values of the second level as binomial sums over the payoffs in `values`; backward from there. */
function europeanTop(top: TreeTop, { steps, nearValue, farValue, lastPaying }: Growth): void {
  const later = steps - 2;
  const discount = nearValue + farValue;
  fillWeights(later, farValue / discount, nearValue / discount);
  let [zero, one, two] = [0, 0, 0];
  for (let m = 0; m <= later && m <= lastPaying; m++) {
    const weight = weights[m]!;
    zero += weight * values[m]!;
    one += weight * values[m + 1]!;
    two += weight * values[m + 2]!;
  }
  const factor = discount ** later;
  const { second, first } = top;
  second[0] = zero * factor;
  second[1] = one * factor;
  second[2] = two * factor;
  first[0] = nearValue * second[0] + farValue * second[1];
  first[1] = nearValue * second[1] + farValue * second[2];
  top.root = nearValue * first[0] + farValue * first[1];
}

function readTop(top: TreeTop, level: number): void {
  if (level === 2) {
    top.second[0] = values[0]!;
    top.second[1] = values[1]!;
    top.second[2] = values[2]!;
  } else if (level === 1) {
    top.first[0] = values[0]!;
    top.first[1] = values[1]!;
  } else if (level === 0) top.root = values[0]!;
}

/** American values, every node compared with exercise at its level's strike. Returns whether the root is exercised. */
function compareEveryNode(top: TreeTop, { steps, sign, nearValue, farValue, nearMove, scale }: Growth): boolean {
  let signedScale = scale;
  let exercised = false;
  for (let level = steps - 1; level >= 0; level--) {
    signedScale /= nearMove;
    const signedStrike = sign * strikes[level]!;
    for (let m = 0; m <= level; m++) {
      const hold = nearValue * values[m]! + farValue * values[m + 1]!;
      const exercise = signedScale * spacing[m]! - signedStrike;
      exercised = exercise >= hold;
      values[m] = exercised ? exercise : hold;
    }
    readTop(top, level);
  }
  return exercised;
}

/**
 * American values if the exercised nodes of a level are 0…boundary and the boundary never rises towards the root: only
 * the nodes between the boundary and the last paying one are computed. Returns whether the root is exercised.
 */
function followBoundary(top: TreeTop, tree: Growth): boolean {
  const { steps, signedStrike, nearValue, farValue, nearMove, lastPaying } = tree;
  let signedScale = tree.scale;
  let boundary = lastPaying;
  for (let level = steps - 1; level >= 0; level--) {
    const nextScale = signedScale;
    signedScale /= nearMove;
    const last = Math.min(level, lastPaying);
    let m = Math.min(boundary, level);
    let above = m < boundary ? nextScale * spacing[m + 1]! - signedStrike : values[m + 1]!;
    for (let hold = boundary + 1; hold <= last; hold++) {
      values[hold] = nearValue * values[hold]! + farValue * values[hold + 1]!;
    }
    for (; m >= 0; m--) {
      const own = nextScale * spacing[m]! - signedStrike;
      const hold = nearValue * own + farValue * above;
      if (signedScale * spacing[m]! - signedStrike >= hold) break;
      values[m] = hold;
      above = own;
    }
    boundary = m;
    if (level <= 2) {
      for (let node = 0; node <= boundary; node++) values[node] = signedScale * spacing[node]! - signedStrike;
      readTop(top, level);
    }
  }
  return boundary >= 0;
}

/** Fills `spacing` and the payoffs of the last level. */
function fillLastLevel(tree: Growth, ratio: number): void {
  const { steps, scale, signedStrike } = tree;
  let power = 1;
  tree.lastPaying = -1;
  for (let m = 0; m <= steps; m++) {
    spacing[m] = power;
    const worth = scale * power - signedStrike;
    values[m] = Math.max(worth, 0);
    if (worth > 0) tree.lastPaying = m;
    power *= ratio;
  }
  values[steps + 1] = 0;
}

/**
 * Values an option on a Leisen–Reimer tree (Binomial Models for Option Valuation, 1996) of `steps`, odd and at most
 * 101, American and European side by side. `spot` is the price without the present value of `dividends`, which exercise
 * before their ex-dates receives. The result is one object, overwritten by the next call. Null if a probability
 * underflows or overflows a double: the price is so far from the strike that only exercise or nothing is left.
 */
export function growLattice(
  right: OptionRight,
  spot: number,
  strike: number,
  years: number,
  rate: number,
  dividendYield: number,
  volatility: number,
  steps: number = mostSteps,
  dividends: readonly CashDividend[] = noDividends,
): Lattice | null {
  const carry = (rate - dividendYield) * years;
  const deviation = volatility * Math.sqrt(years);
  const d1 = (Math.log(spot / strike) + carry) / deviation + 0.5 * deviation;
  // For a call the far move is down: both deviates change sign.
  const sign = right === 'call' ? 1 : -1;
  const far = upProbability(-sign * (d1 - deviation), steps);
  const near = upProbability(sign * (d1 - deviation), steps);
  const step = Math.exp(carry / steps);
  const farMove = (step * upProbability(-sign * d1, steps)) / far;
  const nearMove = (step * upProbability(sign * d1, steps)) / near;
  const extreme = spot * nearMove ** steps;
  if (!(far > 0 && near > 0 && extreme > 0 && Number.isFinite(extreme) && Number.isFinite(farMove ** steps)))
    return null;
  const discount = Math.exp((-rate * years) / steps);
  stepGrowth.steps = steps;
  stepGrowth.sign = sign;
  stepGrowth.signedStrike = sign * strike;
  stepGrowth.nearValue = discount * near;
  stepGrowth.farValue = discount * far;
  stepGrowth.nearMove = nearMove;
  stepGrowth.scale = sign * extreme;
  fillLastLevel(stepGrowth, farMove / nearMove);
  const { firstPrices, secondPrices } = lattice;
  firstPrices[0] = spot * nearMove;
  firstPrices[1] = spot * farMove;
  secondPrices[0] = firstPrices[0] * nearMove;
  secondPrices[1] = firstPrices[0] * farMove;
  secondPrices[2] = firstPrices[1] * farMove;
  europeanTop(lattice.european, stepGrowth);
  if (dividends.length === 0 && hasOneBoundary(right, rate, dividendYield, nearMove)) {
    lattice.exercised = followBoundary(lattice.american, stepGrowth);
  } else {
    fillExerciseStrikes(strikes, { right, strike, years, rate, steps, dividends });
    lattice.exercised = compareEveryNode(lattice.american, stepGrowth);
  }
  return lattice;
}

/**
 * True if one boundary that recedes in time separates exercise from holding: there is a gain from early exercise
 * (interest on the strike of a put, the yield of a call), and the near move is one.
 */
function hasOneBoundary(right: OptionRight, rate: number, dividendYield: number, nearMove: number): boolean {
  return right === 'call' ? dividendYield >= 0 && nearMove > 1 : rate >= 0 && nearMove < 1;
}
