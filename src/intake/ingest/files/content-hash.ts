import { createHash } from 'node:crypto';
import { baseNameOf } from '../../../core/domain/chain/capture-inputs.ts';
import type { IngestedSource } from '../../../core/domain/generation.ts';
import { readBytes } from '../../tape/csv/tape-file.ts';

/** Hash of a file's unpacked content, so that the same content in another compression is recognized. */
export interface ContentHash {
  /** Hash of the first 64 KiB. */
  readonly head: string;
  readonly whole: string;
}

const headBytes = 64 * 1024;

/**
 * Hashes content as it is read. `shape`: settings that change the result. A file ingested under different settings
 * counts as a different file.
 */
export class ContentHasher {
  readonly #head;
  readonly #whole;
  #missing = headBytes;

  constructor(shape: string) {
    this.#head = createHash('sha256').update(shape);
    this.#whole = createHash('sha256').update(shape);
  }

  add(bytes: Buffer): void {
    this.#whole.update(bytes);
    if (this.#missing === 0) return;
    const first = bytes.subarray(0, this.#missing);
    this.#head.update(first);
    this.#missing -= first.length;
  }

  /** False once the head is complete. */
  get wantsHead(): boolean {
    return this.#missing > 0;
  }

  digest(): ContentHash {
    return { head: this.#head.digest('base64url'), whole: this.#whole.digest('base64url') };
  }
}

const lineFeed = 0x0a;

/** Measures a content as it is read: its own hash, and its lines. */
export class ContentMeter {
  readonly #hash = createHash('sha256');
  #lineFeeds = 0;
  #isEnded = true;

  add(bytes: Buffer): void {
    this.#hash.update(bytes);
    for (let i = bytes.indexOf(lineFeed); i >= 0; i = bytes.indexOf(lineFeed, i + 1)) this.#lineFeeds++;
    if (bytes.length > 0) this.#isEnded = bytes.at(-1) === lineFeed;
  }

  /** SHA-256 of what was added, hexadecimal, and its number of lines. */
  measured(): { sha256: string; lines: number } {
    return { sha256: this.#hash.copy().digest('hex'), lines: this.#lineFeeds + (this.#isEnded ? 0 : 1) };
  }
}

/** A file that was read, as a source of what was written; `headerLines`: null = its lines are not records. */
export function sourceOf(name: string, meter: ContentMeter, headerLines: number | null = 1): IngestedSource {
  const { sha256, lines } = meter.measured();
  return { name: baseNameOf(name), sha256, lines: headerLines === null ? null : Math.max(0, lines - headerLines) };
}

/** Measures several files as they are read, by their paths. */
export class FileMeters {
  readonly #meters = new Map<string, ContentMeter>();

  /** Adds a piece of a file. */
  add(path: string, text: Buffer): void {
    const meter = this.#meters.get(path) ?? new ContentMeter();
    this.#meters.set(path, meter);
    meter.add(text);
  }

  /** The files as sources, each a CSV with a header, in the order in which they were read. */
  sources(): IngestedSource[] {
    return Array.from(this.#meters, ([path, meter]) => sourceOf(path, meter));
  }
}

/** The hash of how a file begins. Throws `TapeFileError`, and what `look` throws, which is called as it is read. */
export async function hashHead(path: string, shape: string, look: () => void): Promise<string> {
  const hasher = new ContentHasher(shape);
  for await (const bytes of readBytes(path, look)) {
    hasher.add(bytes);
    if (!hasher.wantsHead) break;
  }
  return hasher.digest().head;
}

/** The hash of a whole file; as `hashHead`. */
export async function hashFile(path: string, shape: string, look: () => void): Promise<ContentHash> {
  const hasher = new ContentHasher(shape);
  for await (const bytes of readBytes(path, look)) hasher.add(bytes);
  return hasher.digest();
}
