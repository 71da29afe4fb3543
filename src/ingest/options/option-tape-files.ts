import { createContractBook, type TradedContract, type TradedUnderlying } from '../../domain/chain/contract-book.ts';
import { addDays, epochDay, exchangeDate, exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import type { OptionPrint, OptionQuote } from '../../domain/print.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';
import { readOptionTrades } from '../../tape/prints/option-trades.ts';
import { type InternTable, internTable } from '../files/intern-table.ts';
import { createRecordSorter, type RecordSorter } from '../files/record-sorter.ts';
import type { QuoteSource } from './quote-source.ts';

// A print or quote as few numbers, for sorting: two whole numbers share a double, the lower below 2^32. An underlying's
// session is the group. A quote has no exchange: its bid stands in the place of the price, its ask in that of the size.
const at = {
  group: 0,
  contract: 1,
  tsMs: 2,
  exchangeAndNanos: 3,
  conditionsAndSequence: 4,
  correctionAndPrice: 5,
  size: 6,
} as const;
const width = 7;
// Vendors' files are by contract: nothing has to be moved.
const byContract = { width, keys: [at.group, at.contract, at.tsMs] };
const byInstant = { width, keys: [at.group, at.tsMs] };
const high = 2 ** 32;
const quoteExchange = 2 ** 20;
// No correction code is near: what is above stands for any that is unknown.
const largestCorrection = 2 ** 20;
// Underlyings of a session, at most, in the number of a group.
const groupsInDay = 2 ** 24;

/**
 * Takes the records of an underlying's session. The objects are used again: nothing may keep
 * them.
 */
export interface TapeFeed {
  print(print: OptionPrint): void;
  quote(quote: OptionQuote): void;
  /** Before a record of this instant or later `due` is to be waited for, as often as it is due; absent: never. */
  readonly dueMs?: number;
  due?(): Promise<void>;
}

/** An option tape read from its files, to be fed an underlying's session after the other. */
export interface OptionTapeFiles {
  readonly prints: number;
  /** Quotes of the contracts that traded, in sessions in which their underlyings did. */
  readonly quotes: number;
  /**
   * Feeds the records of an underlying's session to what `begin` gives for it, then calls `end`; then those of the
   * next: New York dates ascend. With quotes they come in order of event time; prints alone come a contract after the
   * other, each in order of event time. Null passes a session over. Contracts and underlyings are
   * numbered for an engine that sees one underlying: what it knows is small and lies together, and is gone after it. To
   * be called once.
   */
  feed(
    begin: (underlying: TradedUnderlying, session: SessionDate) => Promise<TapeFeed | null>,
    end: () => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface OptionTapeReading {
  trades: readonly string[];
  quotes: QuoteSource;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** True once nothing more is collected: the files are read on only for their bad lines. */
  refused(): boolean;
}

/** The number of an underlying's session at one point in time: its date's days, and its underlying. */
function groupNumbers() {
  let [startMs, endMs, day] = [0, 0, 0];
  return (underlying: number, tsMs: number) => {
    if (tsMs < startMs || tsMs >= endMs) {
      const date = exchangeDate(tsMs);
      [startMs, endMs] = [exchangeInstant(date), exchangeInstant(addDays(date, 1))];
      day = epochDay(date);
    }
    return day * groupsInDay + underlying;
  };
}

/** The underlyings' sessions that have prints, and the first and last instant of these. */
interface SessionsFound {
  groups: Set<number>;
  firstMs: number;
  lastMs: number;
}

async function pushTrades(
  sorter: RecordSorter,
  { trades, onBadLine, onBytes, refused }: OptionTapeReading,
  conditions: InternTable<readonly number[]>,
  contracts: TradedContract[],
): Promise<SessionsFound> {
  const found: SessionsFound = { groups: new Set(), firstMs: Infinity, lastMs: -Infinity };
  const book = createContractBook();
  const numbers: number[] = [];
  const groupOf = groupNumbers();
  const record = new Float64Array(width);
  for (const path of trades) {
    for await (const prints of readOptionTrades(path, { book, onBadLine, onBytes, numbers })) {
      if (refused()) continue;
      for (const print of prints) {
        const { index, underlying } = print.contract;
        contracts[index] = print.contract;
        const group = groupOf(underlying.index, print.tsMs);
        if (group !== record[at.group]) found.groups.add(group);
        if (print.tsMs < found.firstMs) found.firstMs = print.tsMs;
        if (print.tsMs > found.lastMs) found.lastMs = print.tsMs;
        record[at.group] = group;
        record[at.contract] = index;
        record[at.tsMs] = print.tsMs;
        record[at.exchangeAndNanos] = print.exchange * high + print.tsNanos;
        record[at.conditionsAndSequence] = conditions.of(print.conditions) * high + print.sequence;
        record[at.correctionAndPrice] = Math.min(print.correction, largestCorrection) * high + print.price;
        record[at.size] = print.size;
        const full = sorter.push(record);
        if (full) await full;
      }
    }
  }
  return found;
}

/** Puts prints, and the quotes of their contracts, into one order of instants; where there are no quotes, nothing. */
async function pushQuotes(
  sorter: RecordSorter,
  prints: RecordSorter,
  { quotes, refused }: OptionTapeReading,
  contracts: readonly TradedContract[],
  { groups, firstMs, lastMs }: SessionsFound,
): Promise<void> {
  const groupOf = groupNumbers();
  const record = new Float64Array(width);
  // A contract of bad lines alone left its place empty.
  const traded = contracts.filter(() => true);
  for await (const batch of quotes({ contracts: traded, from: exchangeDate(firstMs), to: exchangeDate(lastMs) })) {
    if (refused()) continue;
    for (const quote of batch) {
      const group = groupOf(quote.contract.underlying.index, quote.tsMs);
      if (!groups.has(group)) continue;
      if (sorter.size === 0) await pushAll(sorter, prints);
      record[at.group] = group;
      record[at.contract] = quote.contract.index;
      record[at.tsMs] = quote.tsMs;
      record[at.exchangeAndNanos] = quoteExchange * high + quote.tsNanos;
      // A vendor's number may need all of a double.
      record[at.conditionsAndSequence] = quote.sequence;
      record[at.correctionAndPrice] = quote.bid;
      record[at.size] = quote.ask;
      const full = sorter.push(record);
      if (full) await full;
    }
  }
}

async function pushAll(sorter: RecordSorter, from: RecordSorter): Promise<void> {
  for await (const records of from.sorted()) {
    for (let i = 0; i < records.length; i += width) {
      const full = sorter.push(records.subarray(i, i + width));
      if (full) await full;
    }
  }
  await from.close();
}

/** The same contracts, each numbered among those of its underlying, and every underlying as the only one. */
function numberedApart(contracts: readonly TradedContract[]): TradedContract[] {
  const counts: number[] = [];
  const underlyings: TradedUnderlying[] = [];
  return contracts.map((contract) => {
    const { index, symbol } = contract.underlying;
    underlyings[index] ??= { index: 0, symbol };
    counts[index] = (counts[index] ?? 0) + 1;
    return { ...contract, index: counts[index] - 1, underlying: underlyings[index] };
  });
}

/** The upper of the two numbers that share a double. */
const highPart = (both: number) => (both / high) | 0;

/** Fills one print and one quote again and again from sorted records. */
function recordFeeder(contracts: readonly TradedContract[], lists: readonly (readonly number[])[]) {
  const stamp = { contract: contracts[0]!, tsMs: 0, tsNanos: 0, sequence: 0 };
  const print: OptionPrint = { ...stamp, exchange: 0, price: 0, size: 0, conditions: [], correction: 0 };
  const quote: OptionQuote = { ...stamp, bid: 0, ask: 0 };
  return (feed: TapeFeed, records: Float64Array, i: number) => {
    const exchangeAndNanos = records[i + at.exchangeAndNanos]!;
    const conditionsAndSequence = records[i + at.conditionsAndSequence]!;
    const exchange = highPart(exchangeAndNanos);
    const into = exchange === quoteExchange ? quote : print;
    into.contract = contracts[records[i + at.contract]!]!;
    into.tsMs = records[i + at.tsMs]!;
    into.tsNanos = exchangeAndNanos >>> 0;
    const correctionAndPrice = records[i + at.correctionAndPrice]!;
    if (into === quote) {
      quote.sequence = conditionsAndSequence;
      quote.bid = correctionAndPrice;
      quote.ask = records[i + at.size]!;
      feed.quote(quote);
      return;
    }
    print.sequence = conditionsAndSequence >>> 0;
    print.conditions = lists[highPart(conditionsAndSequence)]!;
    print.price = correctionAndPrice >>> 0;
    print.correction = highPart(correctionAndPrice);
    print.size = records[i + at.size]!;
    print.exchange = exchange;
    feed.print(print);
  };
}

/**
 * Reads the prints of an option tape and the quotes of the contracts that traded, and puts them in order. Memory holds
 * what a sorter holds, and an object a contract that traded. Throws `TapeFileError`. Close it, whatever happened.
 */
export async function readOptionTape(reading: OptionTapeReading): Promise<OptionTapeFiles> {
  const prints = createRecordSorter(byContract);
  const withQuotes = createRecordSorter(byInstant);
  const close = async () => {
    await prints.close();
    await withQuotes.close();
  };
  const conditions = internTable<readonly number[]>();
  const contracts: TradedContract[] = [];
  try {
    const found = await pushTrades(prints, reading, conditions, contracts);
    if (prints.size > 0) await pushQuotes(withQuotes, prints, reading, contracts, found);
    const sorter = withQuotes.size > 0 ? withQuotes : prints;
    return {
      prints: prints.size,
      quotes: sorter.size - prints.size,
      async feed(begin, end) {
        const apart = numberedApart(contracts);
        const put = recordFeeder(apart, conditions.items);
        let group = -1;
        let feed: TapeFeed | null = null;
        let dueMs = Infinity;
        for await (const records of sorter.sorted()) {
          reading.onBytes(0);
          for (let i = 0; i < records.length; i += width) {
            if (records[i + at.group] !== group) {
              if (feed) await end();
              group = records[i + at.group]!;
              feed = await begin(apart[records[i + at.contract]!]!.underlying, exchangeDate(records[i + at.tsMs]!));
              dueMs = feed?.dueMs ?? Infinity;
            }
            if (!feed) continue;
            while (records[i + at.tsMs]! >= dueMs) {
              await feed.due?.();
              dueMs = feed.dueMs ?? Infinity;
            }
            put(feed, records, i);
          }
        }
        if (feed) await end();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
