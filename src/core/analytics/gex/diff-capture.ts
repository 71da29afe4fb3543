import type { ExpiryInputs } from '../../domain/chain/capture-inputs.ts';
import { type ChainCapture, type ChainRow, usedGreeks } from '../../domain/chain/chain.ts';
import type { OptionRoot, OptionRoots } from '../../domain/chain/option-root.ts';
import type { Dividend } from '../../domain/market/dividends.ts';
import { greeksAt, sourcePrice } from '../chain/solve-chain.ts';
import { chainPricing } from '../chain/stored-pricing.ts';
import { type ChainGroup, resolveMultiplier } from '../pricing/chain-groups.ts';
import { type ForwardMarket, type StoredMarket, spotOf, storedMarket } from '../pricing/chain-market.ts';
import { groupKey } from '../pricing/group-market.ts';
import { gex } from './exposure.ts';

/** A stored capture, with everything that its exposures are re-priced from. */
export interface PricedCapture {
  chain: ChainCapture;
  /** The price of the underlying that the quotes imply, dollars; null when they imply none. */
  impliedSpot: number | null;
  /** Pricing inputs of each root and expiry. */
  inputs: readonly ExpiryInputs[];
  /** All dividends of the underlying that are stored, for a chain without a pricing of its own. */
  dividends: readonly Dividend[];
}

/** A contract's line in a capture, as far as its exposure goes. */
export interface Holding extends Partial<GammaTerms> {
  row: ChainRow;
  /** Contracts; unknown counts as none, as in the rows of a capture. */
  openInterest: number;
  multiplier: number;
}

/** Exposure of a holding had it a gamma, at a price of the underlying; dollars per $1 move. */
export function exposureOf(
  { row: { right }, openInterest, multiplier }: Holding,
  gamma: number,
  price: number,
): number {
  return gex({ right, gamma, openInterest, multiplier }, price);
}

/** The live groups of a capture by `root expiry`, and the markets that they were priced in. */
export class CaptureSide {
  /** The price of dollar figures. */
  readonly price: number;
  readonly impliedSpot: number | null;
  readonly groups: ReadonlyMap<string, ChainGroup>;
  private readonly chain: ChainCapture;
  private readonly markets = new Map<string, StoredMarket>();

  constructor({ chain, impliedSpot, inputs, dividends }: PricedCapture, roots: OptionRoots) {
    this.chain = chain;
    this.price = sourcePrice(chain) ?? 0;
    this.impliedSpot = impliedSpot;
    const { groups } = chainPricing(chain, { rate: 0, roots });
    this.groups = new Map(groups.map((group) => [groupKey(group), group]));
    for (const { market, ...terms } of chain.pricing?.groups ?? [])
      if (market) this.markets.set(groupKey(terms), { ...market, years: terms.years, isExact: true });
    if (chain.pricing) return;
    const terms = { known: dividends, price: this.price };
    for (const each of inputs) {
      const key = `${each.root} ${each.expiry}`;
      const group = this.groups.get(key);
      if (group) this.markets.set(key, storedMarket(group, each, chain, terms));
    }
  }

  /** The market of a group; undefined if nothing is stored of it. */
  market(key: string): StoredMarket | undefined {
    return this.markets.get(key);
  }

  /** The holding of the row at `index` of the chain, −1 = not listed; null then. */
  holding(key: string, index: number): Holding | null {
    const row = this.chain.rows[index];
    const group = this.groups.get(key);
    if (!row || !group) return null;
    const { gamma, iv } = usedGreeks(row);
    return {
      row,
      openInterest: row.openInterest ?? 0,
      multiplier: resolveMultiplier(group, row),
      ...(gamma === null ? {} : { gamma }),
      ...(iv !== null && iv > 0 ? { volatility: iv } : {}),
      isModelled: this.isModelled(key, row),
    };
  }

  /** True if a row's gamma is that of its volatility in the market of its group. */
  private isModelled(key: string, { solved }: ChainRow): boolean {
    const isSolved = solved !== undefined && solved.origin !== 'source' && solved.origin !== 'absent';
    return isSolved && (this.markets.get(key)?.isExact ?? false);
  }
}

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
function gammaIn(
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
