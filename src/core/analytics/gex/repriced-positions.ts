import type { ChainCapture } from '../../domain/chain/chain.ts';
import { fromThousandths } from '../../domain/units.ts';
import type { SolvedChain, SolvedGroup } from '../chain/solve-chain.ts';
import { resolveMultiplier } from '../pricing/chain-groups.ts';
import { type CountOf, openInterestOf } from './gex-rows.ts';
import type { RepricedPosition } from './zero-gamma.ts';

/** A chain's groups with what a re-pricing takes of them, and volatilities parallel to its rows. */
export interface RepricedChain extends Pick<SolvedChain, 'iv' | 'pricingSpot'> {
  groups: readonly Pick<SolvedGroup, 'root' | 'expiry' | 'strikes' | 'years' | 'rate' | 'dividendYield' | 'spot'>[];
}

/** All positions with a known volatility, in the order of the groups. */
export function repricedPositions(
  chain: ChainCapture,
  { groups, iv, pricingSpot }: RepricedChain,
  countOf: CountOf = openInterestOf,
): RepricedPosition[] {
  const positions: RepricedPosition[] = [];
  for (const group of groups) {
    const { years, rate, dividendYield } = group;
    for (const listed of group.strikes) {
      for (const index of [listed.call, listed.put]) {
        const row = chain.rows[index];
        const count = row && countOf(row);
        if (!count || Number.isNaN(iv[index]!)) continue;
        positions.push({
          right: row.right,
          strike: fromThousandths(row.strike),
          openInterest: count,
          multiplier: resolveMultiplier(group, row),
          volatility: iv[index]!,
          years,
          rate,
          dividendYield,
          spotShare: group.spot / pricingSpot,
        });
      }
    }
  }
  return positions;
}
