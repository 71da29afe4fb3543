/*
 * Limits of what a file of quotes may write: a contract's session that is stored is replaced by one that has no fewer
 * quotes in any minute, and joined with one whose minutes are others, or the same.
 */

import { type TradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import { createContractBook, type TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { sessionPart } from '../../../core/domain/generation.ts';
import { instantBounds } from '../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import {
  decodedPart,
  lockOptionQuotes,
  type QuoteColumns,
  type QuotePart,
  quoteColumns,
  quotePart,
  quotesInPart,
  quotesOfParts,
  type StoredQuotePart,
  saveQuoteParts,
  storedQuoteParts,
} from '../../../store/chain/option-quotes.ts';
import { underlyingsOfFlow } from '../../../store/flow/sessions.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { rejectSealed } from '../../../store/market/session-seals.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { readOptionQuotes } from '../../tape/prints/option-quotes.ts';
import { DisplacedLines } from '../files/bad-line-log.ts';
import type { FileJob, Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import { mixed } from '../files/print-sketch.ts';
import { RecordSorter } from '../files/record-sorter.ts';
import { fileTally, keyedChanges, type SessionTally, talliedResult } from '../files/session-tally.ts';

const keyOf = ({ sessionDate, contract }: Pick<QuotePart, 'sessionDate' | 'contract'>) => `${sessionDate} ${contract}`;
const countOf = (parts: readonly { count: number }[]) => parts.reduce((sum, { count }) => sum + count, 0);

/** Number of quotes of a minute, and the sum of their hashes. */
interface MinuteQuotes {
  count: number;
  hashes: number;
}

function addMinutes({ tsMs, tsNanos, bid, ask }: QuoteColumns, to: Map<number, MinuteQuotes>): void {
  for (let i = 0; i < tsMs.length; i++) {
    const minute = Math.floor(tsMs[i]! / minuteMs);
    let sums = to.get(minute);
    if (!sums) {
      sums = { count: 0, hashes: 0 };
      to.set(minute, sums);
    }
    sums.count++;
    sums.hashes += mixed(mixed(mixed(mixed(tsMs[i]! % minuteMs, 0), tsNanos[i]!), bid[i]!), ask[i]!);
  }
}

/** Comparison of the quotes of a file with the stored ones of a contract's session. */
interface Comparison {
  /** Total by which the stored quotes per minute exceed those of the file. */
  missing: number;
  /** True if every minute that both have is the same in both. */
  isJoinable: boolean;
  /** True if the file has no minute that is not stored. */
  isStored: boolean;
}

const nothingStored: Comparison = { missing: 0, isJoinable: true, isStored: false };

async function compared(tx: Transaction, parts: readonly QuotePart[], stored: readonly StoredQuotePart[]) {
  const [before, now] = [new Map<number, MinuteQuotes>(), new Map<number, MinuteQuotes>()];
  for await (const quotes of quotesOfParts(tx, stored)) addMinutes(quotes, before);
  for (const part of parts) addMinutes(decodedPart(part), now);
  const found: Comparison = { missing: 0, isJoinable: true, isStored: true };
  for (const [minute, { count, hashes }] of before) {
    const here = now.get(minute);
    found.missing += Math.max(0, count - (here?.count ?? 0));
    if (here && (here.count !== count || here.hashes !== hashes)) found.isJoinable = false;
  }
  for (const minute of now.keys()) if (!before.has(minute)) found.isStored = false;
  return found;
}

/** Blocks of quotes in order, of which some were passed on. */
interface Cursor {
  blocks: AsyncIterator<QuoteColumns>;
  quotes: QuoteColumns;
  at: number;
}

const instantAt = ({ quotes, at }: Cursor) => quotes.tsMs[at]!;

async function* decodedParts(parts: readonly QuotePart[]): AsyncGenerator<QuoteColumns> {
  for (const part of parts) yield decodedPart(part);
}

async function* storedInOrder(tx: Transaction, parts: readonly StoredQuotePart[]): AsyncGenerator<QuoteColumns> {
  for (const part of parts.toSorted((a, b) => a.part - b.part)) yield* quotesOfParts(tx, [part]);
}

/** Records of two series of quotes, by instant. */
async function* mergedRecords(series: readonly AsyncIterable<QuoteColumns>[]): AsyncGenerator<Float64Array> {
  const cursors: Cursor[] = [];
  const advance = async (blocks: AsyncIterator<QuoteColumns>) => {
    const { done, value } = await blocks.next();
    if (!done) cursors.push({ blocks, quotes: value, at: 0 });
  };
  for (const each of series) await advance(each[Symbol.asyncIterator]());
  while (cursors.length > 0) {
    const [first, other] = cursors.sort((a, b) => instantAt(a) - instantAt(b));
    const { quotes, at } = first!;
    const { length } = quotes.tsMs;
    const limitMs = other ? instantAt(other) : Infinity;
    let end = at + 1;
    while (end < length && quotes.tsMs[end]! < limitMs) end++;
    const records = new Float64Array((end - at) * quoteOrder.width);
    for (let i = at, to = 0; i < end; i++, to += quoteOrder.width) {
      for (const name of ['tsMs', 'tsNanos', 'bid', 'ask'] as const) records[to + quoteAt[name]] = quotes[name][i]!;
    }
    yield records;
    first!.at = end;
    if (end < length) continue;
    cursors.shift();
    await advance(first!.blocks);
  }
}

/** The quotes of a file and the stored ones of a contract's session, in parts. */
async function joinedParts(tx: Transaction, parts: readonly QuotePart[], stored: readonly StoredQuotePart[]) {
  const { underlying, contract } = parts[0]!;
  const joined: QuotePart[] = [];
  for await (const { quotes, ...run } of quoteRuns(mergedRecords([decodedParts(parts), storedInOrder(tx, stored)])))
    joined.push(quotePart({ ...run, contract, underlying }, quotes));
  return joined;
}

/** True if the parts equal the stored ones. */
function areStored(parts: readonly QuotePart[], stored: readonly StoredQuotePart[]): boolean {
  const versions = new Map(stored.map(({ part, version }) => [part, version]));
  return parts.length === stored.length && parts.every(({ part, version }) => versions.get(part) === version);
}

/**
 * Creates a function that returns the parts that may be written. Pass all parts of a contract's session together. The
 * others are counted as left, these as changed; `onJoin` is called for each session that is joined.
 */
function quoteGuard(tx: Transaction, tally: SessionTally, replace: boolean, onJoin: () => void) {
  const ofKey = keyedChanges(tally);
  return async (given: readonly QuotePart[]): Promise<QuotePart[]> => {
    const stored = Map.groupBy(
      await storedQuoteParts(
        tx,
        given.filter(({ last }) => last),
      ),
      keyOf,
    );
    const allowed: QuotePart[] = [];
    for (const [key, parts] of Map.groupBy(given, keyOf)) {
      const before = stored.get(key) ?? [];
      if (areStored(parts, before)) continue;
      const { sessionDate: session, underlying: symbol } = parts[0]!;
      const isNew = replace || before.length === 0;
      const { missing, isJoinable, isStored } = isNew ? nothingStored : await compared(tx, parts, before);
      const [count, held] = [countOf(parts), countOf(before)];
      if (missing > 0 && isJoinable && isStored) continue;
      if (missing > 0 && !isJoinable) {
        tally.left(session, 'fewer', { symbol, count, stored: held, missing });
        continue;
      }
      if (missing > 0) onJoin();
      const written = missing > 0 ? await joinedParts(tx, parts, before) : parts;
      ofKey({ session, symbol, key, before: held, after: countOf(written) });
      allowed.push(...written);
    }
    return allowed;
  };
}

/** A quote as numbers, sorted by contract and then instant. */
const quoteAt = { contract: 0, tsMs: 1, tsNanos: 2, sequence: 3, bid: 4, ask: 5 } as const;
const quoteOrder = { width: 6, keys: [quoteAt.contract, quoteAt.tsMs] } as const;

/** Quotes of one contract in one session, or a part of them. */
interface QuoteRun {
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
async function* quoteRuns(
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

// Number of parts per statement.
const partsAtOnce = 512;
const bytesAtOnce = 8 * 1024 * 1024;
const namedUnderlyings = 5;

async function pushQuotes(
  sorter: RecordSorter,
  { path, now, onBadLine, onBytes, refused }: FileJob,
  contracts: TradedContract[],
  roots: OptionRoots,
): Promise<void> {
  const book = createContractBook(roots);
  const bounds = instantBounds(now());
  const record = new Float64Array(quoteOrder.width);
  const days = closedDayCounter('quotes');
  for await (const batch of readOptionQuotes(path, { book, bounds, onBadLine, onBytes })) {
    if (refused()) continue;
    for (const { contract, tsMs, tsNanos, sequence, bid, ask } of batch) {
      days.add(tsMs);
      contracts[contract.index] = contract;
      record[quoteAt.contract] = contract.index;
      record[quoteAt.tsMs] = tsMs;
      record[quoteAt.tsNanos] = tsNanos;
      record[quoteAt.sequence] = sequence;
      record[quoteAt.bid] = bid;
      record[quoteAt.ask] = ask;
      const full = sorter.push(record);
      if (full) await full;
    }
  }
  days.check(path);
}

/** Writes the permitted parts in batches, and sums up the results. */
function partWriter(tx: Transaction, allowed: (parts: readonly QuotePart[]) => Promise<QuotePart[]>) {
  const tally = { changed: 0, quotes: 0, bytes: 0 };
  /** Underlyings with changes, by session. */
  const touched = new Map<SessionDate, Set<string>>();
  const sessions = new Set<SessionDate>();
  let held: QuotePart[] = [];
  let bytes = 0;
  const flush = async () => {
    if (held.length === 0) return;
    const changed = await saveQuoteParts(tx, await allowed(held));
    await rejectSealed(
      tx,
      changed.map(({ underlying: symbol, sessionDate }) => ({ symbol, sessionDate })),
    );
    for (const { sessionDate, underlying } of changed) {
      const underlyings = touched.get(sessionDate) ?? new Set();
      touched.set(sessionDate, underlyings.add(underlying));
    }
    tally.changed += changed.length;
    held = [];
    bytes = 0;
  };
  return {
    tally,
    touched,
    sessions,
    flush,
    async add(part: QuotePart) {
      held.push(part);
      sessions.add(part.sessionDate);
      bytes += part.payload.length;
      tally.quotes += part.count;
      tally.bytes += part.payload.length;
      // A contract's session is written or left as a whole.
      if (part.last && (held.length >= partsAtOnce || bytes >= bytesAtOnce)) await flush();
    },
  };
}

/**
 * Notes tapes that were read before their quotes were stored: their prints are not stored, so their sides are unchanged
 * until the tapes are ingested again.
 */
async function readBefore(tx: Transaction, touched: ReadonlyMap<SessionDate, ReadonlySet<string>>): Promise<string[]> {
  const notes: string[] = [];
  for (const [session, underlyings] of [...touched].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const stored = await underlyingsOfFlow(tx, session, [...underlyings]);
    if (stored.length === 0) continue;
    const named = stored.slice(0, namedUnderlyings).join(', ');
    const more = stored.length > namedUnderlyings ? ` and ${stored.length - namedUnderlyings} more` : '';
    notes.push(
      `${session}: the tape of ${named}${more} was read before these quotes: ingest it again to get its sides`,
    );
  }
  return notes;
}

/**
 * Loads option quotes: a file is assumed to contain all quotes, in its minutes, of every contract in it. They are
 * joined with stored quotes of other minutes; otherwise they replace the stored ones, unless these are more. Tapes that
 * are read later infer sides from them.
 */
export const loadOptionQuotes: Loader = async (job) => {
  const { tx, name, settings, onNote, onBytes, refused } = job;
  const sorter = new RecordSorter(quoteOrder);
  const contracts: TradedContract[] = [];
  try {
    const roots = await readRoots(tx);
    await pushQuotes(sorter, job, contracts, roots);
    const rows = sorter.size;
    if (refused() || rows === 0) return { rows, changed: 0 };
    // A contract with only bad lines has an empty slot.
    const found = contracts.filter(() => true);
    await lockOptionQuotes(tx);
    await saveUnderlyings(tx, new Set(found.map(({ contract }) => contract.root)), roots);
    const tally = fileTally(tx, 'option-quotes', 'quotes', name);
    let isJoined = false;
    const onJoin = () => {
      isJoined = true;
    };
    const displaced = new DisplacedLines('of the same contract and nanosecond: the last is in force');
    const onDisplaced = (isEqual: boolean) => displaced.add(isEqual);
    const writer = partWriter(tx, quoteGuard(tx, tally, settings.replace, onJoin));
    for await (const { contract, quotes, ...run } of quoteRuns(sorter.sorted(), onDisplaced)) {
      // Polled so that a stop is noticed.
      onBytes(0);
      const { id, underlying } = contracts[contract]!;
      await writer.add(quotePart({ ...run, contract: id, underlying: underlying.symbol }, quotes));
    }
    await writer.flush();
    const { quotes, bytes, changed } = writer.tally;
    const result = await talliedResult({ rows, changed }, tally);
    // If nothing of the file was stored, the note would be wrong.
    if (!result.unwritten)
      onNote(`${quotes} quotes of ${found.length} contracts, ${(bytes / quotes).toFixed(1)} bytes each as stored`);
    for (const note of [...displaced.notes(), ...(await readBefore(tx, writer.touched))]) onNote(note);
    const written = Array.from(writer.touched, ([session, symbols]) =>
      Array.from(symbols, (symbol) => sessionPart(symbol, session)),
    ).flat();
    return { ...result, isJoined, parts: [...writer.sessions], written };
  } finally {
    await sorter.close();
  }
};
