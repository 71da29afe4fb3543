import type { ExpiryInputs } from '../../domain/chain/capture-inputs.ts';
import { type ChainCapture, type ChainRow, sourceTime } from '../../domain/chain/chain.ts';
import type { Dividend } from '../../domain/market/dividends.ts';
import { type CashDividend, noDividends } from './cash-dividends.ts';
import type { ChainGroup } from './chain-groups.ts';
import { carriedForward } from './forward.ts';
import {
  type ComingDividend,
  cashOf,
  comingDividends,
  dividendsBefore,
  inferredDividend,
  knownInferred,
  pricedDividend,
  yearsBefore,
} from './group-dividends.ts';
import { forwardMarkets, type GroupMarket, groupKey, type KnownGroups, spotMarkets } from './group-market.ts';
import type { MarketReference } from './group-rate.ts';
import { type ImpliedSpot, impliedSpotOf } from './implied-spot.ts';
import { centred, firstQuoted, isEuropean, type PairedGroup, quotedGroups } from './quoted-groups.ts';
import { quotedPairs } from './quoted-pairs.ts';

/** Pricing inputs of a chain. */
export interface ChainMarket extends ImpliedSpot {
  /** The price of the underlying with which options are priced, dollars: the implied one if the source's is stale. */
  pricingSpot: number;
  /** Parallel to the groups. */
  groups: GroupMarket[];
}

const nothingKnown: KnownGroups = new Map();

/**
 * The price of the underlying around which the money is searched, dollars: the source's, unless a pair of the first
 * expiry puts it more than 3% away.
 */
function moneyOf(groups: readonly PairedGroup[], spot: number, reference: MarketReference, quotedAt: number): number {
  const first = firstQuoted(groups);
  if (first === null) return spot;
  const coming = comingDividends(reference.dividends ?? [], quotedAt, spot);
  const { centre, present } = centred(first, { money: spot, reference, coming });
  return centre + present;
}

/** The coming dividends: those of the dataset, else one implied by the quotes, now or in an earlier chain. */
function dividendsToCome(
  groups: readonly ChainGroup[],
  rows: readonly ChainRow[],
  { dividends = [] }: MarketReference,
  { known, ...at }: { money: number; quotedAt: number; known: KnownGroups },
): readonly ComingDividend[] {
  const coming = comingDividends(dividends, at.quotedAt, at.money);
  if (coming.length > 0) return coming;
  const american = groups.filter((group) => !isEuropean(group) && group.root.followsSpot);
  const inferred = knownInferred(known.values(), at.quotedAt) ?? inferredDividend(american, rows, at);
  return inferred === null ? [] : [inferred];
}

/**
 * Derives the pricing inputs of a chain (methodology 2): the forward of every group from parity, the implied price of
 * the underlying, dividends, rates, and yields consistent with it. `spot` is the source's price, dollars. Call and put
 * of a strike then have one volatility within their quotes, even if spot and quotes have different times.
 */
export function chainMarket(
  chain: Pick<ChainCapture, 'rows' | 'capturedAt' | 'delayMs'>,
  groups: readonly ChainGroup[],
  spot: number,
  reference: MarketReference,
  known: KnownGroups = nothingKnown,
): ChainMarket {
  const quotedAt = sourceTime(chain);
  const paired = groups.map((group): PairedGroup => ({ ...group, pairs: quotedPairs(group, chain.rows) }));
  const inputs = {
    isKnown: (group: ChainGroup) => known.has(groupKey(group)),
    rateOf: (group: ChainGroup) => known.get(groupKey(group))?.rate,
  };
  const at = (money: number) => {
    const coming = dividendsToCome(groups, chain.rows, reference, { money, quotedAt, known });
    const quoted = quotedGroups(paired, { money, reference, coming }, inputs);
    return { quoted, ...impliedSpotOf(quoted, spot, (group) => known.get(groupKey(group))?.dividendYield) };
  };
  let found = at(moneyOf(paired, spot, reference, quotedAt));
  if (found.spotStale) found = at(found.impliedSpot!);
  const { quoted, impliedSpot, spotStale } = found;
  const pricingSpot = spotStale ? impliedSpot! : spot;
  const followsSpot = (group: ChainGroup) => group.root.followsSpot;
  const onSpot = spotMarkets(quoted.filter(followsSpot), pricingSpot, known);
  const onForwards = forwardMarkets(
    quoted.filter((group) => !followsSpot(group)),
    spot,
    known,
  );
  return {
    impliedSpot,
    spotStale,
    pricingSpot,
    groups: quoted.map((group) => (followsSpot(group) ? onSpot : onForwards).shift()!),
  };
}

/** Pricing inputs of a group with its forward in place of the spot, which follows from it. */
export interface ForwardMarket {
  /** Dollars. */
  forward: number;
  years: number;
  /** Risk-free, continuous, a fraction a year. */
  rate: number;
  /** Continuous yield beyond the dividends, a fraction a year. */
  dividendYield: number;
  /** Those that go ex before expiry, ascending. */
  dividends: readonly CashDividend[];
}

/** The market that a stored capture priced a group in. */
export interface StoredMarket extends ForwardMarket {
  /**
   * True if its contracts re-priced in it have the stored greeks. False if several dividends were known whose sum alone
   * is stored: all of it then counts at the first ex-date.
   */
  isExact: boolean;
}

/** The price that options are priced with in a market, dollars. */
export function spotOf({ forward, rate, dividendYield, years }: ForwardMarket): number {
  return forward / carriedForward(1, rate, dividendYield, years);
}

/** A capture's terms that decide which dividends its contracts were priced with. */
interface DividendTerms {
  /** All dividends of the underlying that are stored now. */
  known: readonly Dividend[];
  /** The price that those stated as a share of it are of, dollars. */
  price: number;
}

/** Derives the market of a group from what is stored of it. */
export function storedMarket(
  group: Pick<ChainGroup, 'expiry' | 'years'>,
  { forward, rate, dividendYield, dividend }: Omit<ExpiryInputs, 'years'>,
  chain: Pick<ChainCapture, 'capturedAt' | 'delayMs'>,
  { known, price }: DividendTerms,
): StoredMarket {
  const market = { forward, years: group.years, rate, dividendYield };
  if (dividend === null) return { ...market, dividends: noDividends, isExact: true };
  const quotedAt = sourceTime(chain);
  const coming = dividendsBefore(group, comingDividends(known, quotedAt, price));
  const priced = pricedDividend(coming);
  if (dividend.source === 'dataset' && priced?.exDate === dividend.exDate && priced.amount === dividend.amount)
    return { ...market, dividends: cashOf(coming), isExact: true };
  const only = { amount: dividend.amount, years: yearsBefore(dividend.exDate, quotedAt) };
  return { ...market, dividends: [only], isExact: dividend.source === 'inferred' };
}
