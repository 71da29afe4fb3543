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
// Prints by what names them, counts, and prints by their instants: ids may name several.
const [ofPrints, ofCounts, ofInstants] = [1, 2, 3];
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

function packed(numbers: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  return bytes.length < leastCompressed ? bytes : new Uint8Array(zstdCompressSync(bytes));
}

function unpacked(bytes: Uint8Array): Uint32Array {
  // A compressed sketch begins with another byte.
  const plain = bytes[0]! <= ofInstants ? bytes : zstdDecompressSync(bytes, { maxOutputLength: longestSketch });
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

/** Sums of a list of keys and counts by key. */
function byKey(list: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (let i = 0; i < list.length; i += 2) counts.set(list[i]!, (counts.get(list[i]!) ?? 0) + list[i + 1]!);
  return counts;
}

/** Properties of a sketch. */
export interface PrintSketchOptions {
  /** True to record every print, for the comparison with a small tape. */
  exact?: boolean;
  /** True if prints have ids beside their instants. */
  hasIds?: boolean;
  /** Identifies a contract by its number. */
  contractHash?: (contract: number) => number;
}

/** Sketch of a tape's prints, added one after another. */
export class PrintSketch {
  prints = 0;
  readonly #isExact: boolean;
  readonly #contractHash: (contract: number) => number;
  #minutes = new Uint32Array(64);
  #contracts = new Uint32Array(8);
  // Null once there are too many.
  #hashes: Uint32Array<ArrayBuffer> | null = new Uint32Array(64);
  #ids: Uint32Array<ArrayBuffer> | null;
  #noted = 0;

  constructor({ exact = false, hasIds = false, contractHash = () => 0 }: PrintSketchOptions = {}) {
    this.#isExact = exact;
    this.#contractHash = contractHash;
    this.#ids = hasIds ? new Uint32Array(64) : null;
  }

  /** Counts a print by the minute of the session and the number of its contract (0 for a stock). */
  count(minute: number, contract: number): void {
    this.prints++;
    if (minute >= this.#minutes.length) this.#minutes = grown(this.#minutes, minute);
    if (contract >= this.#contracts.length) this.#contracts = grown(this.#contracts, contract);
    this.#minutes[minute]!++;
    this.#contracts[contract]!++;
    if (this.prints > exactPrints && !this.#isExact) this.#hashes = null;
  }

  /** True while single prints are recorded: call `addPrint` beside `count`. */
  get wantsPrints(): boolean {
    return this.#hashes !== null;
  }

  /** Records a print by a hash of its venue and instant, and one of its id. */
  addPrint(hash: number, ofId = hash): void {
    if (this.#hashes === null) return;
    if (this.#noted === this.#hashes.length) {
      this.#hashes = grown(this.#hashes, this.#noted);
      if (this.#ids) this.#ids = grown(this.#ids, this.#noted);
    }
    if (this.#ids) this.#ids[this.#noted] = ofId;
    this.#hashes[this.#noted++] = hash;
  }

  /** Removes a print that was counted, and recorded if prints are. */
  remove(minute: number, contract: number, hash: number, ofId: number): void {
    this.prints--;
    this.#minutes[minute]!--;
    this.#contracts[contract]!--;
    if (this.#hashes === null) return;
    this.#hashes.copyWithin(this.#hashes.indexOf(hash), this.#hashes.indexOf(hash) + 1, this.#noted);
    this.#ids?.copyWithin(this.#ids.indexOf(ofId), this.#ids.indexOf(ofId) + 1, this.#noted);
    this.#noted--;
  }

  encoded(): Uint8Array<ArrayBuffer> {
    const kind = this.#ids ? ofInstants : ofPrints;
    if (this.prints <= exactPrints && this.#hashes) return packed(Uint32Array.of(kind, ...this.#sorted(this.#hashes)));
    const perMinute = this.#ofMinutes();
    return packed(Uint32Array.from([ofCounts, perMinute.length, ...perMinute, ...this.#ofContracts()]));
  }

  /** Minimum number of prints of a stored sketch that this tape lacks. */
  lacking(stored: Uint8Array): number {
    const numbers = unpacked(stored);
    if (numbers[0] !== ofCounts) {
      const now = numbers[0] === ofPrints ? (this.#ids ?? this.#hashes) : this.#hashes;
      return missing(numbers.subarray(1), this.#hashes === null ? Uint32Array.of() : this.#sorted(now!));
    }
    const [from, to] = [2, 2 + numbers[1]!];
    return Math.max(
      deficit(numbers.subarray(from, to), byKey(this.#ofMinutes())),
      deficit(numbers.subarray(to), byKey(this.#ofContracts())),
    );
  }

  #sorted(of: Uint32Array<ArrayBuffer>): Uint32Array {
    return of.slice(0, this.#noted).sort();
  }

  #ofMinutes(): number[] {
    return [...pairs(this.#minutes, (minute) => minute)];
  }

  #ofContracts(): number[] {
    return [...pairs(this.#contracts, this.#contractHash)];
  }
}
