import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const longest = 1024 * 1024 * 1024;
const align = 8;

/** Records of prints, and the meanings of their numbers. */
export interface KeptPrints {
  /** Contract ids by the numbers in the records; empty for stocks. */
  contracts: readonly string[];
  /** Lists of conditions by the numbers in the records. */
  conditions: readonly (readonly number[])[];
  /** The records in memory layout, little-endian. */
  records: Uint8Array;
}

const padded = (length: number) => Math.ceil(length / align) * align;

/** Rows of numbers sorted by their columns in order, so that equal sets have the same bytes. */
export function inOrder<T extends Uint32Array | Float64Array>(records: T, width: number): T {
  const rows = Array.from({ length: records.length / width }, (_, i) => records.slice(i * width, (i + 1) * width));
  rows.sort((a, b) => {
    const at = a.findIndex((value, i) => value !== b[i]);
    return at < 0 ? 0 : a[at]! - b[at]!;
  });
  const ordered = records.slice() as T;
  for (const [i, row] of rows.entries()) ordered.set(row, i * width);
  return ordered;
}

/** Numbers of some names in alphabetical order, with the names. */
export function numbered<T>(names: Iterable<T>, textOf: (name: T) => string): { names: T[]; of: (name: T) => number } {
  const byText = new Map([...names].map((name) => [textOf(name), name]));
  const texts = [...byText.keys()].sort();
  const numbers = new Map(texts.map((text, i) => [text, i]));
  return { names: texts.map((text) => byText.get(text)!), of: (name) => numbers.get(textOf(name))! };
}

/** Compresses prints for the store. */
export function packPrints({ contracts, conditions, records }: KeptPrints): Uint8Array<ArrayBuffer> {
  const names = Buffer.from(JSON.stringify({ contracts, conditions }));
  const bytes = Buffer.alloc(align + padded(names.length) + records.length);
  bytes.writeUInt32LE(names.length);
  names.copy(bytes, align);
  bytes.set(records, align + padded(names.length));
  return new Uint8Array(zstdCompressSync(bytes));
}

/** Reverses `packPrints`. */
export function unpackPrints(payload: Uint8Array): KeptPrints {
  const bytes = zstdDecompressSync(payload, { maxOutputLength: longest });
  const length = bytes.readUInt32LE();
  const { contracts, conditions } = JSON.parse(bytes.toString('utf8', align, align + length));
  // Copied to a new buffer, so that the numbers in it are aligned.
  return { contracts, conditions, records: Uint8Array.from(bytes.subarray(align + padded(length))) };
}
