import { type TradeSpan, tradeSpanAt } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { quotesInPart } from '../../store/chain/option-quotes.ts';
import { type QuoteColumns, quoteColumns } from '../../store/chain/quote-block.ts';

/** A quote as numbers, sorted by contract and then instant. */
export const quoteAt = { contract: 0, tsMs: 1, tsNanos: 2, sequence: 3, bid: 4, ask: 5 } as const;
export const quoteOrder = { width: 6, keys: [quoteAt.contract, quoteAt.tsMs] } as const;

/** Quotes of one contract in one session, or a part of them. */
export interface QuoteRun {
  /** The contract's number. */
  contract: number;
  sessionDate: SessionDate;
  /** From 0; `last` = the contract's session has no further part. */
  part: number;
  last: boolean;
  quotes: QuoteColumns;
}

/** Quotes of one contract, put in order within each millisecond as they come. */
function createGathering() {
  let held = { ...quoteColumns(1024), sequence: new Float64Array(1024) };
  let count = 0;
  /** Where the quotes of the millisecond that is being read begin. */
  let tail = 0;

  function grow() {
    const longer = { ...quoteColumns(2 * count), sequence: new Float64Array(2 * count) };
    for (const name of Object.keys(longer) as (keyof typeof longer)[]) longer[name].set(held[name]);
    held = longer;
  }

  // Among two that are alike in instant and number the narrower is the later, as in the book of quotes (quote-book.ts).
  const order = (a: number, b: number) =>
    held.tsNanos[a]! - held.tsNanos[b]! ||
    held.sequence[a]! - held.sequence[b]! ||
    held.bid[a]! - held.bid[b]! ||
    held.ask[b]! - held.ask[a]!;

  /** Drops quotes of the same nanosecond but the last, which alone is ever in force. */
  function settle() {
    if (count - tail > 1) {
      const indexes = Array.from({ length: count - tail }, (_, i) => tail + i).sort(order);
      const lasting = indexes.filter((index, i) => held.tsNanos[index] !== held.tsNanos[indexes[i + 1] ?? -1]);
      for (const values of Object.values(held))
        values.set(
          lasting.map((index) => values[index]!),
          tail,
        );
      count = tail + lasting.length;
    }
    tail = count;
  }

  return {
    push(records: Float64Array, i: number) {
      if (count > tail && held.tsMs[tail] !== records[i + quoteAt.tsMs]) settle();
      if (count === held.tsMs.length) grow();
      held.tsMs[count] = records[i + quoteAt.tsMs]!;
      held.tsNanos[count] = records[i + quoteAt.tsNanos]!;
      held.sequence[count] = records[i + quoteAt.sequence]!;
      held.bid[count] = records[i + quoteAt.bid]!;
      held.ask[count] = records[i + quoteAt.ask]!;
      count++;
    },
    /** True if what was gathered before an instant is a full part. */
    isFull(tsMs: number): boolean {
      if (count > tail && held.tsMs[tail] === tsMs) return false;
      settle();
      return count >= quotesInPart;
    },
    /** Takes the gathered quotes. */
    take(): QuoteColumns {
      settle();
      const { tsMs, tsNanos, bid, ask } = held;
      const length = count;
      count = tail = 0;
      return {
        tsMs: tsMs.slice(0, length),
        tsNanos: tsNanos.slice(0, length),
        bid: bid.slice(0, length),
        ask: ask.slice(0, length),
      };
    },
  };
}

/** Cuts sorted quotes into runs, which depend on the quotes alone, not on the order in which they were read. */
export async function* quoteRuns(sorted: AsyncIterable<Float64Array>): AsyncGenerator<QuoteRun> {
  const gathering = createGathering();
  let [contract, part] = [-1, 0];
  let span: TradeSpan = { date: '', fromMs: 0, toMs: -Infinity };
  for await (const records of sorted) {
    for (let i = 0; i < records.length; i += quoteOrder.width) {
      const tsMs = records[i + quoteAt.tsMs]!;
      const last = records[i + quoteAt.contract] !== contract || tsMs >= span.toMs;
      if (contract >= 0 && (last || gathering.isFull(tsMs))) {
        yield { contract, sessionDate: span.date, part: part++, last, quotes: gathering.take() };
      }
      if (last) {
        [contract, part] = [records[i + quoteAt.contract]!, 0];
        span = tradeSpanAt(tsMs);
      }
      gathering.push(records, i);
    }
  }
  if (contract >= 0) yield { contract, sessionDate: span.date, part, last: true, quotes: gathering.take() };
}
