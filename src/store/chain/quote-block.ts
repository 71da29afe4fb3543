import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { areOfSession, blockAssertions } from '../series/assertions.ts';
import { blockVersion } from '../series/block-version.ts';
import { decodeBlock, encodeBlock, numbers } from '../series/codec.ts';

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
export interface QuoteBlock {
  firstTsMs: number;
  count: number;
  /** Content hash: equal quotes have equal versions, regardless of their compression. */
  version: string;
  payload: Buffer;
}

/** Identity of a part of quotes. */
export interface QuoteBlockKey {
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
export function encodeQuotes(quotes: QuoteColumns, key: QuoteBlockKey): QuoteBlock {
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
export function decodeQuotes({
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
