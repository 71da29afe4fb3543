import type { ContractBook, TradedContract } from '../../../core/domain/chain/contract-book.ts';
import { digitsBelowMs, type InstantBounds } from '../../../core/domain/instant-gate.ts';
import { type OptionPrint, sizeParts } from '../../../core/domain/market/print.ts';
import {
  type ByteCsvFormat,
  type ByteFields,
  byteTexts,
  priceAt,
  readByteCsv,
  shownField,
  sizeMicrosAt,
} from '../csv/byte-csv.ts';
import type { ColumnIndex } from '../csv/csv.ts';
import type { OnBadLine, OnBytes } from '../csv/tape-file.ts';
import type { ColumnOf } from '../formats/format.ts';
import { optionTrades } from '../formats/own-formats.ts';
import {
  badConditions,
  badContract,
  badStamp,
  conditionReader,
  expired,
  idAt,
  optionalCount,
  stampMs,
  stampNanos,
} from './print-fields.ts';

export type OptionTradeColumn = ColumnOf<typeof optionTrades>;

const { time, symbols } = optionTrades;
const digits = digitsBelowMs[time.unit];

/** Limits of the engine's records: prices in 32 bits of 1e-4 dollars, sizes in 31 bits. */
export const largestOptionPrice = 2 ** 32 - 1;
export const largestOptionSize = 2 ** 31 - 1;

/** The next print number of each contract in one session, by the contract's index. */
export type PrintNumbers = number[];

const noContract: TradedContract = {
  index: -1,
  id: '',
  contract: { root: '', expiry: '', right: 'call', strike: 0 },
  underlying: { index: -1, symbol: '' },
  multiplier: 0,
  endMs: Number.POSITIVE_INFINITY,
};

/**
 * Creates a function that reads a line: its print, or the reason why it is invalid. One object is reused for every
 * line; a print's number stays 0. Equal lists of conditions share one array.
 */
export function optionTradeReader(
  book: ContractBook,
  at: ColumnIndex<OptionTradeColumn>,
  bounds: InstantBounds,
): (fields: ByteFields) => OptionPrint | string {
  const contractOf = byteTexts<TradedContract>(book.find);
  const conditionsOf = conditionReader(at.conditions);
  const numbers = { price: 0.5, size: 0.5, tsMs: 0.5, tsNanos: 0, sequence: 0 };
  const print: OptionPrint = { contract: noContract, conditions: [], exchange: 0, correction: 0, ...numbers };
  return (fields) => {
    const { bytes, start, end } = fields;
    const contract = contractOf(bytes, start[at.ticker]!, end[at.ticker]!);
    if (contract === null) return badContract(fields, at.ticker, symbols);
    const conditions = conditionsOf(fields);
    if (conditions === null) return badConditions(fields, at.conditions);
    const price = priceAt(bytes, start[at.price]!, end[at.price]!);
    if (!(price <= largestOptionPrice)) return `price: expected a price from 0, got ${shownField(fields, at.price)}`;
    const size = sizeMicrosAt(bytes, start[at.size]!, end[at.size]!) / sizeParts;
    if (!(size > 0 && size <= largestOptionSize && Number.isInteger(size)))
      return `size: expected a whole number of contracts from 1, got ${shownField(fields, at.size)}`;
    const exchange = idAt(fields, at.exchange);
    if (Number.isNaN(exchange)) return `exchange: expected an exchange id, got ${shownField(fields, at.exchange)}`;
    const correction = optionalCount(fields, at.correction);
    if (Number.isNaN(correction))
      return `correction: expected a whole number or nothing, got ${shownField(fields, at.correction)}`;
    const tsMs = stampMs(fields, at.sip_timestamp, digits, bounds);
    const tsNanos = stampNanos(fields, at.sip_timestamp, digits);
    if (Number.isNaN(tsMs + tsNanos)) return badStamp(fields, at.sip_timestamp, time, bounds);
    if (tsMs >= contract.endMs) return expired(fields, at.sip_timestamp, time, contract);
    print.contract = contract;
    print.conditions = conditions;
    print.exchange = exchange;
    print.correction = correction;
    print.price = price;
    print.size = size;
    print.tsMs = tsMs;
    print.tsNanos = tsNanos;
    return print;
  };
}

/** Settings of reading an option tape. */
export interface OptionTradeOptions {
  /** The book of contracts; one for a session's prints and quotes. */
  book: ContractBook;
  bounds: InstantBounds;
  onBadLine: OnBadLine;
  onBytes?: OnBytes;
  /** Pass one array for all files of a session, in order, if there are several. */
  numbers?: PrintNumbers;
}

/**
 * Streams the prints of an option trades file, plain or gzip, in the order of its lines (by contract, then time, as
 * vendors write them: not in event time). The file has no sequence: a print's number is the position of its line among
 * its contract's good lines, from 1, so that reading a file again gives the same numbers. Prices finer than 1e-4
 * dollars are rounded. Bad lines are reported to `onBadLine` and skipped. Throws `TapeFileError`.
 */
export function readOptionTrades(path: string, options: OptionTradeOptions): AsyncGenerator<OptionPrint[]> {
  const { book, bounds, onBadLine, onBytes, numbers = [] } = options;
  const format: ByteCsvFormat<OptionPrint, OptionTradeColumn> = {
    ...optionTrades,
    reader(at) {
      const read = optionTradeReader(book, at, bounds);
      return (fields) => {
        const print = read(fields);
        if (typeof print === 'string') return print;
        const { index } = print.contract;
        numbers[index] = (numbers[index] ?? 0) + 1;
        return { ...print, sequence: numbers[index] };
      };
    },
  };
  return readByteCsv(path, format, onBadLine, onBytes);
}
