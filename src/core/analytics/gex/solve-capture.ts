import { type ChainCapture, type ChainRow, type FilledGreek, filledGreekNames } from '../../domain/chain/chain.ts';
import type { GexCapture } from '../../domain/gex/gex.ts';
import {
  fillPrevious,
  greeksAt,
  lacksSolves,
  type SolvedGroup,
  solveChain,
  sourcePrice,
  withSolved,
} from '../chain/solve-chain.ts';
import { pricingToStore } from '../chain/stored-pricing.ts';
import type { MarketReference } from '../pricing/group-rate.ts';
import { computeGexCapture, type GexCaptureOptions, takeVendor } from './capture.ts';

/** The published figures of one chain capture. */
interface SolvedCapture {
  /** The chain as stored: if it was solved, each row has the solved values beside the source's. */
  chain: ChainCapture;
  /** Null if none may be published: no price of the underlying, or too few known gammas. */
  gex: GexCapture | null;
}

/** Settings of one capture's solve. */
interface CaptureSettings extends MarketReference, Pick<GexCaptureOptions, 'gammaSource' | 'roots'> {
  /**
   * Volatilities that the session solved before this capture, by contract path form; called only if the quotes leave
   * gaps.
   */
  previousSolves: () => Promise<ReadonlyMap<string, number>>;
}

/**
 * Solves one capture: from chain, spot and time to everything published. Reading chains, recomputing stored ones, and
 * tests all call this function, and nothing else decides a capture's figures: for one chain, settings and earlier
 * solves the result is identical to the last bit. Earlier solves in the chain's rows are replaced. Minute solves, of
 * single contracts, use the same market (`chainMarket`) and the same pricing (`contractVolatility`).
 */
export async function solveCapture(given: ChainCapture, settings: CaptureSettings): Promise<SolvedCapture> {
  const { previousSolves, gammaSource, ...market } = settings;
  const chain = unsolvedChain(given, market.rate);
  if (gammaSource === 'vendor') {
    const price = sourcePrice(chain);
    const solved = price === null ? undefined : takeVendor(chain, price, market);
    const pricing = pricingToStore(chain, solved ?? null, market.roots);
    return {
      chain: { ...withFilledGreeks(chain, solved?.groups ?? []), pricing },
      gex: computeGexCapture(chain, { ...market, gammaSource, solved }),
    };
  }
  const options = { ...market, allGreeks: true };
  const solved = solveChain(chain, options);
  if (lacksSolves(solved)) fillPrevious(chain, solved, await previousSolves(), options);
  const pricing = pricingToStore(chain, sourcePrice(chain) === null ? null : solved, market.roots);
  return {
    chain: { ...withFilledGreeks(withSolved(chain, solved), solved.groups), pricing },
    gex: computeGexCapture(chain, { ...market, gammaSource, solved }),
  };
}

/** A chain with its source's values only, for pricing at a rate. */
function unsolvedChain(chain: ChainCapture, rate: number): ChainCapture {
  // Its pricing is that of a solve.
  const { pricing: _, ...given } = chain;
  const isGiven = ({ solved, filled }: ChainCapture['rows'][number]) => solved === undefined && filled === undefined;
  if (chain.rows.every(isGiven)) return { ...given, rate };
  return { ...given, rate, rows: chain.rows.map(({ solved: _s, filled: _f, ...row }) => row) };
}

/** True for a row whose source gives a volatility and lacks a greek. */
const lacksGreeks = (row: ChainRow) =>
  row.iv !== null && row.iv > 0 && filledGreekNames.some((name) => row[name] === null);

/** The missing greeks of a row, at the source's volatility; null if one cannot be computed. */
function lackingGreeks(row: ChainRow, group: SolvedGroup): Partial<Record<FilledGreek, number>> | null {
  const { vega, ...greeks } = greeksAt(row, group, row.iv!);
  const filled = filledGreekNames
    .filter((name) => row[name] === null)
    .map((name) => [name, name === 'vega' ? vega() : greeks[name]] as const);
  return filled.every(([, value]) => Number.isFinite(value)) ? Object.fromEntries(filled) : null;
}

/**
 * A chain with greeks filled in at the source's volatility, in the market in which the chain is priced; `groups`
 * contain it. Exposures are not based on them.
 */
function withFilledGreeks(chain: ChainCapture, groups: readonly SolvedGroup[]): ChainCapture {
  if (!chain.rows.some(lacksGreeks)) return chain;
  const rows = [...chain.rows];
  for (const group of groups)
    for (const { call, put } of group.strikes)
      for (const index of [call, put]) {
        const row = rows[index];
        const filled = row && lacksGreeks(row) ? lackingGreeks(row, group) : null;
        if (filled) rows[index] = { ...row!, filled };
      }
  return { ...chain, rows };
}
