import { dateOfEpochDay } from '../../../../core/domain/market-time.ts';
import { dayMs } from '../../../../platform/runtime/clock.ts';
import { VendorError } from '../../formats/vendor.ts';

/** Bytes of the header of a record. */
export const headerLength = 16;

/** Offsets of fields in a record. Those after the header are of trades and quotes. */
export const at = { kind: 1, publisher: 2, instrument: 4, event: 8, price: 16, size: 24, action: 28 } as const;
export const later = { sequence: 44, bid: 48, ask: 56 } as const;

const nanosInDollar = 1e9;
const [undefHigh, undefLow] = [0x7fffffff, 0xffffffff];

/** The dollars of a price in billionths, as digits; blank if it is undefined. */
export function priceText(bytes: Buffer, offset: number): string {
  const [low, high] = [bytes.readUInt32LE(offset), bytes.readInt32LE(offset + 4)];
  if (high === undefHigh && low === undefLow) return '';
  const value = high * 2 ** 32 + low;
  // Beyond 9 million dollars a double would lose digits.
  if (!Number.isSafeInteger(value)) return exactPriceText(bytes.readBigInt64LE(offset));
  const dollars = Math.trunc(value / nanosInDollar);
  const fraction = Math.abs(value - dollars * nanosInDollar);
  const sign = value < 0 && dollars === 0 ? '-' : '';
  if (fraction === 0) return `${sign}${dollars}`;
  // Most prices are of ten-thousandths.
  const digits = fraction % 1e5 === 0 ? String(fraction / 1e5).padStart(4, '0') : String(fraction).padStart(9, '0');
  return `${sign}${dollars}.${digits}`;
}

function exactPriceText(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(10, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

/** Nanoseconds of the event of a record, since 1970 in UTC. */
export const eventNanos = (bytes: Buffer, offset: number) => bytes.readBigUInt64LE(offset + at.event);

/** Milliseconds of them; the rest is dropped. A double of the nanoseconds could be one of the millisecond before. */
export const eventMs = (bytes: Buffer, offset: number) => Number(eventNanos(bytes, offset) / 1_000_000n);

/** Writes the row of a record with its ticker; null for a record without one. */
export type WriteRow = (bytes: Buffer, offset: number, ticker: string) => string | null;

/**
 * Calls `take` for each record of bytes that arrive in pieces, with its offset and length. `from`: offset in the file
 * of the first. Memory holds a piece. Throws `VendorError` with the byte.
 */
export async function* recordPieces<T>(
  pieces: AsyncIterable<Buffer>,
  from: number,
  take: (bytes: Buffer, offset: number, length: number) => void,
  flush: () => T,
): AsyncGenerator<T> {
  let rest: Buffer = Buffer.alloc(0);
  let position = from;
  for await (const piece of pieces) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    let offset = 0;
    while (offset < bytes.length) {
      const length = bytes[offset]! * 4;
      if (length < headerLength)
        throw new VendorError(`byte ${position + offset}: expected a record of at least 16 bytes, got ${length}`);
      if (offset + length > bytes.length) break;
      take(bytes, offset, length);
      offset += length;
    }
    rest = bytes.subarray(offset);
    position += offset;
    yield flush();
  }
  if (rest.length > 0)
    throw new VendorError(`byte ${position}: the record ends after ${rest.length} bytes: the file is incomplete`);
}

/** Length of what precedes the metadata: `DBN`, the version, and the length of the metadata. */
export const preludeLength = 8;
const fixedLength = 100;
const newestVersion = 3;
const symbolLengthV1 = 22;
const mixedSchema = 0xffff;
// Mappings of every contract of a day of OPRA are some 150 MB.
const maxLength = 512 * 1024 * 1024;

/** A symbol of an instrument, from a UTC date to another one, which is not included. Epoch ms. */
interface SymbolSpan {
  fromMs: number;
  toMs: number;
  symbol: string;
}

/** Metadata of a file. */
export interface DbnMetadata {
  version: number;
  /** Number of the schema; null = records of several. */
  schema: number | null;
  /** Length of a symbol in records, bytes. */
  symbolLength: number;
  symbols: DbnSymbols;
}

/** Symbols of instruments, by their numbers. */
export class DbnSymbols {
  readonly #spans = new Map<number, SymbolSpan[]>();

  add(instrument: number, span: SymbolSpan): void {
    const spans = this.#spans.get(instrument);
    if (spans) spans.push(span);
    else this.#spans.set(instrument, [span]);
  }

  /** The symbol of an instrument at an instant, epoch ms: the last one added, because numbers are reused; or null. */
  find(instrument: number, tsMs: number): string | null {
    const spans = this.#spans.get(instrument);
    return spans?.findLast(({ fromMs, toMs }) => tsMs >= fromMs && tsMs < toMs)?.symbol ?? null;
  }
}

/** A text that zeros fill up. */
export function fixedText(bytes: Buffer, at: number, length: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString('latin1', at, end < 0 || end > at + length ? at + length : end);
}

/** The version and the length of the metadata. Throws `VendorError`. */
export function readPrelude(bytes: Buffer): { version: number; length: number } {
  const version = bytes[3]!;
  if (version < 1 || version > newestVersion)
    throw new VendorError(`byte 3: expected version 1 to ${newestVersion} of DBN, got ${version}`);
  const length = bytes.readUInt32LE(4);
  if (length < fixedLength || length > maxLength)
    throw new VendorError(`byte 4: expected metadata of ${fixedLength} to ${maxLength} bytes, got ${length}`);
  return { version, length };
}

/** Reads values one after another, checked against the end of the metadata. */
class MetadataReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #symbolLength: number;

  constructor(bytes: Buffer, at: number, symbolLength: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#symbolLength = symbolLength;
  }

  #skip(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length)
      throw new VendorError(`byte ${preludeLength + at}: the metadata ends before ${length} more bytes of it`);
    this.#at += length;
    return at;
  }

  /** A count of items of at least a length each, which must fit. */
  count(itemLength: number): number {
    const at = this.#skip(4);
    const count = this.#bytes.readUInt32LE(at);
    if (count * itemLength > this.#bytes.length - this.#at)
      throw new VendorError(`byte ${preludeLength + at}: expected a number of items that fit, got ${count}`);
    return count;
  }

  skip(itemLength: number): void {
    this.#skip(this.count(itemLength) * itemLength);
  }

  symbol(): string {
    return fixedText(this.#bytes, this.#skip(this.#symbolLength), this.#symbolLength);
  }

  /** Start of a UTC date `YYYYMMDD`, epoch ms. */
  date(): number {
    const at = this.#skip(4);
    const number = this.#bytes.readUInt32LE(at);
    const [year, month, day] = [Math.floor(number / 10_000), Math.floor(number / 100) % 100, number % 100];
    const tsMs = Date.UTC(year, month - 1, day);
    if (Number.isNaN(tsMs) || dateOfEpochDay(tsMs / dayMs).replaceAll('-', '') !== String(number))
      throw new VendorError(`byte ${preludeLength + at}: expected a date YYYYMMDD, got ${number}`);
    return tsMs;
  }
}

const instrumentNumber = 0;

/** The number of an instrument in a mapping; null for a blank one, of an interval without data. */
function numberOf(text: string): number | null {
  if (text === '') return null;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number < 2 ** 32)) throw new VendorError(`metadata: expected the number of an instrument, got "${text}"`);
  return number;
}

/** Symbols of a mapping that are read at a time: some 30 ms of work. */
const symbolsAtOnce = 65_536;

/**
 * Reads the metadata of a file, without its prelude; yields within long ones, so that others come to work. Throws
 * `VendorError` with the byte.
 */
export function* readMetadata(bytes: Buffer, version: number): Generator<void, DbnMetadata> {
  const schema = bytes.readUInt16LE(16);
  // Version 1 has a number of records before the types of symbols, and no length of symbols after them.
  const typesAt = version === 1 ? 50 : 42;
  const [typeIn, typeOut] = [bytes[typesAt]!, bytes[typesAt + 1]!];
  const symbolLength = version === 1 ? symbolLengthV1 : bytes.readUInt16LE(typesAt + 3);
  if (symbolLength < symbolLengthV1 || symbolLength > 255)
    throw new VendorError(`byte ${preludeLength + typesAt + 3}: expected a length of symbols, got ${symbolLength}`);
  const reader = new MetadataReader(bytes, fixedLength, symbolLength);
  // A schema's definition, and the lists of requested, partly and not found symbols.
  reader.skip(1);
  for (let list = 0; list < 3; list++) reader.skip(symbolLength);
  const symbols = new DbnSymbols();
  let count = 0;
  for (let left = reader.count(symbolLength + 4); left > 0; left--) {
    const asked = reader.symbol();
    for (let spans = reader.count(symbolLength + 8); spans > 0; spans--) {
      if (++count % symbolsAtOnce === 0) yield;
      const [fromMs, toMs, found] = [reader.date(), reader.date(), reader.symbol()];
      const isByNumber = typeIn === instrumentNumber && typeOut !== instrumentNumber;
      const instrument = numberOf(isByNumber ? asked : found);
      if (instrument !== null) symbols.add(instrument, { fromMs, toMs, symbol: isByNumber ? found : asked });
    }
  }
  return { version, schema: schema === mixedSchema ? null : schema, symbolLength, symbols };
}
