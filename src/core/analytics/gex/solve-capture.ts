import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { GexCapture } from '../../domain/gex/gex.ts';
import { withFilledGreeks } from '../chain/filled-greeks.ts';
import { fillPrevious, lacksSolves, solveChain, sourcePrice, withSolved } from '../chain/solve-chain.ts';
import { pricingToStore } from '../chain/stored-pricing.ts';
import type { MarketReference } from '../pricing/market-reference.ts';
import { computeGexCapture, type GexCaptureOptions, takeVendor } from './capture.ts';

/** The published figures of one chain capture. */
export interface SolvedCapture {
  /** The chain as stored: if it was solved, each row has the solved values beside the source's. */
  chain: ChainCapture;
  /** Null if none may be published: no price of the underlying, or too few known gammas. */
  gex: GexCapture | null;
}

/** Settings of one capture's solve. */
export interface CaptureSettings extends MarketReference, Pick<GexCaptureOptions, 'gammaSource' | 'roots'> {
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
