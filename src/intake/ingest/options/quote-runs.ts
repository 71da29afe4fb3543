import { type TradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { quotesInPart } from '../../../store/chain/option-quotes.ts';
import { type QuoteColumns, quoteColumns } from '../../../store/chain/quote-block.ts';

/** A quote as numbers, sorted by contract and then instant. */
export const quoteAt = { contract: 0, tsMs: 1, tsNanos: 2, sequence: 3, bid: 4, ask: 5 } as const;
export const quoteOrder = { width: 6, keys: [quoteAt.contract, quoteAt.tsMs] } as const;

/** Quotes of one contract in one session, or a part of them. */
export interface QuoteRun {
  /** The contract's number. */
  contract: number;
  sessionDate: SessionDate;
  /** Part number from 0; `last` = it is the last part of the contract's session. */
  part: number;
  last: boolean;
  quotes: QuoteColumns;
}

/** Called for a quote that is never in force. `isEqual`: the one after it, of its nanosecond, is the same. */
type OnDisplaced = (isEqual: boolean) => void;

const gatheringColumns = (length: number) => ({ ...quoteColumns(length), sequence: new Float64Array(length) });

/** Quotes of one contract, put in order within each millisecond as they come. */
class Gathering {
  #held = gatheringColumns(1024);
  #count = 0;
  /** Where the quotes of the millisecond that is being read begin. */
  #tail = 0;
  readonly #onDisplaced: OnDisplaced;

  constructor(onDisplaced: OnDisplaced) {
    this.#onDisplaced = onDisplaced;
  }

  push(records: Float64Array, i: number): void {
    if (this.#count > this.#tail && this.#held.tsMs[this.#tail] !== records[i + quoteAt.tsMs]) this.#settle();
    if (this.#count === this.#held.tsMs.length) this.#grow();
    const held = this.#held;
    const slot = this.#count++;
    held.tsMs[slot] = records[i + quoteAt.tsMs]!;
    held.tsNanos[slot] = records[i + quoteAt.tsNanos]!;
    held.sequence[slot] = records[i + quoteAt.sequence]!;
    held.bid[slot] = records[i + quoteAt.bid]!;
    held.ask[slot] = records[i + quoteAt.ask]!;
  }

  /** True if what was gathered before an instant is a full part. */
  isFull(tsMs: number): boolean {
    if (this.#count > this.#tail && this.#held.tsMs[this.#tail] === tsMs) return false;
    this.#settle();
    return this.#count >= quotesInPart;
  }

  /** Takes the gathered quotes. */
  take(): QuoteColumns {
    this.#settle();
    const { tsMs, tsNanos, bid, ask } = this.#held;
    const length = this.#count;
    this.#count = this.#tail = 0;
    return {
      tsMs: tsMs.slice(0, length),
      tsNanos: tsNanos.slice(0, length),
      bid: bid.slice(0, length),
      ask: ask.slice(0, length),
    };
  }

  #grow(): void {
    const longer = gatheringColumns(2 * this.#count);
    for (const name of Object.keys(longer) as (keyof typeof longer)[]) longer[name].set(this.#held[name]);
    this.#held = longer;
  }

  /** Drops quotes of the same nanosecond but the last, which alone is ever in force. */
  #settle(): void {
    const tail = this.#tail;
    if (this.#count - tail > 1) {
      const { tsNanos, bid, ask } = this.#held;
      const indexes = Array.from({ length: this.#count - tail }, (_, i) => tail + i);
      indexes.sort((a, b) => this.#order(a, b));
      const lasting = indexes.filter((index, i) => {
        const next = indexes[i + 1];
        if (next === undefined || tsNanos[index] !== tsNanos[next]) return true;
        this.#onDisplaced(bid[index] === bid[next] && ask[index] === ask[next]);
        return false;
      });
      for (const values of Object.values(this.#held))
        values.set(
          lasting.map((index) => values[index]!),
          tail,
        );
      this.#count = tail + lasting.length;
    }
    this.#tail = this.#count;
  }

  // Among two that are alike in instant and number the narrower is the later, as in the book of quotes (quote-book.ts).
  #order(a: number, b: number): number {
    const { tsNanos, sequence, bid, ask } = this.#held;
    return tsNanos[a]! - tsNanos[b]! || sequence[a]! - sequence[b]! || bid[a]! - bid[b]! || ask[b]! - ask[a]!;
  }
}

/** Divides sorted quotes into runs, independently of the order in which they were read. */
export async function* quoteRuns(
  sorted: AsyncIterable<Float64Array>,
  onDisplaced: OnDisplaced = () => {},
): AsyncGenerator<QuoteRun> {
  const gathering = new Gathering(onDisplaced);
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
