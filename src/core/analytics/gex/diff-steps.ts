import type { ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRoot } from '../../domain/chain/option-root.ts';
import { greeksAt } from '../chain/solve-chain.ts';
import { type ForwardMarket, type StoredMarket, spotOf } from '../pricing/stored-market.ts';

/** The markets of a group on the way from one capture to another: each has one more factor at its new value. */
export interface MarketSteps {
  root: OptionRoot;
  before: StoredMarket;
  spot: ForwardMarket;
  time: ForwardMarket;
  after: StoredMarket;
}

/**
 * The markets in between (methodology 10). `spotRatio`: the new price of the underlying over the old one, by which
 * forwards move with the spot; those of roots on forwards are that factor themselves. A factor that does not move
 * leaves the market the same object.
 */
export function marketSteps(
  root: OptionRoot,
  before: StoredMarket,
  after: StoredMarket,
  spotRatio: number,
): MarketSteps {
  const forward = root.followsSpot ? before.forward * spotRatio : after.forward;
  const spot: ForwardMarket = forward === before.forward ? before : { ...before, forward };
  return { root, before, spot, time: after.years === spot.years ? spot : atTime(spot, after.years), after };
}

/** A market at another time: dividends come nearer as expiry does, and those that went ex meanwhile are gone. */
function atTime(market: ForwardMarket, years: number): ForwardMarket {
  const moved = market.dividends.map((dividend) => ({ ...dividend, years: dividend.years + years - market.years }));
  return { ...market, years, dividends: moved.filter((dividend) => dividend.years >= 0) };
}

/** A contract's figures in a capture that its gammas on the way follow from. */
export interface GammaTerms {
  /** The gamma that its exposure is computed from. */
  gamma: number;
  /** Annualized fraction. */
  volatility: number;
  /** True if that gamma is the one that re-pricing gives. */
  isModelled: boolean;
}

/** Gamma of a contract in a market, per $1. */
export function gammaIn(
  contract: Pick<ChainRow, 'right' | 'strike'>,
  root: OptionRoot,
  market: ForwardMarket,
  volatility: number,
): number {
  return greeksAt(contract, { ...market, root, spot: spotOf(market) }, volatility).gamma;
}

/**
 * Gammas of a contract at the start, after the step of the spot, of time, and of volatility. Only those between the two
 * captures are re-priced, unless the source gave the gammas.
 */
export function gammaSteps(
  contract: Pick<ChainRow, 'right' | 'strike'>,
  { root, before, spot, time, after }: MarketSteps,
  old: GammaTerms,
  now: GammaTerms,
): [number, number, number, number] {
  const at = (market: ForwardMarket, { volatility }: GammaTerms) => gammaIn(contract, root, market, volatility);
  const start = old.isModelled ? old.gamma : at(before, old);
  const moved = spot === before ? start : at(spot, old);
  const later = time === spot ? moved : at(time, old);
  return [start, moved, later, now.isModelled ? now.gamma : at(after, now)];
}
