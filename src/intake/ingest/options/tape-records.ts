import { readSync } from 'node:fs';
import type { TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { OptionPrint, OptionQuote } from '../../../core/domain/market/print.ts';
import {
  recordAt as at,
  correctionOf,
  dayStartMs,
  isQuote,
  nanosOf,
  quoteSequence,
  recordWidth as width,
} from '../../tape/prints/option-records.ts';
import { RecordSorter } from '../files/record-sorter.ts';
import type { Partition } from './tape-partitions.ts';

/** Number of records to read from a partition at a time. */
const recordsAtOnce = 8192;

/** Location of a partition. */
export interface PartitionFile extends Pick<Partition, 'isInOrder' | 'parts' | 'quotes'> {
  /** The open file of all partitions. */
  fd: number;
}

/** The records of a partition in order of arrival, in a reused buffer. */
export function* storedRecords({ fd, parts }: Pick<PartitionFile, 'fd' | 'parts'>): Generator<Uint32Array> {
  const records = new Uint32Array(recordsAtOnce * width);
  const bytes = new Uint8Array(records.buffer);
  for (let i = 0; i < parts.length; i += 2) {
    const end = parts[i]! + parts[i + 1]!;
    for (let from = parts[i]!; from < end; ) {
      const wanted = Math.min(bytes.length, end - from);
      for (let read = 0; read < wanted; ) {
        const more = readSync(fd, bytes, read, wanted - read, from + read);
        if (more === 0) throw new Error('the temporary file of a tape is shorter than what was written to it');
        read += more;
      }
      yield records.subarray(0, wanted / 4);
      from += wanted;
    }
  }
}

/** The records in order of `keys`. Memory is that of a sorter. */
async function* sortedRecords(partition: PartitionFile, keys: readonly number[]): AsyncGenerator<Uint32Array> {
  const sorter = new RecordSorter({ width, keys });
  try {
    for (const records of storedRecords(partition)) {
      for (let i = 0; i < records.length; i += width) {
        const full = sorter.push(records.subarray(i, i + width));
        if (full) await full;
      }
    }
    for await (const records of sorter.sorted()) yield new Uint32Array(records);
  } finally {
    await sorter.close();
  }
}

/** The records of a partition: by instant, or by contract and then instant. */
export async function* recordsOf(partition: PartitionFile, order: 'instant' | 'contract'): AsyncGenerator<Uint32Array> {
  if (order === 'instant') yield* sortedRecords(partition, [at.ms]);
  else if (partition.isInOrder && partition.quotes === 0) yield* storedRecords(partition);
  else yield* sortedRecords(partition, [at.contract, at.ms]);
}

/** Takes the records of an underlying's session. The objects are reused: they must not be retained. */
export interface TapeFeed {
  print(print: OptionPrint): void;
  quote(quote: OptionQuote): void;
}

/**
 * Creates a function that fills one reused print and one reused quote from records, and reports the start of each day.
 * Contracts and lists of conditions are indexed by number.
 */
export function recordFeeder(
  contracts: readonly TradedContract[],
  conditions: readonly (readonly number[])[],
  day: number,
): { put: (feed: TapeFeed, records: Uint32Array, i: number) => void; startMs: number } {
  const startMs = dayStartMs(day);
  // Initial values are not small integers, so that the fields never change their representation.
  const stamp = { contract: contracts[0]!, tsMs: 0.5, tsNanos: 0, sequence: 0.5 };
  const print: OptionPrint = { ...stamp, exchange: 0, price: 0.5, size: 0.5, conditions: [], correction: 0 };
  const quote: OptionQuote = { ...stamp, bid: 0.5, ask: 0.5 };
  // The tape has no sequence: a contract's prints are numbered in order, however its files are divided.
  const numbers = new Float64Array(contracts.length);
  const put = (feed: TapeFeed, records: Uint32Array, i: number) => {
    const nanosAndCorrection = records[i + at.nanosAndCorrection]!;
    if (isQuote(nanosAndCorrection)) {
      quote.contract = contracts[records[i + at.contract]!]!;
      quote.tsMs = startMs + records[i + at.ms]!;
      quote.tsNanos = nanosOf(nanosAndCorrection);
      quote.sequence = quoteSequence(records, i);
      quote.bid = records[i + at.priceOrBid]!;
      quote.ask = records[i + at.sizeOrAsk]!;
      feed.quote(quote);
      return;
    }
    const exchangeAndConditions = records[i + at.exchangeAndConditions]!;
    print.contract = contracts[records[i + at.contract]!]!;
    print.tsMs = startMs + records[i + at.ms]!;
    print.tsNanos = nanosOf(nanosAndCorrection);
    print.correction = correctionOf(nanosAndCorrection);
    print.price = records[i + at.priceOrBid]!;
    print.size = records[i + at.sizeOrAsk]!;
    print.exchange = exchangeAndConditions & 0xffff;
    print.conditions = conditions[exchangeAndConditions >>> 16]!;
    print.sequence = ++numbers[records[i + at.contract]!]!;
    feed.print(print);
  };
  return { put, startMs };
}
