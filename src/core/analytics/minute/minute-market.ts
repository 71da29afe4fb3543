import { sessionOf } from '../../domain/calendar.ts';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { methodologySettings } from '../methodology.ts';
import { groupChain } from '../pricing/chain-groups.ts';
import { chainMarket } from '../pricing/chain-market.ts';
import { groupKey, type KnownGroups } from '../pricing/group-market.ts';
import type { MarketReference } from '../pricing/group-rate.ts';
import type { FollowedContract, MinuteMarket } from './solve.ts';

/** Inputs of a minute's market, beside the quotes. */
export interface MinuteInputs {
  underlying: string;
  tsMs: number;
  /** Dollars; null if unknown. */
  spot: number | null;
  reference: MarketReference;
  /** Pricing inputs of the last chain, by `root expiry`; empty without one. */
  chain: KnownGroups;
  roots: OptionRoots;
}

function rowOf({ contract, quote }: Pick<FollowedContract, 'contract' | 'quote'>, tsMs: number): ChainRow {
  const isFresh = quote !== null && tsMs - quote.tsMs <= methodologySettings.maximumQuoteAgeMs;
  return {
    ...contract,
    ...unknownNumbers,
    bid: isFresh ? quote.bid : null,
    ask: isFresh ? quote.ask : null,
    sharesPerContract: 100,
  };
}

/**
 * Pricing inputs of followed contracts at a minute's boundary: forwards and implied spot from the quotes in force, as
 * for a chain. Rates, an inferred dividend and the yield of an American root are the last chain's, since they change
 * slowly, else from the quotes; the yield of a European root, and the forward of one that options follow, are the last
 * chain's only if the quotes imply no forward.
 */
export function minuteMarket(
  followed: readonly Pick<FollowedContract, 'contract' | 'quote'>[],
  { underlying, tsMs, spot, reference, chain, roots }: MinuteInputs,
): MinuteMarket {
  if (spot === null) return { tsMs, groups: new Map() };
  const rows = followed.map((one) => rowOf(one, tsMs));
  const capture: ChainCapture = {
    underlying,
    capturedAt: tsMs,
    sessionDate: sessionOf(tsMs),
    spot,
    priorCloseSpot: null,
    partial: true,
    rows,
  };
  const groups = groupChain(capture, roots);
  const market = chainMarket(capture, groups, spot, reference, chain);
  return { tsMs, groups: new Map(groups.map((group, i) => [groupKey(group), { ...group, ...market.groups[i]! }])) };
}
