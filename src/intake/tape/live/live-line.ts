import { type ChainCapture, type ChainRow, longestDelayMs } from '../../../core/domain/chain/chain.ts';
import { sourceColumns } from '../../../core/domain/chain/chain-columns.ts';
import type { ContractBook } from '../../../core/domain/chain/contract-book.ts';
import { readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { namesOf, rowBy, snakeCase } from '../../../core/domain/columns.ts';
import { expectedTime, type InstantBounds, isWithin } from '../../../core/domain/instant-gate.ts';
import {
  highestStockPrice,
  type IndexValue,
  mostShares,
  type OptionPrint,
  type OptionQuote,
  priceUnits,
  type StockPrint,
  splitNanos,
  splitSize,
  toPriceUnits,
  tradeNumber,
} from '../../../core/domain/market/print.ts';
import { readTicker } from '../../../core/domain/market/ticker.ts';
import { assembleChain, contractRows } from '../chains/chain-rows.ts';
import { TapeFileError } from '../csv/tape-file.ts';
import { beforeExpiry, shown } from '../csv/values.ts';
import { largestOptionPrice, largestOptionSize } from '../prints/option-trades.ts';
import { largestId } from '../prints/print-fields.ts';
import { readIndexTicker } from '../text/vendor-ticker.ts';

/** A line of the live tape (docs/live-tape.md). */
export type LiveRecord =
  | { type: 'stock_print'; print: StockPrint }
  | { type: 'option_print'; print: OptionPrint }
  | { type: 'option_quote'; quote: OptionQuote }
  | { type: 'index_value'; value: IndexValue }
  | { type: 'chain'; chain: ChainCapture }
  /**
   * Event time has reached this instant, whether or not anything traded. `isResumed`: written by a follower that
   * resumes, before the lines that it takes.
   */
  | { type: 'time'; tsMs: number; isResumed?: boolean };

/** 1e-4 dollars or points. */
function priceAbove0(line: Unread, key: string): number {
  const price = toPriceUnits(amount(line, key, highestStockPrice));
  if (price === 0) throw new BadField(key, `a ${key} above 0`, line[key]);
  return price;
}

function stockPrint(line: Unread, bounds: InstantBounds): StockPrint {
  const price = priceAbove0(line, 'price');
  return {
    symbol: tickerOf(line, 'symbol'),
    exchange: whole(line, 'exchange', largestId),
    trf: whole(line, 'trf_id', largestId, 0),
    id: tradeNumber(text(line, 'id', 'a trade id as a string')),
    price,
    ...splitSize(amount(line, 'size', mostShares)),
    conditions: conditionIds(line),
    correction: whole(line, 'correction', largestId, 0),
    ...stamp(line, bounds),
    sequence: whole(line, 'sequence_number'),
    tape: whole(line, 'tape', largestId, 0),
  };
}

/** The largest price of an option record, dollars. */
const optionDollars = Math.floor(largestOptionPrice / priceUnits);

/** The contract of a line, and its instant, which is in a session of the contract. Throws `BadField`. */
function contractAt(line: Unread, book: ContractBook, bounds: InstantBounds) {
  const contract = contractOf(line, book.find);
  const at = stamp(line, bounds);
  if (at.tsMs >= contract.endMs) throw new BadField('sip_timestamp', beforeExpiry(contract.endMs), line.sip_timestamp);
  return { contract, ...at };
}

function optionPrint(line: Unread, book: ContractBook, bounds: InstantBounds): OptionPrint {
  const size = whole(line, 'size', largestOptionSize);
  if (size === 0) throw new BadField('size', 'a number of contracts from 1', size);
  return {
    ...contractAt(line, book, bounds),
    exchange: whole(line, 'exchange', largestId),
    price: toPriceUnits(amount(line, 'price', optionDollars)),
    size,
    conditions: conditionIds(line),
    correction: whole(line, 'correction', largestId, 0),
    sequence: whole(line, 'sequence_number'),
  };
}

function optionQuote(line: Unread, book: ContractBook, bounds: InstantBounds): OptionQuote {
  return {
    ...contractAt(line, book, bounds),
    bid: toPriceUnits(amount(line, 'bid_price', optionDollars)),
    ask: toPriceUnits(amount(line, 'ask_price', optionDollars)),
    sequence: whole(line, 'sequence_number'),
  };
}

function recordOf(line: Unread, book: ContractBook, bounds: InstantBounds): LiveRecord {
  switch (line.type) {
    case 'stock_print':
      return { type: 'stock_print', print: stockPrint(line, bounds) };
    case 'option_print':
      return { type: 'option_print', print: optionPrint(line, book, bounds) };
    case 'option_quote':
      return { type: 'option_quote', quote: optionQuote(line, book, bounds) };
    case 'index_value': {
      const value = priceAbove0(line, 'value');
      const symbol = readIndexTicker(String(line.symbol)) ?? tickerOf(line, 'symbol');
      return { type: 'index_value', value: { symbol, value, ...stamp(line, bounds) } };
    }
    case 'chain':
      return { type: 'chain', chain: chainOfLine(line, bounds, book.roots) };
    case 'time':
      return { type: 'time', tsMs: stamp(line, bounds).tsMs, ...(line.resumed === true && { isResumed: true }) };
    default:
      throw new BadField('type', 'stock_print, option_print, option_quote, index_value, chain or time', line.type);
  }
}

/**
 * Reads one line of the live tape. Returns its record, or the reason why it is invalid. Contracts are looked up in
 * `book`. Unknown keys are skipped.
 */
export function readLiveLine(text: string, book: ContractBook, bounds: InstantBounds): LiveRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not a JSON object';
  }
  try {
    return recordOf(objectOf(value, 'line'), book, bounds);
  } catch (error) {
    if (error instanceof BadField || error instanceof TapeFileError) return error.message;
    // One line must not end the tape.
    return `cannot be read (${(error as Error).message})`;
  }
}

const keys = rowBy(sourceColumns, snakeCase);
const contractRow = contractRows(namesOf(sourceColumns));

function rowOf(value: unknown, path: string): ChainRow {
  const row = objectOf(value, path);
  const contract = contractOf(row, readOptionContract);
  const isGiven = (row.shares_per_contract ?? null) !== null;
  const sharesPerContract = isGiven ? whole(row, 'shares_per_contract', 1_000_000) : undefined;
  if (sharesPerContract === 0) throw new BadField('shares_per_contract', 'a whole number from 1', 0);
  return contractRow(contract, (name) => optionalNumber(row, keys[name]) ?? Number.NaN, sharesPerContract);
}

/** Age of the quotes at the line's time, ms. Throws `BadField`. */
function delayOf(line: Unread): number {
  return (line.delay_ms ?? null) === null ? 0 : whole(line, 'delay_ms', longestDelayMs);
}

/**
 * The chain of a live line of type `chain`. Unlike in the exchange's delayed-quote tables, a 0 is a zero here, except
 * for an iv; null, an absent key, or a number outside its domain is unknown. Throws `BadField`, or `TapeFileError` for
 * contracts of several underlyings or a repeated contract.
 */
function chainOfLine(line: Unread, bounds: InstantBounds, roots: OptionRoots): ChainCapture {
  const underlying = tickerOf(line, 'underlying');
  if (!Array.isArray(line.rows)) throw new BadField('rows', 'a list', line.rows);
  const rows = line.rows.map((row, i) => {
    try {
      return rowOf(row, `rows[${i}]`);
    } catch (error) {
      // Errors name a row's keys by their path in the line.
      if (error instanceof BadField && !error.message.startsWith('rows['))
        error.message = `rows[${i}].${error.message}`;
      throw error;
    }
  });
  const partial = line.partial ?? false;
  if (typeof partial !== 'boolean') throw new BadField('partial', 'true or false', partial);
  const header = {
    capturedAt: instant(line, 'captured_at_ms', bounds),
    delayMs: delayOf(line),
    spot: optionalNumber(line, 'spot'),
    priorCloseSpot: optionalNumber(line, 'prior_close_spot'),
    partial,
  };
  const chain = assembleChain('chain', rows, header, roots);
  if (chain.underlying !== underlying)
    throw new BadField('underlying', `${chain.underlying} as its contracts say`, underlying);
  return chain;
}

/** Thrown for an invalid key of a live line; the message is the line's reason. */
class BadField extends Error {
  override readonly name = 'BadField';

  constructor(key: string, expected: string, value: unknown) {
    const got =
      value === undefined ? 'nothing' : typeof value === 'string' ? shown(value) : JSON.stringify(value)?.slice(0, 40);
    super(`${key}: expected ${expected}, got ${got}`);
  }
}

/** A JSON object with unchecked content. */
type Unread = Record<string, unknown>;

/** A JSON value as an object. Throws `BadField` naming `key`. */
function objectOf(value: unknown, key: string): Unread {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadField(key, 'an object', value);
  return value as Unread;
}

/** A number from 0 to `max`. Throws `BadField`. */
function amount(line: Unread, key: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = line[key];
  if (typeof value === 'number' && value >= 0 && value <= max) return value;
  throw new BadField(key, max === Number.MAX_SAFE_INTEGER ? 'a number from 0' : `a number from 0 to ${max}`, value);
}

/** A whole number from 0 to `max`; `missing` for an absent one, if given. Throws `BadField`. */
function whole(line: Unread, key: string, max = Number.MAX_SAFE_INTEGER, missing?: number): number {
  const value = line[key] ?? missing;
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max) return value as number;
  throw new BadField(
    key,
    max === Number.MAX_SAFE_INTEGER ? 'a whole number from 0' : `a whole number from 0 to ${max}`,
    value,
  );
}

/** A number, null for null or an absent key. Throws `BadField`. */
function optionalNumber(line: Unread, key: string): number | null {
  const value = line[key] ?? null;
  if (value === null || Number.isFinite(value)) return value as number | null;
  throw new BadField(key, 'a number or null', value);
}

/** A text of at least one character. Throws `BadField`. */
function text(line: Unread, key: string, expected: string): string {
  const value = line[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new BadField(key, expected, value);
}

const noConditions: readonly number[] = [];

/** A ticker, in capitals; in any spelling of its suffix. Throws `BadField`. */
function tickerOf(line: Unread, key: string): string {
  const expected = 'a ticker such as SPY or BRK.B';
  const value = text(line, key, expected);
  const ticker = value === value.toUpperCase() ? readTicker(value) : null;
  if (ticker === null) throw new BadField(key, expected, value);
  return ticker;
}

/** `O:` and an OSI symbol, parsed by `read`, which returns null for an invalid one. Throws `BadField`. */
function contractOf<T>(line: Unread, read: (text: string) => T | null): T {
  const expected = 'O: and an OSI symbol';
  const value = text(line, 'contract', expected);
  const contract = /^O:[A-Z0-9]{16,21}$/.test(value) ? read(value) : null;
  if (contract === null) throw new BadField('contract', expected, value);
  return contract;
}

/** A list of condition ids; empty if absent. Throws `BadField`. */
function conditionIds(line: Unread): readonly number[] {
  const value = line.conditions ?? noConditions;
  const isId = (id: unknown) => Number.isInteger(id) && (id as number) >= 0 && (id as number) <= largestId;
  if (Array.isArray(value) && value.every(isId)) return value as readonly number[];
  throw new BadField('conditions', 'a list of condition ids', value);
}

/**
 * Nanoseconds since 1970, in decimal digits as a text: a JSON number would lose the last ones. Throws `BadField` unless
 * it is an instant within the bounds.
 */
function stamp(line: Unread, bounds: InstantBounds): { tsMs: number; tsNanos: number } {
  const value = line.sip_timestamp;
  if (typeof value !== 'string' || !/^\d+$/.test(value))
    throw new BadField('sip_timestamp', 'nanoseconds since 1970 as a string of digits', value);
  const split = splitNanos(value);
  if (isWithin(bounds, split.tsMs)) return split;
  throw new BadField('sip_timestamp', expectedTime(+value, 'nanoseconds', bounds), value);
}

/** Milliseconds since 1970. Throws `BadField` unless it is an instant within the bounds. */
function instant(line: Unread, key: string, bounds: InstantBounds): number {
  const value = whole(line, key);
  if (isWithin(bounds, value)) return value;
  throw new BadField(key, expectedTime(value, 'milliseconds', bounds), value);
}
