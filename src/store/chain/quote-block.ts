import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { blockVersion } from '../market/bar-codec.ts';
import { decodeBlock, encodeBlock, numbers } from '../series/codec.ts';

/** Quotes of one contract as columns, ascending in time and no two of one instant: each is in force until the next. */
export interface QuoteColumns {
  /** Epoch ms, and the nanoseconds within it (0…999,999). */
  tsMs: Float64Array;
  tsNanos: Float64Array;
  /** 1e-4 dollars a share; 0 = no bid or no ask. */
  bid: Float64Array;
  ask: Float64Array;
}

/** Room for `length` quotes. */
export function quoteColumns(length: number): QuoteColumns {
  const column = () => new Float64Array(length);
  return { tsMs: column(), tsNanos: column(), bid: column(), ask: column() };
}

/** Quotes as they lie in the store. */
export interface QuoteBlock {
  firstTsMs: number;
  count: number;
  /** Content hash: equal quotes have equal versions, regardless of their compression. */
  version: string;
  payload: Buffer;
}

// Nothing that a part holds comes near it: what claims to be longer is damaged.
const longestBlock = 64 * 1024 * 1024;

/**
 * Packs quotes, compressed: some 5 bytes a quote of a busy contract, 7 on the whole; half of that are the nanoseconds,
 * in which nothing repeats. Not for none.
 */
export function encodeQuotes({ tsMs, tsNanos, bid, ask }: QuoteColumns): QuoteBlock {
  const block = encodeBlock({
    stepMs: tsMs.map((ms, i) => ms - tsMs[Math.max(0, i - 1)]!),
    tsNanos,
    bid,
    spread: ask.map((price, i) => price - bid[i]!),
  });
  const [firstTsMs, count] = [tsMs[0]!, tsMs.length];
  // The first instant is no part of the block, but of what it says.
  const version = blockVersion(Buffer.concat([Buffer.from(`${firstTsMs} `), block]));
  return { firstTsMs, count, version, payload: zstdCompressSync(block) };
}

/** Unpacks what `encodeQuotes` packed; throws on a payload that is damaged. */
export function decodeQuotes(payload: Uint8Array, firstTsMs: number): QuoteColumns {
  const columns = decodeBlock(zstdDecompressSync(payload, { maxOutputLength: longestBlock }));
  const tsMs = numbers(columns, 'stepMs');
  const bid = numbers(columns, 'bid');
  let ms = firstTsMs;
  for (let i = 0; i < tsMs.length; i++) {
    ms += tsMs[i]!;
    tsMs[i] = ms;
  }
  const ask = numbers(columns, 'spread').map((spread, i) => spread + bid[i]!);
  return { tsMs, tsNanos: numbers(columns, 'tsNanos'), bid, ask };
}
