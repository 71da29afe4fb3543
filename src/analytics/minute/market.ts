import { sessionOf } from '../../domain/calendar.ts';
import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { methodologySettings } from '../methodology.ts';
import { groupChain } from '../pricing/chain-groups.ts';
import { chainMarket, type KnownYields, yieldKey } from '../pricing/chain-market.ts';
import type { FollowedContract, MinuteMarket } from './solve.ts';

/** What a minute's market is made from, beside the quotes. */
export interface MinuteInputs {
  underlying: string;
  tsMs: number;
  /** Dollars; null when unknown. */
  spot: number | null;
  rate: number;
  /** The yields of the last chain by `root expiry`; empty without one. */
  chain: KnownYields;
}

function rowOf({ contract, quote }: Pick<FollowedContract, 'contract' | 'quote'>, tsMs: number): ChainRow {
  const isFresh = quote !== null && tsMs - quote.tsMs <= methodologySettings.maximumQuoteAgeMs;
  return {
    ...contract,
    ...{ bid: isFresh ? quote.bid : null, ask: isFresh ? quote.ask : null },
    ...{ openInterest: null, volume: null, last: null, fmv: null },
    ...{ iv: null, delta: null, gamma: null, theta: null, vega: null, sharesPerContract: 100 },
  };
}

/**
 * What followed contracts are priced in at a minute's boundary: forwards and implied spot from the quotes in force, as
 * of a chain. The yield of an American root is the last chain's, since it is a matter of days, else from the quotes; of
 * a European one the last chain's only where the quotes give no forward.
 */
export function minuteMarket(
  followed: readonly Pick<FollowedContract, 'contract' | 'quote'>[],
  { underlying, tsMs, spot, rate, chain }: MinuteInputs,
): MinuteMarket {
  if (spot === null) return { tsMs, rate, groups: new Map() };
  const rows = followed.map((one) => rowOf(one, tsMs));
  const capture: ChainCapture = {
    ...{ underlying, capturedAt: tsMs, sessionDate: sessionOf(tsMs), spot, priorCloseSpot: null, partial: true, rows },
  };
  const groups = groupChain(capture);
  const market = chainMarket(groups, rows, spot, rate, chain);
  return {
    tsMs,
    rate,
    groups: new Map(groups.map((group, i) => [yieldKey(group), { ...group, ...market.groups[i]! }])),
  };
}
