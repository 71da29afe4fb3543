import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Store } from '../rows/connection.ts';
import { lock, lockShared } from '../rows/locks.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { findRows, upsertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { areOfSession, blockAssertions } from '../series/assertions.ts';
import { blockVersion, decodeBlock, encodeBlock, numbers } from '../series/codec.ts';

/** Number of quotes in a part of a contract's session: bounds the memory for packing and unpacking one. */
export const quotesInPart = 65_536;

const lockKey = 'option_quote_blocks';

/** Locks the stored quotes for a writer, until its transaction ends. */
export async function lockOptionQuotes(tx: Transaction): Promise<void> {
  await lock(tx, lockKey);
}

/** Locks the stored quotes against writers until the transaction ends, for a reader that derives data from them. */
export async function holdOptionQuotes(tx: Transaction): Promise<void> {
  await lockShared(tx, lockKey);
}

/** A part of a contract's quotes in a session to write. */
export interface QuotePart extends QuoteBlock {
  underlying: string;
  sessionDate: SessionDate;
  /** Contract path form: `O:` and the OSI symbol. */
  contract: string;
  /** Number from 0; `last` = it is the last part of the contract's session. */
  part: number;
  last: boolean;
}

/** Packs a part. */
export function quotePart(part: Omit<QuotePart, keyof QuoteBlock>, quotes: QuoteColumns): QuotePart {
  return { ...part, ...encodeQuotes(quotes, part) };
}

// Number of parts read at a time: some megabytes.
const partsAtOnce = 8;

/** Unpacks a part. */
export function decodedPart(part: QuotePart): QuoteColumns {
  return decodeQuotes(part);
}

const partKey = ['underlying', 'sessionDate', 'contract', 'part'] as const;
const payloadFields = ['contract', 'sessionDate', 'part', 'firstTsMs', 'payload'] as const;
const keyText = (part: Pick<QuotePart, (typeof partKey)[number]>) => partKey.map((name) => part[name]).join(' ');

/** Sessions of underlyings whose quotes were written or removed. */
export type ChangedQuotes = Pick<QuotePart, 'underlying' | 'sessionDate'>;

const removing = statement(
  'chain/remove-further-quote-parts',
  { underlyings: 'text[]', sessionDates: 'text[]', contracts: 'text[]', parts: 'int4[]' },
  { underlying: 'text', sessionDate: 'text' },
);

const contractKey = ['underlying', 'sessionDate', 'contract'] as const;

/** A stored part of a contract's quotes in a session, without the quotes. */
export type StoredQuotePart = Pick<QuotePart, 'underlying' | 'sessionDate' | 'contract' | 'part' | 'count' | 'version'>;

/** The stored parts of contracts' sessions. */
export function storedQuoteParts(
  tx: Transaction,
  keys: readonly Pick<QuotePart, (typeof contractKey)[number]>[],
): Promise<StoredQuotePart[]> {
  return findRows(tx, 'OptionQuoteBlock', { by: contractKey, keys }, [...partKey, 'count', 'version']);
}

/** The quotes of stored parts, one after the other, in any order. */
export async function* quotesOfParts(
  tx: Transaction,
  parts: readonly Pick<QuotePart, (typeof partKey)[number]>[],
): AsyncGenerator<QuoteColumns> {
  for (let start = 0; start < parts.length; start += partsAtOnce) {
    const some = { by: partKey, keys: parts.slice(start, start + partsAtOnce) };
    const rows = await findRows(tx, 'OptionQuoteBlock', some, payloadFields);
    for (const row of rows) yield decodeQuotes(row);
  }
}

/**
 * Writes parts, replacing the stored ones, in a transaction that holds `lockOptionQuotes`; stored parts after a
 * contract's last one are removed. Returns an item for each part that is new, different or removed.
 */
export async function saveQuoteParts(tx: Transaction, parts: readonly QuotePart[]): Promise<ChangedQuotes[]> {
  const known = await findRows(tx, 'OptionQuoteBlock', { by: partKey, keys: parts }, [...partKey, 'version']);
  const versions = new Map(known.map((part) => [keyText(part), part.version]));
  const changed = parts.filter((part) => versions.get(keyText(part)) !== part.version);
  await upsertRows(tx, 'OptionQuoteBlock', changed);
  const last = parts.filter((each) => each.last);
  const gone = await removing.rows(tx, {
    underlyings: last.map((each) => each.underlying),
    sessionDates: last.map((each) => each.sessionDate),
    contracts: last.map((each) => each.contract),
    parts: last.map((each) => each.part),
  });
  return [...changed, ...gone];
}

/** Contracts (`O:…`) to find, with their underlyings, in a range of sessions, both ends included. */
export interface WantedQuotes {
  contracts: readonly { id: string; underlying: { symbol: string } }[];
  from: SessionDate;
  to: SessionDate;
}

/** The stored quotes of contracts, part by part, contracts in any order. */
export async function* readQuotes(
  tx: Transaction,
  { contracts, from, to }: WantedQuotes,
): AsyncGenerator<{ contract: string; quotes: QuoteColumns }> {
  const keys = await tx.prisma.optionQuoteBlock.findMany({
    where: {
      underlying: anyOf(contracts.map(({ underlying }) => underlying.symbol)),
      contract: anyOf(contracts.map(({ id }) => id)),
      sessionDate: { gte: from, lte: to },
    },
    select: { underlying: true, sessionDate: true, contract: true, part: true },
  });
  for (let start = 0; start < keys.length; start += partsAtOnce) {
    const some = { by: partKey, keys: keys.slice(start, start + partsAtOnce) };
    const rows = await findRows(tx, 'OptionQuoteBlock', some, payloadFields);
    for (const row of rows) yield { contract: row.contract, quotes: decodeQuotes(row) };
  }
}

/** The stored quotes of an underlying in a session. */
export interface StoredQuotes {
  session: SessionDate;
  underlying: string;
  contracts: number;
  quotes: number;
  /** Bytes of the packed quotes. */
  bytes: number;
}

const listing = statement(
  'market/list-quotes',
  {},
  { session: 'text', underlying: 'text', contracts: 'int8', quotes: 'int8', bytes: 'int8' },
);

/** Lists the stored quotes, by session and underlying. */
export function listQuotes(store: Store): Promise<StoredQuotes[]> {
  return listing.rows(store.primary, {});
}

/** Deletes the quotes of sessions before one. Returns their number. */
export async function dropQuotes(tx: Transaction, before: SessionDate): Promise<number> {
  await lockOptionQuotes(tx);
  const where = { sessionDate: { lt: before } };
  const { _sum } = await tx.prisma.optionQuoteBlock.aggregate({ where, _sum: { count: true } });
  await tx.prisma.optionQuoteBlock.deleteMany({ where });
  return _sum.count ?? 0;
}

/** Quotes of one contract as columns, in strictly ascending time: each is in force until the next. */
export interface QuoteColumns {
  /** Epoch ms, and the nanoseconds within it (0…999,999). */
  tsMs: Float64Array;
  tsNanos: Float64Array;
  /** 1e-4 dollars per share; 0 = no bid or no ask. */
  bid: Float64Array;
  ask: Float64Array;
}

/** Allocates columns for `length` quotes. */
export function quoteColumns(length: number): QuoteColumns {
  const column = () => new Float64Array(length);
  return { tsMs: column(), tsNanos: column(), bid: column(), ask: column() };
}

/** Quotes in stored form. */
interface QuoteBlock {
  firstTsMs: number;
  count: number;
  /** Content hash: equal quotes have equal versions, regardless of their compression. */
  version: string;
  payload: Buffer;
}

/** Identity of a part of quotes. */
interface QuoteBlockKey {
  /** Contract path form: `O:` and the OSI symbol. */
  contract: string;
  sessionDate: SessionDate;
  /** Number from 0. */
  part: number;
}

function ascend({ tsMs, tsNanos }: QuoteColumns): boolean {
  for (let i = 0; i < tsMs.length; i++) {
    if (!(tsNanos[i]! >= 0 && tsNanos[i]! < 1e6)) return false;
    if (i > 0 && !(tsMs[i]! > tsMs[i - 1]! || (tsMs[i] === tsMs[i - 1] && tsNanos[i]! > tsNanos[i - 1]!))) return false;
  }
  return true;
}

const assertions = blockAssertions<QuoteBlockKey & { quotes: QuoteColumns }>(
  'option quotes',
  ({ contract, sessionDate, part }) => `${contract} ${sessionDate} part ${part}`,
  {
    'its quotes ascend': ({ quotes }) => ascend(quotes),
    'its quotes are in its session': ({ sessionDate, quotes }) =>
      areOfSession(quotes.tsMs, (session) => session === sessionDate),
  },
);

// Far above the length of any part: a longer one is damaged.
const longestBlock = 64 * 1024 * 1024;

/**
 * Packs and compresses quotes: some 5 bytes per quote of a busy contract, 7 on average; half of that are the
 * nanoseconds, which are random. Requires at least one quote.
 */
function encodeQuotes(quotes: QuoteColumns, key: QuoteBlockKey): QuoteBlock {
  assertions.onWrite({ ...key, quotes });
  const { tsMs, tsNanos, bid, ask } = quotes;
  const block = encodeBlock({
    stepMs: tsMs.map((ms, i) => ms - tsMs[Math.max(0, i - 1)]!),
    tsNanos,
    bid,
    spread: ask.map((price, i) => price - bid[i]!),
  });
  const [firstTsMs, count] = [tsMs[0]!, tsMs.length];
  // The first instant is stored beside the block, not in it.
  const version = blockVersion(Buffer.concat([Buffer.from(`${firstTsMs} `), block]));
  return { firstTsMs, count, version, payload: zstdCompressSync(block) };
}

/** Unpacks the result of `encodeQuotes`. Throws on a damaged payload. */
function decodeQuotes({
  payload,
  firstTsMs,
  ...key
}: QuoteBlockKey & Pick<QuoteBlock, 'payload' | 'firstTsMs'>): QuoteColumns {
  const columns = decodeBlock(zstdDecompressSync(payload, { maxOutputLength: longestBlock }));
  const tsMs = numbers(columns, 'stepMs');
  const bid = numbers(columns, 'bid');
  let ms = firstTsMs;
  for (let i = 0; i < tsMs.length; i++) {
    ms += tsMs[i]!;
    tsMs[i] = ms;
  }
  const ask = numbers(columns, 'spread').map((spread, i) => spread + bid[i]!);
  const quotes = { tsMs, tsNanos: numbers(columns, 'tsNanos'), bid, ask };
  assertions.onRead({ ...key, quotes });
  return quotes;
}
