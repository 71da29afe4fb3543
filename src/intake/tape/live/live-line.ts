import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import type { ContractBook } from '../../../core/domain/chain/contract-book.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import {
  highestStockPrice,
  type IndexValue,
  mostShares,
  type OptionPrint,
  type OptionQuote,
  priceUnits,
  type StockPrint,
  splitSize,
  toPriceUnits,
  tradeNumber,
} from '../../../core/domain/market/print.ts';
import { TapeFileError } from '../csv/tape-file.ts';
import { beforeExpiry } from '../csv/values.ts';
import { largestOptionPrice, largestOptionSize } from '../prints/option-trades.ts';
import { largestId } from '../prints/print-fields.ts';
import { readIndexTicker } from '../text/vendor-ticker.ts';
import { chainOfLine } from './live-chain.ts';
import {
  amount,
  BadField,
  conditionIds,
  contractOf,
  objectOf,
  stamp,
  text,
  tickerOf,
  type Unread,
  whole,
} from './live-fields.ts';

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
