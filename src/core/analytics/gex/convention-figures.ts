import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { type ChainCapture, type ChainRow, isIncomplete, sourceTime } from '../../domain/chain/chain.ts';
import { expiryTest } from '../../domain/chain/expiry-set.ts';
import { contractId } from '../../domain/chain/option-contract.ts';
import type { ConventionChoices, GexConvention } from '../../domain/gex/convention.ts';
import type { FlipStatus } from '../../domain/gex/gex.ts';
import { epochDay, exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { type SolveOptions, sourcePrice } from '../chain/solve-chain.ts';
import { type ChainPricing, chainPricing } from '../chain/stored-pricing.ts';
import type { ChainGroup } from '../pricing/chain-groups.ts';
import { groupKey } from '../pricing/group-market.ts';
import { repricedPositions } from './capture.ts';
import { strikeInterest } from './expiries.ts';
import { flipPoint, flipStatus, gammaProfile, profileCrossing, zeroGamma } from './flip-point.ts';
import {
  addKnown,
  type CountOf,
  type GexRows,
  gexRows,
  netGexOf,
  openInterestOf,
  publishedCoverage,
} from './gex-rows.ts';
import { gexPeaks, maxPain, walls } from './levels.ts';

/** A strike, integer thousandths, with its exposure in the unit of a convention. */
export interface StrikeValue {
  strike: number;
  value: number;
}

/** Figures of a chain in a convention. With too little coverage only those of open interest are known. */
export interface ConventionFigures {
  /** In the unit of the convention. */
  net: number | null;
  /** Dollars; null without a crossing. */
  flip: number | null;
  flipStatus: FlipStatus | null;
  /** Thousandths of a dollar. */
  callWall: number | null;
  putWall: number | null;
  /** Thousandths of a dollar, over all expiries of the convention; null without open interest. */
  maxPain: number | null;
  /** Live expiries of the convention, ascending. */
  expiries: SessionDate[];
  /** Share of the counted contracts whose gamma is known, 0…1; null if there are no strikes. */
  coverage: number | null;
  /** Contracts in the sums. */
  contractCount: number;
  /** Ascending. */
  strikes: StrikeValue[];
}

const countOf: Record<ConventionChoices['weight'], CountOf> = {
  open_interest: openInterestOf,
  volume: ({ volume }) => volume,
  open_interest_and_volume: ({ openInterest, volume }) => addKnown(openInterest, volume),
};

/** Contracts that buyers and sellers initiated in a session so far, by contract path form; absent = none. */
export type SignedVolumes = ReadonlyMap<string, { bought: number; sold: number }>;

/** Dealers are short what was bought less what was sold: a count below 0 for calls, above 0 for puts. */
function countOfFlow(flow: SignedVolumes): CountOf {
  return (row) => {
    const { bought, sold } = flow.get(contractId(row)) ?? { bought: 0, sold: 0 };
    return row.right === 'call' ? sold - bought : bought - sold;
  };
}

/** A row's gamma and volatility, of the chosen source. */
const greeksOf: Record<ConventionChoices['gamma'], (row: ChainRow) => { gamma: number | null; iv: number | null }> = {
  solved: ({ solved }) => solved ?? { gamma: null, iv: null },
  vendor: (row) => row,
};

/** Converts dollars per $1 move, at a price of the underlying. */
const inUnit: Record<ConventionChoices['unit'], (dollars: number, price: number) => number> = {
  per_dollar: (dollars) => dollars,
  per_percent: (dollars, price) => dollars * 0.01 * price,
  shares: (dollars, price) => dollars / price,
};

const weekdaysPerYear = 262;

/** Number of days Monday to Friday before an epoch day, counted from a Monday. */
function weekdaysBefore(day: number): number {
  const days = day + 3; // 1970-01-01 was a Thursday.
  return 5 * Math.floor(days / 7) + Math.min(5, days % 7);
}

/** Years to expiry of weekdays: from the date of the quotes up to the day before expiry, at least one. */
export function weekdayYears(from: SessionDate, expiry: SessionDate): number {
  return Math.max(1, weekdaysBefore(epochDay(expiry)) - weekdaysBefore(epochDay(from))) / weekdaysPerYear;
}

/** A chain with the groups of a convention, at the price of dollar figures. */
interface Chosen {
  chain: ChainCapture;
  convention: GexConvention;
  count: CountOf;
  groups: readonly ChainGroup[];
  price: number;
  pricing: ChainPricing;
}

const column = (rows: readonly ChainRow[], read: (row: ChainRow) => number | null) =>
  Float64Array.from(rows, (row) => read(row) ?? Number.NaN);

/** The price, dollars, at which re-priced net gamma is zero; null if it is nowhere. */
function repricedFlip({ chain, convention, count, groups, price, pricing }: Chosen): number | null {
  const { gamma, years } = convention;
  const iv = column(chain.rows, (row) => greeksOf[gamma](row).iv || null);
  if (years === 'weekdays_262') {
    const from = exchangeDate(sourceTime(chain));
    const market = { spot: price, rate: 0, dividendYield: 0 };
    const dated = groups.map((group) => ({ ...group, ...market, years: weekdayYears(from, group.expiry) }));
    const positions = repricedPositions(chain, { groups: dated, iv, pricingSpot: price }, count);
    return profileCrossing(gammaProfile(positions, price), price);
  }
  const chosen = new Set(groups.map(groupKey));
  const priced = pricing.priced();
  const live = priced.groups.filter((group) => chosen.has(groupKey(group)));
  const positions = repricedPositions(chain, { ...priced, groups: live, iv }, count);
  return zeroGamma(positions, priced.pricingSpot);
}

/** Figures that gammas are part of; null if too few are known. */
async function exposureFigures(chosen: Chosen, rows: GexRows) {
  const { chain, convention, price } = chosen;
  if (publishedCoverage(rows) === null) {
    const status = rows.strikes.length === 0 ? ('no_strikes' as const) : null;
    return { net: null, flip: null, flipStatus: status, callWall: null, putWall: null, strikes: [] };
  }
  const netGex = netGexOf(rows);
  if (convention.flip === 'repriced') await yieldToEventLoop();
  const flip = convention.flip === 'repriced' ? repricedFlip(chosen) : flipPoint(rows.strikes, price);
  const status = { strikeCount: rows.strikes.length, flipPoint: flip, isPartial: isIncomplete(chain), price, netGex };
  const { callGexPeak, putGexPeak } = gexPeaks(rows.sided);
  const scaled = inUnit[convention.unit];
  return {
    net: scaled(netGex, price),
    flip,
    flipStatus: flipStatus({ ...status, grossGex: rows.grossGex }),
    ...(convention.walls === 'net' ? walls(rows.strikes) : { callWall: callGexPeak, putWall: putGexPeak }),
    strikes: rows.strikes.map(({ strike, gex }) => ({ strike, value: scaled(gex, price) })),
  };
}

/** Settings of figures in a convention. */
export interface ConventionOptions extends SolveOptions {
  /** Expiries that are omitted because they have settled; absent = none. */
  settled?: ReadonlySet<SessionDate> | undefined;
}

/**
 * Figures of a chain in a convention (methodology 11); null without a price of the underlying. Takes the stored gammas
 * and volatilities, and solves nothing; `flow` is counted in place of the weight. In the convention of captures, and
 * with their gammas, these are the figures of the chain's GEX capture.
 */
export async function conventionFigures(
  chain: ChainCapture,
  convention: GexConvention,
  options: ConventionOptions,
  flow?: SignedVolumes,
): Promise<ConventionFigures | null> {
  const price = sourcePrice(chain);
  if (price === null) return null;
  const isChosen = expiryTest(convention, chain);
  const { settled, ...solving } = options;
  const pricing = chainPricing(chain, solving);
  const groups = pricing.groups.filter((group) => isChosen(group) && !settled?.has(group.expiry));
  const gamma = column(chain.rows, (row) => greeksOf[convention.gamma](row).gamma);
  const delta = new Float64Array(gamma.length);
  const count = flow ? countOfFlow(flow) : countOf[convention.weight];
  const rows = gexRows(chain, { groups, gamma, delta }, price, count);
  const { strikes, openInterest, coveredInterest, contractCount } = rows;
  return {
    ...(await exposureFigures({ chain, convention, count, groups, price, pricing }, rows)),
    maxPain: maxPain(strikeInterest(groups, chain)),
    expiries: [...new Set(groups.map(({ expiry }) => expiry))],
    coverage: strikes.length === 0 ? null : openInterest === 0 ? 1 : coveredInterest / openInterest,
    contractCount,
  };
}
