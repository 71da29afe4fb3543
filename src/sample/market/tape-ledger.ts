import { regularSession } from '../../domain/calendar.ts';
import type { FlowEventKind, FlowSide } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { CompositionCategory } from '../../domain/stock-trade-conditions.ts';
import { hourMs, minuteMs } from '../../domain/units.ts';

/** A print of a planted event. */
export interface PlantedLeg {
  /** `O:` and the OSI symbol. */
  contract: string;
  exchange: number;
  /** Dollars a share. */
  price: number;
  /** Contracts. */
  size: number;
  side: FlowSide;
  eventTsMs: number;
  /** The position of its line among its contract's in the file, from 1. */
  sequence: number;
}

/** A large trade that is on the tape; all else on it is none. */
export interface PlantedEvent {
  /** The recipe it was made by. */
  recipe: string;
  /** As the engine will name it: kind, first leg's contract, its instant, its sequence. */
  eventId: string;
  eventKind: FlowEventKind;
  underlying: string;
  eventTsMs: number;
  side: FlowSide;
  /** Dollars, exact. */
  premiumUsd: number;
  totalSize: number;
  /** In event time. */
  legs: PlantedLeg[];
}

/** What of an underlying's option tape counts: cancelled and compression trades do not. */
export interface OptionTotal {
  prints: number;
  /** Contracts. */
  volume: number;
  /** Dollars, exact. */
  premiumUsd: number;
}

/** What was put on a session's option tape: written beside it, so that what is computed from it can be checked. */
export interface OptionTapeLedger {
  events: PlantedEvent[];
  /** How many of each recipe were planted that are no event, or no more. */
  nearMisses: Record<string, number>;
  /** Lines of the files. */
  prints: number;
  quotes: number;
  /** Of the prints: cancels, each with its original; trades reported late; compression trades. */
  cancels: number;
  late: number;
  compressions: number;
  totals: Record<string, OptionTotal>;
}

/** Executions of one kind. */
export interface StockTotal {
  prints: number;
  /** Shares. */
  volume: number;
  /** 1e-4 dollars × shares, exact. */
  notionalUnits: number;
}

/** What was put on a session's tape of a stock. */
export interface StockTapeTotals {
  /** All that stands and counts in volume, in and out of regular hours. */
  consolidated: StockTotal;
  offExchange: StockTotal;
  composition: Record<CompositionCategory, StockTotal>;
  /** Shares traded outside regular hours, of `consolidated`. */
  extendedVolume: number;
  /** Dollars; null while the session is in progress. */
  officialClose: number | null;
}

/** What was put on a session's stock tape: written beside it as the option tape's is. */
export interface StockTapeLedger {
  /** Lines of the file. */
  prints: number;
  /** Trades later corrected, trades withdrawn, lines that repeat another. */
  corrected: number;
  withdrawn: number;
  duplicates: number;
  symbols: Record<string, StockTapeTotals>;
}

/** How much is put on the tapes. */
export interface TapeShape {
  /** Option prints of a session, about. */
  optionPrints: number;
  /** Large trades and near misses planted among them. */
  plants: number;
  /** Stock prints of a session, about; every minute has the four that its bar is made of at least. */
  stockPrints: number;
  /** The tickers that have tapes; all when absent. */
  symbols?: readonly string[];
  /** A ticker with so many prints more: the one that people watch, several ticks a second. None when absent. */
  busiest?: { symbol: string; prints: number };
}

/** The tapes of the sample market. */
export const tapeShape: TapeShape = {
  optionPrints: 100_000,
  plants: 400,
  stockPrints: 100_000,
  busiest: { symbol: 'SPY', prints: 120_000 },
};

/** Stocks trade before the open from this minute of the New York day on. */
export const tapeStartMinute = 8 * 60;

/** How long stocks trade beyond the close. */
export const extendedMs = 2 * hourMs;

/** Some options trade a quarter of an hour beyond the close; these do not, but who reads them cannot know. */
export const lateCloseMs = 15 * minuteMs;

/** When the last print of a session has come, epoch ms. */
export function tapeEndMs(session: SessionDate): number {
  return regularSession(session)!.closeMs + extendedMs;
}
