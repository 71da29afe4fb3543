import type { ContractBook, TradedContract } from '../../domain/chain/contract-book.ts';
import { type OptionPrint, sizeParts } from '../../domain/print.ts';
import { type ByteCsvFormat, type ByteFields, readByteCsv, shownField } from '../csv/byte-csv.ts';
import { byteTexts } from '../csv/byte-texts.ts';
import { priceAt, sizeMicrosAt } from '../csv/byte-values.ts';
import type { ColumnIndex } from '../csv/csv.ts';
import type { OnBadLine, OnBytes } from '../csv/tape-file.ts';
import {
  badConditions,
  badContract,
  badStamp,
  conditionReader,
  idAt,
  optionalCount,
  stampMs,
  stampNanos,
} from './print-fields.ts';

const required = ['ticker', 'conditions', 'exchange', 'price', 'sip_timestamp', 'size'] as const;
type Columns = ColumnIndex<(typeof required)[number] | 'correction'>;

/** What the engine's records hold: prices in 32 bits of 1e-4 dollars, sizes in 31. */
export const largestOptionPrice = 2 ** 32 - 1;
export const largestOptionSize = 2 ** 31 - 1;

/** The number of the next print of each contract, by the contract's index, in one session. */
export type PrintNumbers = number[];

function optionTradeReader(book: ContractBook, numbers: PrintNumbers) {
  return (at: Columns): ((fields: ByteFields) => OptionPrint | string) => {
    const contractOf = byteTexts<TradedContract>(book.find);
    const conditionsOf = conditionReader(at.conditions);
    return (fields) => {
      const { bytes, start, end } = fields;
      const contract = contractOf(bytes, start[at.ticker]!, end[at.ticker]!);
      if (contract === null) return badContract(fields, at.ticker);
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
      const tsMs = stampMs(fields, at.sip_timestamp);
      const tsNanos = stampNanos(fields, at.sip_timestamp);
      if (Number.isNaN(tsMs + tsNanos)) return badStamp(fields, at.sip_timestamp);
      const sequence = (numbers[contract.index] ?? 0) + 1;
      numbers[contract.index] = sequence;
      return { contract, exchange, price, size, conditions, correction, tsMs, tsNanos, sequence };
    };
  };
}

/** How an option tape is read. */
export interface OptionTradeOptions {
  /** Where contracts are found; one for a session's prints and quotes. */
  book: ContractBook;
  onBadLine: OnBadLine;
  onBytes?: OnBytes;
  /** Pass one array for all files of a session, in order, when there are several. */
  numbers?: PrintNumbers;
}

/**
 * Streams the prints of an option trades file, plain or gzip, in the order of its lines (by contract, then time, as
 * vendors write them: not in event time). The file has no sequence: a print's number is the place of its line among its
 * contract's good lines, from 1, so that a file read again gives the same. Prices finer than 1e-4 dollars are rounded.
 * What is bad is reported to `onBadLine` with its line and omitted. Throws `TapeFileError`.
 */
export function readOptionTrades(path: string, options: OptionTradeOptions): AsyncGenerator<OptionPrint[]> {
  const { book, onBadLine, onBytes, numbers = [] } = options;
  const format: ByteCsvFormat<OptionPrint, (typeof required)[number], 'correction'> = {
    required,
    optional: ['correction'],
    reader: optionTradeReader(book, numbers),
  };
  return readByteCsv(path, format, onBadLine, onBytes);
}
