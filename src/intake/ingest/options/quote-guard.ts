/*
 * Limits of what a file of quotes may write: a contract's session that is stored is replaced by one that has no fewer
 * quotes in any minute, and joined with one whose minutes are others, or the same.
 */

import { minuteMs } from '../../../platform/runtime/clock.ts';
import {
  decodedPart,
  type QuotePart,
  quotePart,
  quotesOfParts,
  type StoredQuotePart,
  storedQuoteParts,
} from '../../../store/chain/option-quotes.ts';
import type { QuoteColumns } from '../../../store/chain/quote-block.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { mixed } from '../files/print-sketch.ts';
import { keyedChanges, type SessionTally } from '../files/session-tally.ts';
import { quoteAt, quoteOrder, quoteRuns } from './quote-runs.ts';

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
export function quoteGuard(tx: Transaction, tally: SessionTally, replace: boolean, onJoin: () => void) {
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
