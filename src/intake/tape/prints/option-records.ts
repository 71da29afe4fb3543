import { tradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import { type ContractBook, createContractBook } from '../../../core/domain/chain/contract-book.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { OptionQuote } from '../../../core/domain/market/print.ts';
import { dateOfEpochDay, epochDay } from '../../../core/domain/market-time.ts';
import { type ByteHeader, byteLineReader } from '../csv/byte-csv.ts';
import { type OptionQuoteColumn, optionQuoteReader } from './option-quotes.ts';
import { type OptionTradeColumn, optionTradeReader } from './option-trades.ts';

/*
 * Prints and quotes as eight whole numbers of 32 bits each: they go between threads and to files without an object. A
 * quote has its bid in the slot of the price, its ask in that of the size, and its number in two.
 */

/** Number of integers per record. */
export const recordWidth = 8;
/** Offsets in a record. */
export const recordAt = {
  contract: 0,
  /** Milliseconds since the trade date of the record began. */
  ms: 1,
  /** 20 bits of nanoseconds; above them the correction code, or the marker of a quote. */
  nanosAndCorrection: 2,
  priceOrBid: 3,
  sizeOrAsk: 4,
  /** 16 bits of the exchange, 16 of the list of conditions; for a quote the lower half of its number. */
  exchangeAndConditions: 5,
  /** Upper half of a quote's number. */
  sequence: 6,
  /** Epoch day of the trade date. */
  day: 7,
} as const;
const at = recordAt;

const nanosBits = 20;
const nanosMask = 2 ** nanosBits - 1;
const quoteMark = 2 ** (32 - nanosBits) - 1;
// Larger than every correction code; marks an unknown one.
const largestCorrection = quoteMark - 1;
/** Maximum number of different lists of conditions on a tape: far above what tapes use. */
export const mostConditions = 2 ** 16;
// A line with a record has at least a ticker of 16 characters, a stamp of 13, and the separators and digits of four
// more fields.
const leastLineBytes = 32;

export const nanosOf = (both: number) => both & nanosMask;
export const correctionOf = (both: number) => both >>> nanosBits;
export const isQuote = (both: number) => both >>> nanosBits === quoteMark;

/** Maximum number of records in lines of `bytes` bytes. */
export const mostRecords = (bytes: number) => Math.ceil((bytes + 1) / leastLineBytes);

/** Start of the trade date of an epoch day, epoch ms. */
export const dayStartMs = (day: number): number => tradeSpan(dateOfEpochDay(day)).fromMs;

/** Records of a piece of a file. */
export interface RecordPiece {
  /** Number of records written to the piece's memory. */
  records: number;
  lines: number;
  /** Line numbers from 0. */
  bad: { line: number; reason: string }[];
  /** Ids of contracts seen for the first time, which get the next numbers. */
  contracts: string[];
  /** Lists of conditions seen for the first time, likewise. */
  conditions: (readonly number[])[];
}

/** Reads the lines of a piece into records. */
export type PieceReader = (bytes: Buffer, into: Uint32Array) => RecordPiece;

/** Creates a function that sets the instant of a record; each day is looked up once. */
function instants() {
  let [startMs, endMs, day] = [0, 0, 0];
  return (into: Uint32Array, i: number, tsMs: number) => {
    if (tsMs < startMs || tsMs >= endMs) {
      const span = tradeSpanAt(tsMs);
      [startMs, endMs] = [span.fromMs, span.toMs];
      day = epochDay(span.date);
    }
    into[i + at.ms] = tsMs - startMs;
    into[i + at.day] = day;
  };
}

/** Creates a function that returns the instant of a record, epoch ms; days are looked up once per run. */
export function recordInstants(): (records: Uint32Array, i: number) => number {
  let [day, startMs] = [-1, 0];
  return (records, i) => {
    if (records[i + at.day] !== day) {
      day = records[i + at.day]!;
      startMs = dayStartMs(day);
    }
    return startMs + records[i + at.ms]!;
  };
}

const emptyPiece = (): RecordPiece => ({ records: 0, lines: 0, bad: [], contracts: [], conditions: [] });

/**
 * Reads pieces of option trades files. Contracts and lists of conditions are numbered from 0 in the order in which this
 * reader sees them; prints have no number yet. Throws `RangeError` for more lists of conditions than allowed.
 */
export function tradePieceReader(
  { at: columns, width }: ByteHeader<OptionTradeColumn>,
  bounds: InstantBounds,
): PieceReader {
  const book = createContractBook();
  const read = byteLineReader(width, optionTradeReader(book, columns, bounds));
  const numbers = new Map<readonly number[], number>();
  const putInstant = instants();
  // By the book's index: contracts with only bad lines have no number here.
  const contractNumbers: number[] = [];
  let contracts = 0;
  return (bytes, into) => {
    const piece = emptyPiece();
    let i = 0;
    let [lastConditions, conditionsNumber]: [readonly number[] | null, number] = [null, 0];
    function numberOf(conditions: readonly number[]): number {
      const known = numbers.get(conditions);
      if (known !== undefined) return known;
      if (numbers.size === mostConditions) throw new RangeError(`more than ${mostConditions} lists of conditions`);
      piece.conditions.push(conditions);
      numbers.set(conditions, numbers.size);
      return numbers.size - 1;
    }
    piece.lines = read(bytes, {
      bad: (line, reason) => piece.bad.push({ line, reason }),
      take(print) {
        const { contract, conditions } = print;
        let number = contractNumbers[contract.index];
        if (number === undefined) {
          number = contracts++;
          contractNumbers[contract.index] = number;
          piece.contracts.push(contract.id);
        }
        if (conditions !== lastConditions) {
          conditionsNumber = numberOf(conditions);
          lastConditions = conditions;
        }
        into[i + at.contract] = number;
        putInstant(into, i, print.tsMs);
        into[i + at.nanosAndCorrection] = print.tsNanos | (Math.min(print.correction, largestCorrection) << nanosBits);
        into[i + at.priceOrBid] = print.price;
        into[i + at.sizeOrAsk] = print.size;
        into[i + at.exchangeAndConditions] = print.exchange | (conditionsNumber << 16);
        into[i + at.sequence] = 0;
        i += recordWidth;
      },
    });
    piece.records = i / recordWidth;
    return piece;
  };
}

/** Writes everything of a quote except its instant. */
function putQuote(into: Uint32Array, i: number, { contract, tsNanos, bid, ask, sequence }: OptionQuote): void {
  into[i + at.contract] = contract.index;
  into[i + at.nanosAndCorrection] = tsNanos | (quoteMark << nanosBits);
  into[i + at.priceOrBid] = bid;
  into[i + at.sizeOrAsk] = ask;
  into[i + at.exchangeAndConditions] = sequence >>> 0;
  into[i + at.sequence] = sequence / 2 ** 32;
}

/** Creates a function that writes quote objects into records, one after another. */
export function quotePutter(): (into: Uint32Array, i: number, quote: OptionQuote) => void {
  const putInstant = instants();
  return (into, i, quote) => {
    putQuote(into, i, quote);
    putInstant(into, i, quote.tsMs);
  };
}

/** The number of a quote. */
export const quoteSequence = (records: ArrayLike<number>, i: number) =>
  records[i + at.sequence]! * 2 ** 32 + records[i + at.exchangeAndConditions]!;

/** Reads pieces of option quotes files: the quotes of the contracts that `find` returns, with its numbers. */
export function quotePieceReader(
  { at: columns, width }: ByteHeader<OptionQuoteColumn>,
  bounds: InstantBounds,
  find: ContractBook['find'],
): PieceReader {
  const read = byteLineReader(width, optionQuoteReader({ find }, columns, bounds));
  const putInstant = instants();
  return (bytes, into) => {
    const piece = emptyPiece();
    let i = 0;
    piece.lines = read(bytes, {
      bad: (line, reason) => piece.bad.push({ line, reason }),
      take(quote) {
        const { index } = quote.contract;
        if (index < 0) return;
        putQuote(into, i, quote);
        putInstant(into, i, quote.tsMs);
        i += recordWidth;
      },
    });
    piece.records = i / recordWidth;
    return piece;
  };
}
