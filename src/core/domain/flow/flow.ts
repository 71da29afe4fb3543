import type { OptionContract } from '../chain/option-contract.ts';
import type { SessionDate } from '../market-time.ts';

export const flowEventKinds = ['single_block', 'sweep', 'multi_leg'] as const;
export type FlowEventKind = (typeof flowEventKinds)[number];

export const flowSides = ['buy_inferred', 'sell_inferred', 'neutral', 'unknown'] as const;
export type FlowSide = (typeof flowSides)[number];

/** One contract's part of a detected large trade (spec 2.13). */
export interface FlowLeg {
  contract: OptionContract;
  /** Dollars per share. */
  price: number;
  /** Contracts. */
  size: number;
  premiumUsd: number;
  /** The tape's exchange id. */
  exchange: number;
  /** The tape's condition ids. */
  conditions: number[];
  eventTsMs: number;
  /** Sequence number of the print on the tape. */
  sequence: number;
  side: FlowSide;
  multiLeg: boolean;
}

/** Figures of an event: each is a column of the store and a field of the graph of the same name. */
export interface EventFigures {
  /** Lowest and highest leg price, dollars per share. */
  priceLow: number;
  priceHigh: number;
  side: FlowSide;
  multiLeg: boolean;
}

/** A detected large trade (spec 2.13, methodology 3). */
export interface FlowEvent extends EventFigures {
  /** `<kind>:<contract path form>:<event_ts_ms>:<sequence of the first leg>` (contract-notes 2). */
  eventId: string;
  eventKind: FlowEventKind;
  underlying: string;
  /** The first leg's instant. */
  eventTsMs: number;
  /** Legs by time, then sequence. A single block has one. */
  legs: FlowLeg[];
  /** Contracts. */
  totalSize: number;
  premiumUsd: number;
}

/** A large trade in the feed of its underlying. */
export interface LargeTrade {
  symbol: string;
  /** Sequence number; increases with every event of the feed. */
  seq: number;
  coverage: Coverage;
  event: FlowEvent;
}

/** Number of large trades, and their premium, dollars. */
export interface LargeTradesTotal {
  count: number;
  premiumUsd: number;
}

/** Traded contracts, dollars of premium and prints, by right (spec 2.14). */
export interface FlowMeasures {
  callVolume: number;
  putVolume: number;
  callPremiumUsd: number;
  putPremiumUsd: number;
  callTradeCount: number;
  putTradeCount: number;
}

export const flowMeasureNames = [
  'callVolume',
  'putVolume',
  'callPremiumUsd',
  'putPremiumUsd',
  'callTradeCount',
  'putTradeCount',
] as const satisfies readonly (keyof FlowMeasures)[];

/** Premium of an underlying's options in one minute, dollars. */
export interface PremiumMinute {
  /** Start of the minute, epoch ms. */
  tsMs: number;
  callPremiumUsd: number;
  putPremiumUsd: number;
}

/** Premium by minute in columns. */
export type PremiumColumns = Readonly<Record<keyof PremiumMinute, Float64Array>>;

/** The cumulative flow of a session by strike and by expiration; both add up to the same totals (methodology 4). */
export interface CrossSection {
  symbol: string;
  /** Sequence number; increases with every snapshot of the session. */
  seq: number;
  coverage: Coverage;
  /** Ascending by strike, integer thousandths of a dollar. */
  byStrike: { strikeThousandths: number; measures: FlowMeasures }[];
  /** Ascending by expiry. */
  byExpiration: { expiry: SessionDate; measures: FlowMeasures }[];
  /** Premium by minute of its prints, ascending; absent where it was not counted, and as a snapshot is served. */
  minutes?: PremiumMinute[];
}

/** Names of end-of-day lists: `free` ranks equity options, `pro` index options too (contract-notes 2). */
export const rankedListNames = ['free', 'pro'] as const;
export type RankedListName = (typeof rankedListNames)[number];

/** Number of prints of an end-of-day list (spec 2.15). */
export const rankedListSize = 100;

/** One print of an end-of-day list (spec 2.15). */
export interface RankedPrint {
  /** `<event_id>#<leg index>`. */
  printId: string;
  eventId: string;
  underlying: string;
  contract: OptionContract;
  /** Dollars per share. */
  price: number;
  /** Contracts. */
  size: number;
  premiumUsd: number;
  exchange: number;
  conditions: number[];
  eventTsMs: number;
  sequence: number;
  sessionDate: SessionDate;
  coverageStatus: CoverageStatus;
  /** 1 = largest premium of the list. */
  rank: number;
}

/** A session's end-of-day list: of one underlying, or over all the list's symbols (`scope` `*`). */
export interface RankedList {
  scope: string;
  list: RankedListName;
  sessionDate: SessionDate;
  coverageStatus: CoverageStatus;
  scannedAtMs: number;
  /** Its source; informational. */
  source: string;
  /** Ascending by rank. */
  prints: RankedPrint[];
}

const coverageStatuses = ['observed_live', 'eod_reconciled'] as const;
export type CoverageStatus = (typeof coverageStatuses)[number];

/** The observed part of a session's tape (spec 2.12). */
export interface Coverage {
  status: CoverageStatus;
  /** Never true while live. */
  complete: boolean;
  sessionDate: SessionDate;
  observedFromMs: number;
  observedThroughMs: number;
  registryVersion: number;
  /** True if premium assumes the standard 100-share multiplier. */
  standardMultiplierAssumed: boolean;
}

/** The coverage as of `nowMs`: later observations are not known yet, and nothing unfinished counts as complete. */
export function coverageAt(coverage: Coverage, nowMs: number): Coverage {
  if (coverage.observedThroughMs > nowMs) {
    return { ...coverage, status: 'observed_live', complete: false, observedThroughMs: nowMs };
  }
  return { ...coverage, complete: coverage.complete && coverage.status === 'eod_reconciled' };
}
