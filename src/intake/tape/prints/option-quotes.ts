import type { ContractBook, TradedContract } from '../../../core/domain/chain/contract-book.ts';
import { digitsBelowMs, type InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { OptionQuote } from '../../../core/domain/market/print.ts';
import {
  type ByteCsvFormat,
  type ByteFields,
  byteTexts,
  countAt,
  priceAt,
  readByteCsv,
  shownField,
} from '../csv/byte-csv.ts';
import type { ColumnIndex } from '../csv/csv.ts';
import type { OnBadLine, OnBytes } from '../csv/tape-file.ts';
import type { ColumnOf } from '../formats/format.ts';
import { optionQuotes } from '../formats/own-formats.ts';
import { largestOptionPrice } from './option-trades.ts';
import { badContract, badStamp, expired, stampMs, stampNanos } from './print-fields.ts';

export type OptionQuoteColumn = ColumnOf<typeof optionQuotes>;

const { time, symbols } = optionQuotes;
const digits = digitsBelowMs[time.unit];

/** A side's price; blank = no bid or no ask, which the tape also writes as 0. */
function sideAt({ bytes, start, end }: ByteFields, column: number): number {
  const price = start[column] === end[column] ? 0 : priceAt(bytes, start[column]!, end[column]!);
  return price <= largestOptionPrice ? price : Number.NaN;
}

/** Creates a function that reads a line: its quote, or the reason why it is invalid. */
export function optionQuoteReader(
  book: Pick<ContractBook, 'find'>,
  at: ColumnIndex<OptionQuoteColumn>,
  bounds: InstantBounds,
): (fields: ByteFields) => OptionQuote | string {
  const contractOf = byteTexts<TradedContract>(book.find);
  return (fields) => {
    const { bytes, start, end } = fields;
    const contract = contractOf(bytes, start[at.ticker]!, end[at.ticker]!);
    if (contract === null) return badContract(fields, at.ticker, symbols);
    const bid = sideAt(fields, at.bid_price);
    if (Number.isNaN(bid)) return `bid_price: expected a price from 0, got ${shownField(fields, at.bid_price)}`;
    const ask = sideAt(fields, at.ask_price);
    if (Number.isNaN(ask)) return `ask_price: expected a price from 0, got ${shownField(fields, at.ask_price)}`;
    const sequence = countAt(bytes, start[at.sequence_number]!, end[at.sequence_number]!);
    if (Number.isNaN(sequence))
      return `sequence_number: expected a whole number, got ${shownField(fields, at.sequence_number)}`;
    const tsMs = stampMs(fields, at.sip_timestamp, digits, bounds);
    const tsNanos = stampNanos(fields, at.sip_timestamp, digits);
    if (Number.isNaN(tsMs + tsNanos)) return badStamp(fields, at.sip_timestamp, time, bounds);
    if (tsMs >= contract.endMs) return expired(fields, at.sip_timestamp, time, contract);
    return { contract, bid, ask, tsMs, tsNanos, sequence };
  };
}

/**
 * Streams the quotes of an option quotes file, plain or gzip, in the order of its lines (by contract, then time, as
 * vendors write them). Sizes and exchanges are skipped: sides are inferred from prices alone. Bad lines are reported to
 * `onBadLine` and skipped. Throws `TapeFileError`.
 */
export function readOptionQuotes(
  path: string,
  options: { book: ContractBook; bounds: InstantBounds; onBadLine: OnBadLine; onBytes?: OnBytes },
): AsyncGenerator<OptionQuote[]> {
  const format: ByteCsvFormat<OptionQuote, OptionQuoteColumn> = {
    ...optionQuotes,
    reader: (at) => optionQuoteReader(options.book, at, options.bounds),
  };
  return readByteCsv(path, format, options.onBadLine, options.onBytes);
}
