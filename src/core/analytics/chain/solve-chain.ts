import { type ChainCapture, type ChainRow, type SolvedGreeks, solveOrigins } from '../../domain/chain/chain.ts';
import { contractId } from '../../domain/chain/option-contract.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { fromThousandths } from '../../domain/units.ts';
import { type AmericanInputs, americanValue, americanVega } from '../pricing/american.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import { type ChainGroup, groupChain } from '../pricing/chain-groups.ts';
import { chainMarket } from '../pricing/chain-market.ts';
import type { GroupMarket } from '../pricing/group-market.ts';
import type { MarketReference } from '../pricing/group-rate.ts';
import type { ImpliedSpot } from '../pricing/implied-spot.ts';
import { quoteMid } from '../pricing/mark.ts';
import { isWithinBounds, solveSmile } from '../pricing/smile.ts';

/** Settings of a chain's solve. */
export interface SolveOptions extends MarketReference {
  /** Absent = the built-in list. */
  roots?: OptionRoots | undefined;
  /** The session's last solved volatility by contract path form, used if this chain implies none. */
  previousSolves?: ReadonlyMap<string, number> | undefined;
  /** True to compute theta and vega too, which exposures do not use. */
  allGreeks?: boolean | undefined;
}

/** A group with its pricing inputs. */
export interface SolvedGroup extends ChainGroup, GroupMarket {}

/** The pricing inputs of a chain, before any contract is solved. */
export interface PricedChain extends ImpliedSpot {
  /** The price of the underlying with which options are priced, dollars. */
  pricingSpot: number;
  groups: SolvedGroup[];
}

/** Solved figures parallel to the chain's rows; NaN = unknown. */
export interface SolvedChain extends PricedChain {
  /** Annualized fraction. */
  iv: Float64Array;
  delta: Float64Array;
  /** Change of delta per $1. */
  gamma: Float64Array;
  /** Dollars per day; NaN unless all greeks were requested. */
  theta: Float64Array;
  /** Dollars per vol point; NaN unless all greeks were requested. */
  vega: Float64Array;
  /** Index into `solveOrigins`. */
  origin: Uint8Array;
}

const previous = solveOrigins.indexOf('previous');
const source = solveOrigins.indexOf('source');

/** Derives the pricing inputs of a chain's groups; `spot` is the source's price, dollars. */
export function priceChain(chain: ChainCapture, spot: number, options: SolveOptions): PricedChain {
  const groups = groupChain(chain, options.roots);
  const market = chainMarket(chain, groups, spot, options);
  return { ...market, groups: groups.map((group, i) => ({ ...group, ...market.groups[i]! })) };
}

/** Columns of `length` rows without known values. */
export function unsolved(length: number, priced: PricedChain): SolvedChain {
  const unknown = () => new Float64Array(length).fill(Number.NaN);
  return {
    iv: unknown(),
    delta: unknown(),
    gamma: unknown(),
    theta: unknown(),
    vega: unknown(),
    origin: new Uint8Array(length),
    ...priced,
  };
}

/** The source's price of a chain's underlying, dollars: its spot, else its prior close; null if both are unknown. */
export function sourcePrice({ spot, priorCloseSpot }: Pick<ChainCapture, 'spot' | 'priorCloseSpot'>): number | null {
  const price = spot ?? priorCloseSpot;
  return price !== null && price > 0 ? price : null;
}

const unpriced: PricedChain = { impliedSpot: null, spotStale: null, pricingSpot: Number.NaN, groups: [] };

/**
 * Implied volatility, delta and gamma of every live contract of a chain: from its own quotes, else by interpolation,
 * else from the session's last solve, else the source's own greeks. Expired contracts and adjusted roots stay unknown,
 * and so does everything without a price of the underlying.
 */
export function solveChain(chain: ChainCapture, options: SolveOptions): SolvedChain {
  const spot = sourcePrice(chain);
  if (spot === null) return unsolved(chain.rows.length, unpriced);
  const solved = unsolved(chain.rows.length, priceChain(chain, spot, options));
  for (const group of solved.groups) {
    const smile = solveSmile(group, chain.rows, group);
    group.strikes.forEach(({ call, put }, i) => {
      for (const index of [call, put]) {
        if (index < 0) continue;
        const task: Task = { solved, index, row: chain.rows[index]!, group, options };
        if (smile.origin[i]! > 0) fill(task, smile.volatility[i]!, smile.origin[i]!);
        else fallBack(task);
      }
    });
  }
  return solved;
}

/** True if a live contract's figures are from neither this chain's quotes nor an earlier solve. */
const isUnsolved = (origin: number) => origin === 0 || origin === source;

function* unsolvedRows({ groups, origin }: SolvedChain): Generator<{ group: SolvedGroup; index: number }> {
  for (const group of groups)
    for (const { call, put } of group.strikes)
      for (const index of [call, put]) if (index >= 0 && isUnsolved(origin[index]!)) yield { group, index };
}

/** True if earlier solves of the session could complete this chain's. */
export function lacksSolves(solved: SolvedChain): boolean {
  return !unsolvedRows(solved).next().done;
}

/** Fills gaps of a chain from the session's last solves: volatilities by contract path form. */
export function fillPrevious(
  chain: ChainCapture,
  solved: SolvedChain,
  previousSolves: ReadonlyMap<string, number>,
  options: SolveOptions,
): void {
  for (const { group, index } of [...unsolvedRows(solved)])
    fallBack({ solved, index, row: chain.rows[index]!, group, options: { ...options, previousSolves } });
}

/** One contract to be filled in. */
interface Task {
  solved: SolvedChain;
  index: number;
  row: ChainRow;
  group: SolvedGroup;
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

/** Copies the source's greeks of a contract. Sources write 0 for an unknown volatility. */
export function copySource({ iv, delta, gamma, theta, vega }: SolvedChain, index: number, row: ChainRow): void {
  iv[index] = row.iv !== null && row.iv > 0 ? row.iv : Number.NaN;
  delta[index] = row.delta ?? Number.NaN;
  gamma[index] = row.gamma ?? Number.NaN;
  theta[index] = row.theta ?? Number.NaN;
  vega[index] = row.vega ?? Number.NaN;
}

/** Inputs of a group's greeks beside their volatility. */
export type GreeksMarket = Pick<SolvedGroup, 'root' | 'spot' | 'years' | 'rate' | 'dividendYield' | 'dividends'>;

/**
 * Greeks of a contract at a volatility, in the market of its group and the units of a chain: theta in dollars per day,
 * vega in dollars per vol point. Vega is computed on demand: an American one takes two more trees.
 */
export function greeksAt(
  { right, strike }: Pick<ChainRow, 'right' | 'strike'>,
  group: GreeksMarket,
  volatility: number,
) {
  const { spot, years, rate, dividendYield, dividends } = group;
  const option = { right, spot, strike: fromThousandths(strike), years, rate, dividendYield, volatility };
  const inputs: AmericanInputs = { ...option, dividends };
  const american = group.root.style === 'american';
  const { delta, gamma, theta } = american ? americanValue(inputs) : blackScholes(inputs);
  const vega = () => 0.01 * (american ? americanVega(inputs) : blackScholes(inputs).vega);
  return { delta, gamma, theta: theta / 365, vega };
}

function fill({ solved, index, row, group, options }: Task, volatility: number, origin: number): void {
  const { delta, gamma, theta, vega } = greeksAt(row, group, volatility);
  solved.iv[index] = volatility;
  solved.delta[index] = delta;
  solved.gamma[index] = gamma;
  solved.origin[index] = origin;
  if (!options.allGreeks) return;
  solved.theta[index] = theta;
  solved.vega[index] = vega();
}

/** By the index of each live contract with a mid: true if the mid is between the contract's lower and upper bounds. */
function withinBounds(chain: ChainCapture, { groups }: PricedChain): Map<number, boolean> {
  const within = new Map<number, boolean>();
  for (const { strikes, root, ...group } of groups) {
    for (const { dollars: strike, call, put } of strikes) {
      for (const index of [call, put]) {
        const row = chain.rows[index];
        const mid = row ? quoteMid(row.bid, row.ask) : null;
        if (!row || mid === null) continue;
        const american = root.style === 'american';
        within.set(index, isWithinBounds({ ...group, right: row.right, strike, american }, mid));
      }
    }
  }
  return within;
}

/**
 * A chain with the solved figures of its contracts beside the source's. Expired and adjusted contracts are `absent`.
 */
export function withSolved(chain: ChainCapture, solved: SolvedChain): ChainCapture {
  const known = (value: number) => (Number.isNaN(value) ? null : value);
  const bounds = withinBounds(chain, solved);
  const rows = chain.rows.map((row, i): ChainRow => {
    const { iv, delta, gamma, theta, vega } = solved;
    const within = bounds.get(i);
    const greeks = { iv: known(iv[i]!), delta: known(delta[i]!), gamma: known(gamma[i]!) };
    const origin = solveOrigins[solved.origin[i]!]!;
    const figures: SolvedGreeks = { ...greeks, theta: known(theta[i]!), vega: known(vega[i]!), origin };
    return { ...row, solved: within === undefined ? figures : { ...figures, withinBounds: within } };
  });
  return { ...chain, rows };
}
