import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { fromThousandths } from '../../domain/units.ts';
import { priceChain, type SolveOptions, sourcePrice } from '../chain/solve-chain.ts';
import { methodologySettings } from '../methodology.ts';
import { americanValue } from '../pricing/american.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import type { ChainGroup } from '../pricing/chain-groups.ts';
import { type GroupMarket, groupKey, type KnownGroup } from '../pricing/group-market.ts';
import { type Mark, type MarkInputs, markOf } from '../pricing/mark.ts';
import { contractVolatility } from '../pricing/smile.ts';

/** A contract that is followed live, and its known prices. */
export interface FollowedContract extends Omit<MarkInputs, 'nowMs'> {
  contract: OptionContract;
}

/** Pricing inputs of one underlying's contracts at a minute boundary. */
export interface MinuteMarket {
  /** The boundary, epoch ms. */
  tsMs: number;
  /**
   * By `root expiry`; for a contract in none of them only its mark is known, as for all if the price of the underlying
   * is unknown.
   */
  groups: ReadonlyMap<string, MinuteGroup>;
}

/** Pricing inputs of the contracts of one root and expiry. */
export type MinuteGroup = Pick<ChainGroup, 'root' | 'years'> &
  Pick<GroupMarket, 'spot' | 'rate' | 'dividendYield' | 'dividends'>;

/**
 * Pricing inputs of a chain's roots and expiries, by `root expiry`, from its quotes; empty without a price of its
 * underlying.
 */
export function chainGroups(chain: ChainCapture, options: SolveOptions): Map<string, KnownGroup> {
  const spot = sourcePrice(chain);
  if (spot === null) return new Map();
  const { groups } = priceChain(chain, spot, options);
  return new Map(
    groups.map(({ rate, dividendYield, forward, dividend, ...group }) => [
      groupKey(group),
      { rate, dividendYield, forward, dividend },
    ]),
  );
}

type Figures = Pick<GreeksSolve, 'iv' | 'delta' | 'gamma'>;
const unknown: Figures = { iv: null, delta: null, gamma: null };

function figuresOf({ contract, quote }: FollowedContract, mark: Mark, { groups }: MinuteMarket): Figures {
  // Groups contain live, unadjusted contracts: the deliverable of an adjusted contract is not a share, so no formula
  // applies.
  const group = groups.get(`${contract.root} ${contract.expiry}`);
  if (group === undefined || mark.source === 'close') return unknown;
  const { root, spot, years, rate, dividendYield, dividends } = group;
  const { right } = contract;
  const strike = fromThousandths(contract.strike);
  const option = { right, spot, strike, years, rate, dividendYield, dividends };
  const american = root.style === 'american';
  const halfSpread = mark.source === 'mid' ? (quote!.ask! - quote!.bid!) / 2 : null;
  const iv = contractVolatility({ ...option, american, mark: mark.price, halfSpread });
  if (Number.isNaN(iv)) return unknown;
  const { delta, gamma } = (american ? americanValue : blackScholes)({ ...option, volatility: iv });
  return { iv, delta, gamma };
}

/** The solve of a contract at a minute boundary (methodology 2); null without a mark, which means no sample. */
export function minuteSolve(followed: FollowedContract, market: MinuteMarket): GreeksSolve | null {
  const nowMs = market.tsMs;
  const mark = markOf({ ...followed, nowMs });
  if (mark === null) return null;
  const { quote } = followed;
  const held = quote !== null && nowMs - quote.tsMs <= methodologySettings.maximumQuoteAgeMs ? quote : null;
  return {
    tsMs: nowMs,
    ...figuresOf(followed, mark, market),
    // The midpoint of two doubles has spurious digits.
    mark: Math.round(mark.price * 1e6) / 1e6,
    markSource: mark.source,
    bid: held?.bid ?? null,
    ask: held?.ask ?? null,
  };
}
