import type { StoredPricing } from '../../domain/chain/capture-inputs.ts';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type ChainGroup, groupChain, strikesByGroup } from '../pricing/chain-groups.ts';
import { type PricedChain, priceChain, type SolvedGroup, type SolveOptions, sourcePrice } from './solve-chain.ts';

/** The pricing of a chain that was just solved, to be stored with it; `priced` null: no price of its underlying. */
export function pricingToStore(
  chain: ChainCapture,
  priced: PricedChain | null,
  roots: OptionRoots | undefined,
): StoredPricing {
  if (priced === null) {
    const groups = groupChain(chain, roots).map(({ strikes: _, ...terms }) => ({ ...terms, market: null }));
    return { impliedSpot: null, spotStale: null, pricingSpot: null, groups };
  }
  const { impliedSpot, spotStale, pricingSpot, groups } = priced;
  const terms = ({ root, expiry, years, strikes: _, ...market }: SolvedGroup) => ({ root, expiry, years, market });
  return { impliedSpot, spotStale, pricingSpot, groups: groups.map(terms) };
}

/** The groups of a chain with exposures, and their market. */
export interface ChainPricing {
  groups: readonly ChainGroup[];
  /** To be called only with a price of the underlying. */
  priced(): PricedChain;
}

/** The pricing of a chain: as it is stored with it; of one that an earlier version stored, from its quotes again. */
export function chainPricing(chain: ChainCapture, options: SolveOptions): ChainPricing {
  const { pricing } = chain;
  if (!pricing) {
    let priced: PricedChain | null = null;
    return {
      groups: groupChain(chain, options.roots),
      priced: () => (priced ??= priceChain(chain, sourcePrice(chain)!, options)),
    };
  }
  const strikes = strikesByGroup(chain);
  const groups = pricing.groups.flatMap(({ root, expiry, years, market }) => {
    const listed = strikes.get(`${expiry} ${root.root}`);
    return listed ? [{ root, expiry, years, strikes: listed, ...market } as SolvedGroup] : [];
  });
  const { impliedSpot, spotStale } = pricing;
  return { groups, priced: () => ({ impliedSpot, spotStale, pricingSpot: pricing.pricingSpot!, groups }) };
}
