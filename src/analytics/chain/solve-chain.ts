import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { contractId } from '../../domain/chain/option-contract.ts';
import { fromThousandths } from '../../domain/units.ts';
import { americanValue, americanVega } from '../pricing/american.ts';
import { blackScholes, type OptionInputs } from '../pricing/black-scholes.ts';
import { type ChainGroup, groupChain, type RootLookup } from '../pricing/chain-groups.ts';
import { dividendYields } from '../pricing/dividend-yields.ts';
import { solveSmile } from '../pricing/smile.ts';

/** How a chain is solved. */
export interface SolveOptions {
  /** Risk-free rate, continuous. */
  rate: number;
  /** Known roots; the standard facts hold for the others. */
  roots?: RootLookup | undefined;
  /** The session's last solved volatility by contract path form, used where this chain has none. */
  previousSolves?: ReadonlyMap<string, number> | undefined;
  /** Also works out theta and vega, which exposures do not need. */
  allGreeks?: boolean | undefined;
}

/** Where a contract's gamma came from. */
export const gammaOrigins = ['absent', 'outOfTheMoney', 'inTheMoney', 'interpolated', 'previous', 'source'] as const;

/** A group with its forward and yield; `rate` is the chain's. */
export interface SolvedGroup extends ChainGroup {
  rate: number;
  dividendYield: number;
  /** Dollars. */
  forward: number;
}

/** Solved figures parallel to the chain's rows; NaN = unknown. */
export interface SolvedChain {
  /** Annualized fraction. */
  iv: Float64Array;
  delta: Float64Array;
  /** Change of delta per $1. */
  gamma: Float64Array;
  /** Dollars a day; NaN unless all greeks were asked for. */
  theta: Float64Array;
  /** Dollars per vol point; NaN unless all greeks were asked for. */
  vega: Float64Array;
  /** Index into `gammaOrigins`. */
  origin: Uint8Array;
  groups: SolvedGroup[];
}

const previous = gammaOrigins.indexOf('previous');
const source = gammaOrigins.indexOf('source');

/** Forwards and yields of a chain's groups, with no contract solved. */
export function solveForwards(chain: ChainCapture, spot: number, { rate, roots }: SolveOptions): SolvedGroup[] {
  const groups = groupChain(chain, roots);
  const yields = dividendYields(groups, chain.rows, spot, rate);
  return groups.map((group, i) => {
    const dividendYield = yields[i]!;
    return { ...group, rate, dividendYield, forward: spot * Math.exp((rate - dividendYield) * group.years) };
  });
}

/** Columns for `length` rows of which nothing is known. */
export function unsolved(length: number, groups: SolvedGroup[]): SolvedChain {
  const unknown = () => new Float64Array(length).fill(Number.NaN);
  return {
    iv: unknown(),
    delta: unknown(),
    gamma: unknown(),
    theta: unknown(),
    vega: unknown(),
    origin: new Uint8Array(length),
    groups,
  };
}

/**
 * Implied volatility, delta and gamma of every live contract of a chain, from its own quotes; where a strike has none by
 * interpolation, else from the session's last solve, else the source's own greeks. Expired contracts and adjusted roots stay
 * unknown, and so does everything when the chain has no price of its underlying.
 */
export function solveChain(chain: ChainCapture, options: SolveOptions): SolvedChain {
  const spot = chain.spot ?? chain.priorCloseSpot;
  if (spot === null || !(spot > 0)) return unsolved(chain.rows.length, []);
  const solved = unsolved(chain.rows.length, solveForwards(chain, spot, options));
  for (const group of solved.groups) {
    const smile = solveSmile(group, chain.rows, { spot, rate: group.rate, dividendYield: group.dividendYield });
    group.strikes.forEach(({ call, put }, i) => {
      for (const index of [call, put]) {
        if (index < 0) continue;
        const task: Task = { solved, index, row: chain.rows[index]!, group, spot, options };
        if (smile.origin[i]! > 0) fill(task, smile.volatility[i]!, smile.origin[i]!);
        else fallBack(task);
      }
    });
  }
  return solved;
}

/** Whether a live contract's figures are neither from this chain's quotes nor from a solve before. */
const isUnsolved = (origin: number) => origin === 0 || origin === source;

function* unsolvedRows({ groups, origin }: SolvedChain): Generator<{ group: SolvedGroup; index: number }> {
  for (const group of groups)
    for (const { call, put } of group.strikes)
      for (const index of [call, put]) if (index >= 0 && isUnsolved(origin[index]!)) yield { group, index };
}

/** Whether solves made before in the session could add to this chain's quotes. */
export function lacksSolves(solved: SolvedChain): boolean {
  return !unsolvedRows(solved).next().done;
}

/** Fills what a chain's quotes did not give from the session's last solves: volatilities by contract path form. */
export function fillPrevious(
  chain: ChainCapture,
  solved: SolvedChain,
  previousSolves: ReadonlyMap<string, number>,
  options: SolveOptions,
): void {
  const spot = (chain.spot ?? chain.priorCloseSpot)!;
  for (const { group, index } of [...unsolvedRows(solved)])
    fallBack({ solved, index, row: chain.rows[index]!, group, spot, options: { ...options, previousSolves } });
}

/** One contract to be filled in. */
interface Task {
  solved: SolvedChain;
  index: number;
  row: ChainRow;
  group: SolvedGroup;
  spot: number;
  options: SolveOptions;
}

function fallBack(task: Task): void {
  const { solved, index, row, options } = task;
  const last = options.previousSolves?.get(contractId(row));
  if (last !== undefined && last > 0) {
    fill(task, last, previous);
  } else if (row.gamma !== null) {
    copySource(solved, index, row);
    solved.origin[index] = source;
  }
}

/** Takes over what the source says of a contract. Sources write 0 for a volatility they do not have. */
export function copySource({ iv, delta, gamma, theta, vega }: SolvedChain, index: number, row: ChainRow): void {
  iv[index] = row.iv !== null && row.iv > 0 ? row.iv : Number.NaN;
  delta[index] = row.delta ?? Number.NaN;
  gamma[index] = row.gamma ?? Number.NaN;
  theta[index] = row.theta ?? Number.NaN;
  vega[index] = row.vega ?? Number.NaN;
}

function fill({ solved, index, row, group, spot, options }: Task, volatility: number, origin: number): void {
  const { years, rate, dividendYield } = group;
  const strike = fromThousandths(row.strike);
  const inputs: OptionInputs = { right: row.right, spot, strike, years, rate, dividendYield, volatility };
  const american = group.root.style === 'american';
  const value = american ? americanValue(inputs) : blackScholes(inputs);
  solved.iv[index] = volatility;
  solved.delta[index] = value.delta;
  solved.gamma[index] = value.gamma;
  solved.origin[index] = origin;
  if (!options.allGreeks) return;
  solved.theta[index] = value.theta / 365;
  solved.vega[index] = 0.01 * (american ? americanVega(inputs) : blackScholes(inputs).vega);
}
