import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { methodologySettings } from '../methodology.ts';
import { type CashDividend, fillExerciseStrikes, noDividends } from './cash-dividends.ts';

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
export interface TreeTop {
  root: number;
  first: [number, number];
  second: [number, number, number];
}

/** An option's American and European value on one Leisen–Reimer tree, with the prices of its nodes. Dollars a share. */
export interface Lattice {
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

const growth: Growth = {
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
  growth.steps = steps;
  growth.sign = sign;
  growth.signedStrike = sign * strike;
  growth.nearValue = discount * near;
  growth.farValue = discount * far;
  growth.nearMove = nearMove;
  growth.scale = sign * extreme;
  fillLastLevel(growth, farMove / nearMove);
  const { firstPrices, secondPrices } = lattice;
  firstPrices[0] = spot * nearMove;
  firstPrices[1] = spot * farMove;
  secondPrices[0] = firstPrices[0] * nearMove;
  secondPrices[1] = firstPrices[0] * farMove;
  secondPrices[2] = firstPrices[1] * farMove;
  europeanTop(lattice.european, growth);
  if (dividends.length === 0 && hasOneBoundary(right, rate, dividendYield, nearMove)) {
    lattice.exercised = followBoundary(lattice.american, growth);
  } else {
    fillExerciseStrikes(strikes, { right, strike, years, rate, steps, dividends });
    lattice.exercised = compareEveryNode(lattice.american, growth);
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
