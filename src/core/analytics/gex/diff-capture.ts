import type { ExpiryInputs } from '../../domain/chain/capture-inputs.ts';
import { type ChainCapture, type ChainRow, usedGreeks } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import type { Dividend } from '../../domain/market/dividends.ts';
import { sourcePrice } from '../chain/solve-chain.ts';
import { chainPricing } from '../chain/stored-pricing.ts';
import { type ChainGroup, resolveMultiplier } from '../pricing/chain-groups.ts';
import { groupKey } from '../pricing/group-market.ts';
import { type StoredMarket, storedMarket } from '../pricing/stored-market.ts';
import type { GammaTerms } from './diff-steps.ts';
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
      ...{ row, openInterest: row.openInterest ?? 0, multiplier: resolveMultiplier(group, row) },
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
