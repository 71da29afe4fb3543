import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { GexCapture } from '../../domain/gex.ts';
import { fillPrevious, lacksSolves, solveChain, withSolved } from '../chain/solve-chain.ts';
import { computeGexCapture, type GexCaptureOptions } from './capture.ts';

/** Everything that is published of one chain capture. */
export interface SolvedCapture {
  /** The chain as it is stored: where it was solved, each row has what was solved beside what the source said. */
  chain: ChainCapture;
  /** Null when none may be published: no price of the underlying, or too few gammas known. */
  gex: GexCapture | null;
}

/** How one capture is solved. */
export interface CaptureSettings extends Pick<GexCaptureOptions, 'gammaSource' | 'rate' | 'roots'> {
  /**
   * Volatilities that the session solved before this capture, by contract path form; asked for only where the quotes
   * leave gaps.
   */
  previousSolves: () => Promise<ReadonlyMap<string, number>>;
}

/**
 * Solves one capture: chain, spot and time in, everything published out. What reads chains, what computes stored ones
 * again, and tests call this one function, and nothing else decides what a capture says: for one chain, settings and
 * earlier solves the result is the same to the last bit. What the chain's rows already hold of an earlier solve is
 * replaced. Minute solves, of single contracts, are made with the same market (`chainMarket`) and the same pricing
 * (`contractVolatility`).
 */
export async function solveCapture(given: ChainCapture, settings: CaptureSettings): Promise<SolvedCapture> {
  const { gammaSource, rate, roots, previousSolves } = settings;
  const chain = unsolvedChain(given, rate);
  if (gammaSource === 'vendor') return { chain, gex: computeGexCapture(chain, { gammaSource, rate, roots }) };
  const options = { rate, roots, allGreeks: true };
  const solved = solveChain(chain, options);
  if (lacksSolves(solved)) fillPrevious(chain, solved, await previousSolves(), options);
  return {
    chain: withSolved(chain, solved),
    gex: computeGexCapture(chain, { gammaSource, rate, roots, solved }),
  };
}

/** A chain as its source gave it, to be priced with a rate. */
function unsolvedChain(chain: ChainCapture, rate: number): ChainCapture {
  if (!chain.rows.some(({ solved }) => solved !== undefined)) return { ...chain, rate };
  return { ...chain, rate, rows: chain.rows.map(({ solved: _, ...row }) => row) };
}
