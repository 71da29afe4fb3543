/*
 * Which prints a tape has of a symbol's session, in short. Of few prints it is a number of each; of many, how many
 * there are in each minute and of each contract: a tape that lacks an hour or some contracts of another is found
 * either way.
 */

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Maximum number of prints of tapes that are compared print by print. */
export const exactPrints = 1024;

// Shorter sketches do not compress.
const leastCompressed = 400;
const [ofPrints, ofCounts] = [1, 2];
const longestSketch = 64 * 1024 * 1024;

/** Mixes a 32-bit number into a 32-bit hash. */
export function mixed(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x9e3779b1);
  return (product ^ (product >>> 15)) >>> 0;
}

/** A 32-bit hash of a text: FNV-1a. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Sketch of a tape's prints, added one after another. */
export interface PrintSketch {
  /** Counts a print by the minute of the session and the number of its contract (0 for a stock). */
  count(minute: number, contract: number): void;
  /** True while single prints are recorded: call `addPrint` beside `count`. */
  readonly wantsPrints: boolean;
  /** Records a print by a hash of its identity. */
  addPrint(hash: number): void;
  readonly prints: number;
  encoded(): Uint8Array<ArrayBuffer>;
  /** Minimum number of prints of a stored sketch that this tape lacks. */
  lacking(stored: Uint8Array): number;
}

function packed(numbers: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  return bytes.length < leastCompressed ? bytes : new Uint8Array(zstdCompressSync(bytes));
}

function unpacked(bytes: Uint8Array): Uint32Array {
  // A compressed sketch begins with another byte.
  const plain = bytes[0]! <= ofCounts ? bytes : zstdDecompressSync(bytes, { maxOutputLength: longestSketch });
  return new Uint32Array(new Uint8Array(plain).buffer);
}

function* pairs(counts: Uint32Array, keyOf: (index: number) => number): Generator<number> {
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] === 0) continue;
    yield keyOf(i);
    yield counts[i]!;
  }
}

/** Number of items of the sorted `of` that the sorted `among` lacks, counted with multiplicity. */
function missing(of: Uint32Array, among: Uint32Array): number {
  let count = 0;
  let at = 0;
  for (const hash of of) {
    while (at < among.length && among[at]! < hash) at++;
    if (at < among.length && among[at] === hash) at++;
    else count++;
  }
  return count;
}

/** Total by which counts of `stored` exceed those of `now`. */
function deficit(stored: Uint32Array, now: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (let i = 0; i < stored.length; i += 2) sum += Math.max(0, stored[i + 1]! - (now.get(stored[i]!) ?? 0));
  return sum;
}

function grown(counts: Uint32Array<ArrayBuffer>, index: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(2 * counts.length, index + 1));
  longer.set(counts);
  return longer;
}

/**
 * Creates an empty sketch. `exact` records every print, for the comparison with a small tape. `contractHash` identifies
 * a contract by its number.
 */
export function createPrintSketch({
  exact = false,
  contractHash = () => 0,
}: {
  exact?: boolean;
  contractHash?: (contract: number) => number;
} = {}): PrintSketch {
  let minutes = new Uint32Array(64);
  let contracts = new Uint32Array(8);
  let hashes: Uint32Array<ArrayBuffer> | null = new Uint32Array(64);
  let noted = 0;
  let prints = 0;
  const sorted = () => hashes!.slice(0, noted).sort();
  const ofMinutes = () => [...pairs(minutes, (minute) => minute)];
  const ofContracts = () => [...pairs(contracts, contractHash)];
  const byKey = (list: number[]) => {
    const counts = new Map<number, number>();
    for (let i = 0; i < list.length; i += 2) counts.set(list[i]!, (counts.get(list[i]!) ?? 0) + list[i + 1]!);
    return counts;
  };
  return {
    count(minute, contract) {
      prints++;
      if (minute >= minutes.length) minutes = grown(minutes, minute);
      if (contract >= contracts.length) contracts = grown(contracts, contract);
      minutes[minute]!++;
      contracts[contract]!++;
      if (prints > exactPrints && !exact && hashes !== null) hashes = null;
    },
    get wantsPrints() {
      return hashes !== null;
    },
    addPrint(hash) {
      if (hashes === null) return;
      if (noted === hashes.length) hashes = grown(hashes, noted);
      hashes[noted++] = hash;
    },
    get prints() {
      return prints;
    },
    encoded() {
      if (prints <= exactPrints) return packed(Uint32Array.of(ofPrints, ...sorted()));
      const perMinute = ofMinutes();
      return packed(Uint32Array.from([ofCounts, perMinute.length, ...perMinute, ...ofContracts()]));
    },
    lacking(stored) {
      const numbers = unpacked(stored);
      if (numbers[0] === ofPrints) return missing(numbers.subarray(1), hashes === null ? Uint32Array.of() : sorted());
      const [from, to] = [2, 2 + numbers[1]!];
      return Math.max(
        deficit(numbers.subarray(from, to), byKey(ofMinutes())),
        deficit(numbers.subarray(to), byKey(ofContracts())),
      );
    },
  };
}
