import type { PricedCapture } from '../../src/core/analytics/gex/diff-capture.ts';
import { solveCapture } from '../../src/core/analytics/gex/solve-capture.ts';
import { americanPrice } from '../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../src/core/analytics/pricing/black-scholes.ts';
import type { ExpiryInputs } from '../../src/core/domain/chain/capture-inputs.ts';
import type { ChainCapture, ChainRow, SolveOrigin } from '../../src/core/domain/chain/chain.ts';
import type { OptionRight } from '../../src/core/domain/chain/option-contract.ts';
import { lastInstant, standardRoots } from '../../src/core/domain/chain/option-root.ts';
import type { GexCapture } from '../../src/core/domain/gex/gex.ts';
import type { Dividend } from '../../src/core/domain/market/dividends.ts';
import { chainCapture, chainRow } from './option-market.ts';

/** One market's inputs of a gamma: forward F, strike K, years T, volatility, rate r, yield q. */
export interface BlackInputs {
  forward: number;
  strike: number;
  years: number;
  volatility: number;
  rate: number;
  dividendYield: number;
}

/** Gamma per $1 of spot by Black's formula, written for the tests alone. */
export function blackGamma({ forward, strike, years, volatility, rate, dividendYield }: BlackInputs): number {
  const width = volatility * Math.sqrt(years);
  const d1 = Math.log(forward / strike) / width + width / 2;
  const spot = forward / Math.exp((rate - dividendYield) * years);
  return (Math.exp(-dividendYield * years) * Math.exp((-d1 * d1) / 2)) / (Math.sqrt(2 * Math.PI) * spot * width);
}

/** A contract of a hand-made capture. */
export interface HandMadeContract {
  root: string;
  expiry: string;
  right: OptionRight;
  /** Dollars. */
  strike: number;
  openInterest: number | null;
  volume?: number | null;
  /** Null = unknown. */
  volatility: number | null;
  /** In place of Black's. */
  gamma?: number | null;
  origin?: SolveOrigin;
}

/** Parts of a hand-made capture. */
export interface HandMadeMarket {
  atMs: number;
  spot: number;
  impliedSpot?: number | null;
  /** The market of each root and expiry, without the years, which follow from the time. */
  groups: readonly (Pick<ExpiryInputs, 'root' | 'expiry'> & Partial<ExpiryInputs> & { forward: number })[];
  contracts: readonly HandMadeContract[];
  dividends?: readonly Dividend[];
}

/** Years from an instant to the end of a root's contracts. */
export function yearsLeft(root: string, expiry: string, atMs: number): number {
  return (lastInstant(expiry, standardRoots.of(root).settlement) - atMs) / (365 * 86_400_000);
}

/** A capture as it is stored, whose gammas are Black's in the markets that it states. */
export function handMadeCapture(made: HandMadeMarket): PricedCapture {
  const inputs = made.groups.map(
    (group): ExpiryInputs => ({
      rate: 0,
      dividendYield: 0,
      dividend: null,
      years: yearsLeft(group.root, group.expiry, made.atMs),
      ...group,
    }),
  );
  const rows = made.contracts.map((contract): ChainRow => {
    const { root, expiry, right, strike, openInterest, volume = null, volatility: iv } = contract;
    const group = inputs.find((each) => each.root === root && each.expiry === expiry);
    const own = group && iv !== null ? blackGamma({ ...group, strike, volatility: iv }) : null;
    const { gamma = own, origin = 'outOfTheMoney' } = contract;
    const solved = { iv, gamma, delta: 0.5, theta: null, vega: null, origin };
    return chainRow({ root, expiry, right, strike: strike * 1000, openInterest, volume, solved });
  });
  const underlying = standardRoots.of(made.contracts[0]?.root ?? 'SPX').underlying;
  return {
    chain: chainCapture(underlying, made.atMs, rows, { spot: made.spot }),
    impliedSpot: made.impliedSpot === undefined ? made.spot : made.impliedSpot,
    inputs,
    dividends: made.dividends ?? [],
  };
}

/** Parts of a chain's quotes. */
export interface QuotedMarket {
  root: string;
  atMs: number;
  spot: number;
  volatility: number;
  expiries: readonly string[];
  /** Dollars. */
  strikes: readonly number[];
  openInterest: (strike: number, right: OptionRight) => number;
  volume?: number;
  /** Dollars that the spot loses until an expiry. */
  paidBy?: (years: number) => number;
}

/** A chain quoted a cent either side of what its options are worth at 4.5 % of interest. */
export function quotedChain(market: QuotedMarket): ChainCapture {
  const { root, atMs, spot, volatility, expiries, strikes, openInterest, volume = 7, paidBy = () => 0 } = market;
  const { underlying, style } = standardRoots.of(root);
  const contracts = expiries.flatMap((expiry) =>
    strikes.flatMap((strike) => (['call', 'put'] as const).map((right) => ({ expiry, strike, right }))),
  );
  const rows = contracts.map(({ expiry, strike, right }) => {
    const years = yearsLeft(root, expiry, atMs);
    const option = { right, strike, years, volatility, rate: 0.045, dividendYield: 0, spot: spot - paidBy(years) };
    const price = style === 'american' ? americanPrice(option) : blackScholes(option).price;
    const quote = { bid: price - 0.01, ask: price + 0.01, openInterest: openInterest(strike, right), volume };
    return chainRow({ root, expiry, right, strike: strike * 1000, ...quote });
  });
  return chainCapture(underlying, atMs, rows, { spot });
}

/** A chain solved as it is stored, and its GEX capture. */
export async function solvedPair(
  chain: ChainCapture,
  dividends: readonly Dividend[] = [],
): Promise<{ chain: ChainCapture; gex: GexCapture }> {
  const settings = { rate: 0.045, dividends, gammaSource: 'solve', previousSolves: async () => new Map() } as const;
  const { chain: stored, gex } = await solveCapture(chain, settings);
  return { chain: stored, gex: gex! };
}
