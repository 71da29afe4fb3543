import type { TradedContract } from '../chain/contract-book.ts';

/*
 * Executions and quotes as the tape engine takes them. The engine copies what it stores, so that a reader may fill one
 * object again and again. Prices are integers of 1e-4 dollars: their sums are exact, and the order of arrival changes
 * no figure.
 */

/** Price units in a dollar. */
export const priceUnits = 10_000;

/** A price in dollars as an integer of 1e-4 dollars; finer prices are rounded. */
export function toPriceUnits(dollars: number): number {
  return Math.round(dollars * priceUnits);
}

/** Nanoseconds in a millisecond. */
const nanosInMs = 1_000_000;

/** One execution of an option contract. */
export interface OptionPrint {
  contract: TradedContract;
  /** The tape's exchange id. */
  exchange: number;
  /** 1e-4 dollars per share; under 429,496 dollars. */
  price: number;
  /** Contracts. */
  size: number;
  /** The tape's condition ids; empty if there are none. */
  conditions: readonly number[];
  /** The tape's correction code (`isWithdrawn`); 0 if there is none. */
  correction: number;
  /** SIP time: epoch ms, and the nanoseconds within it (0…999,999). */
  tsMs: number;
  tsNanos: number;
  /**
   * Ascends within (contract, exchange), which together identify the print in its session. Without numbers in a file,
   * its reader numbers a contract's rows over all exchanges: event ids consist of contract, instant and sequence, and
   * would collide otherwise.
   */
  sequence: number;
}

/** The best bid and offer of an option contract from `tsMs` on. */
export interface OptionQuote {
  contract: TradedContract;
  /** 1e-4 dollars per share; 0 = no buyers. */
  bid: number;
  /** 1e-4 dollars per share; 0 = no sellers, which makes the quote unusable. */
  ask: number;
  tsMs: number;
  tsNanos: number;
  /** Orders quotes of one instant. */
  sequence: number;
}

/** Number of parts of a share in which sizes are counted. */
export const sizeParts = 1_000_000;

/** One execution of a stock. */
export interface StockPrint {
  symbol: string;
  exchange: number;
  /** The FINRA facility that reported it; 0 = none. */
  trf: number;
  /** The trade id as a number (`tradeNumber`); (symbol, exchange, trf, id) identifies the print in its session. */
  id: number;
  /** 1e-4 dollars per share. */
  price: number;
  /** Whole shares. */
  size: number;
  /** Millionths of a share beyond the whole ones, 0…999,999. */
  sizeMicros: number;
  conditions: readonly number[];
  /** The tape's correction code; 0 = a regular trade. */
  correction: number;
  /** SIP time: epoch ms, and the nanoseconds within it. */
  tsMs: number;
  tsNanos: number;
  sequence: number;
  /** 1, 2, 3 = tapes A, B, C; 0 = unknown. */
  tape: number;
}

/** The value of an index at an instant. */
export interface IndexValue {
  symbol: string;
  /** 1e-4 points. */
  value: number;
  /** Epoch ms, and the nanoseconds within it. */
  tsMs: number;
  tsNanos: number;
}

/** Splits decimal nanoseconds since the epoch, which exceed a double, into ms and nanoseconds. */
export function splitNanos(nanos: string): { tsMs: number; tsNanos: number } {
  const cut = Math.max(0, nanos.length - 6);
  return { tsMs: Number(nanos.slice(0, cut)), tsNanos: Number(nanos.slice(cut)) };
}

/** Maximum plausible price of a share, and value of an index, dollars or points. */
export const highestStockPrice = 1e9;
/** Maximum plausible number of shares of one print: a million of them add up within 53 bits. */
export const mostShares = 9e9;

/** Splits a size in shares into whole shares and millionths. */
export function splitSize(shares: number): { size: number; sizeMicros: number } {
  const size = Math.floor(shares);
  const sizeMicros = Math.round((shares - size) * sizeParts);
  return sizeMicros === sizeParts ? { size: size + 1, sizeMicros: 0 } : { size, sizeMicros };
}

/**
 * A trade id as a number: digits are that number, anything else a negative 52-bit hash: among a million ids the chance
 * of a collision is 1e-4.
 */
export function tradeNumber(id: string): number {
  if (id.length <= 15 && /^[0-9]+$/.test(id) && (id.length === 1 || id[0] !== '0')) return Number(id);
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let i = 0; i < id.length; i++) {
    high = Math.imul(high ^ id.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ id.charCodeAt(i), 0x85ebca6b) ^ (high >>> 13);
  }
  return -1 - ((high >>> 6) * 2 ** 26 + (low >>> 6));
}

/** Nanoseconds between two instants of one session, exact. */
export function nanosBetween(fromMs: number, fromNanos: number, toMs: number, toNanos: number): number {
  return (toMs - fromMs) * nanosInMs + (toNanos - fromNanos);
}

/*
 * Correction codes as the consolidated tapes' historical files give them (NYSE, Daily TAQ Client Specification): 0
 * regular; 1 later corrected, the record holding the right data at the original time; 7, 8 later signified as error or
 * cancelled; 10, 11 the cancel or error message itself; 12 the correction message, holding the wrong data.
 */

/** Correction code of a corrected trade's record, which has the right data. */
export const correctedTrade = 1;
/** Code of the correction message that accompanies it. */
export const correctionMessage = 12;

/** True if a record is a trade that was withdrawn later. */
export function isWithdrawnTrade(correction: number): boolean {
  return correction === 7 || correction === 8;
}

/** True if a record withdraws its trade. */
export function isWithdrawn(correction: number): boolean {
  return isWithdrawnTrade(correction) || correction === 10 || correction === 11;
}
