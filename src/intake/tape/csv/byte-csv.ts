import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import { priceUnits, sizeParts } from '../../../core/domain/market/print.ts';
import type { HeaderFormat } from '../formats/format.ts';
import { splitCsvLine } from '../text/csv-rows.ts';
import { type ColumnIndex, readLine, recognized } from './csv.ts';
import { readLineBlocks } from './lines.ts';
import { type OnBadLine, type OnBytes, TapeFileError } from './tape-file.ts';
import { readNumber, shown } from './values.ts';

/*
 * CSV for trade tapes: fields are offsets in the file's bytes, and numbers are read from there; text is made only of
 * what is new. For files in which every line is a record: a quoted field may hold commas, no line end. Measured, gunzip
 * included, in a second of one core: 1.6 million stock prints (the real BAC tapes), 1.5 million option prints.
 */

/** One line's fields: field i is `bytes[start[i] … end[i])`, without its quotes. Reused for every line. */
export interface ByteFields {
  bytes: Buffer;
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** Offset of the line's end: its line feed, or the end of the bytes. */
  stop: number;
}

/** As `CsvFormat`, over bytes. */
export interface ByteCsvFormat<T extends object, Name extends string> extends HeaderFormat<Name> {
  /**
   * Called once with the header's columns. Returns the function that reads a line: its record, the reason why it is
   * invalid, or null for a line to skip.
   */
  reader(at: ColumnIndex<Name>): (fields: ByteFields) => T | string | null;
}

const [lineFeed, carriageReturn, comma, quote] = [0x0a, 0x0d, 0x2c, 0x22];

/** End offset of the field at `at`: a comma, a line feed, or the end of the bytes. */
function fieldEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  let stop = at;
  for (; stop < length; stop++) {
    const code = bytes[stop]!;
    if (code === comma || code === lineFeed) break;
  }
  return stop;
}

/** Offset of the quote that closes the one at `at`; negative if the line has none: −the line's end. */
function quotedEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  for (let stop = at + 1; stop < length; stop++) {
    if (bytes[stop] === quote) return stop;
    if (bytes[stop] === lineFeed) return -stop;
  }
  return -length;
}

/**
 * Finds the end of the line after a field that ended at `stop`, and excludes a carriage return before it from the
 * field.
 */
function endLine(fields: ByteFields, count: number, stop: number): number {
  const { bytes, start, end } = fields;
  fields.stop = stop;
  if (end[count - 1] === stop && stop > start[count - 1]! && bytes[stop - 1] === carriageReturn)
    end[count - 1] = stop - 1;
  return count;
}

/** Finds the fields of the line at `from`. Returns their number, −1 if a quoted one does not end in it. */
function splitLine(fields: ByteFields, from: number): number {
  const { bytes, start, end } = fields;
  const { length } = bytes;
  let count = 0;
  for (let at = from; ; at++) {
    if (count === start.length) {
      const feed = bytes.indexOf(lineFeed, at);
      fields.stop = feed < 0 ? length : feed;
      return count + 1;
    }
    let stop = at;
    if (bytes[at] === quote) {
      stop = quotedEnd(bytes, at);
      if (stop < 0) {
        fields.stop = -stop;
        return -1;
      }
      start[count] = at + 1;
      end[count++] = stop++;
      if (stop < length && bytes[stop] === carriageReturn && (stop + 1 === length || bytes[stop + 1] === lineFeed))
        stop++;
      // No tape's field has text after a closing quote, or a doubled quote: such a field is shown whole.
      if (stop < length && bytes[stop] !== comma && bytes[stop] !== lineFeed) {
        stop = fieldEnd(bytes, stop);
        start[count - 1] = at;
        end[count - 1] = stop;
      }
    } else {
      stop = fieldEnd(bytes, at);
      start[count] = at;
      end[count++] = stop;
    }
    if (stop >= length || bytes[stop] === lineFeed) return endLine(fields, count, stop);
    at = stop;
  }
}

/** Reads the header line; null if it is blank. */
function headerOf(text: string): string[] | null {
  return text.trim() === '' ? null : (splitCsvLine(text) ?? []);
}

/** A field in the form shown in the reason for a bad line. */
export function shownField({ bytes, start, end }: ByteFields, column: number): string {
  return shown(column < 0 ? '' : bytes.toString('latin1', start[column]!, Math.min(end[column]!, start[column]! + 40)));
}

/** Positions of a file's columns: enough to read a piece of it independently of the others. */
export interface ByteHeader<Name extends string> {
  at: ColumnIndex<Name>;
  /** Number of columns of a line, including unread ones. */
  width: number;
}

/** Some consecutive lines of a file. */
export interface BytePiece<Name extends string> {
  header: ByteHeader<Name>;
  bytes: Buffer;
  /** Number of lines between this piece and the one before, including the header: nonzero only for the first piece. */
  linesBefore: number;
}

/**
 * The lines of a file below its header, in pieces; a piece's buffer is not reused. Throws `TapeFileError` if the file
 * cannot be read as a whole: no header, damaged or truncated compression.
 */
export async function* readBytePieces<Name extends string>(
  path: string,
  format: HeaderFormat<Name>,
  onBytes?: OnBytes,
): AsyncGenerator<BytePiece<Name>> {
  let header: ByteHeader<Name> | null = null;
  let linesBefore = 0;
  for await (const bytes of readLineBlocks(path, onBytes)) {
    let from = 0;
    for (; header === null && from <= bytes.length; linesBefore++) {
      const feed = bytes.indexOf(lineFeed, from);
      const stop = feed < 0 ? bytes.length : feed;
      const text = bytes.toString('utf8', from, stop);
      const names = headerOf(text.replace(/\r$/, '').replace(/^\ufeff/, ''));
      if (names) header = { at: recognized<Name, HeaderFormat<Name>>(path, names, [format]).at, width: names.length };
      from = stop + 1;
    }
    if (header === null || from > bytes.length) continue;
    yield { header, bytes: bytes.subarray(from), linesBefore };
    linesBefore = 0;
  }
  if (!header) throw new TapeFileError(path, 'the file is empty; expected a header line');
}

/** Called for each record of some lines, and for each bad line with its number from 0 and the reason. */
interface LineTaker<T> {
  take(record: T): void;
  bad(line: number, reason: string): void;
}

/** Creates a function that reads all lines of a piece and returns their number. `read` as of `ByteCsvFormat`. */
export function byteLineReader<T extends object>(
  width: number,
  read: (fields: ByteFields) => T | string | null,
): (bytes: Buffer, taker: LineTaker<T>) => number {
  const fields: ByteFields = {
    bytes: Buffer.alloc(0),
    start: new Int32Array(width),
    end: new Int32Array(width),
    stop: 0,
  };

  function recordOf(from: number): T | string | null {
    const count = splitLine(fields, from);
    if (count === width) return readLine(read, fields);
    const { bytes, stop } = fields;
    if (bytes.toString('latin1', from, stop).trim() === '') return null;
    if (count < 0) return 'unterminated quoted field';
    return `expected ${width} columns, found ${count > width ? 'more' : count}`;
  }

  return (bytes, taker) => {
    fields.bytes = bytes;
    let lines = 0;
    for (let from = 0; from <= bytes.length; from = fields.stop + 1, lines++) {
      const record = recordOf(from);
      if (typeof record === 'string') taker.bad(lines, record);
      else if (record !== null) taker.take(record);
    }
    return lines;
  };
}

/**
 * Streams the records of a trade tape, plain or gzip, one batch per chunk of the file. A bad line is reported to
 * `onBadLine` and skipped. Throws `TapeFileError` if the file cannot be read as a whole: no header, damaged or
 * truncated compression.
 */
export async function* readByteCsv<T extends object, Name extends string>(
  path: string,
  format: ByteCsvFormat<T, Name>,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
): AsyncGenerator<T[]> {
  let readLines: ReturnType<typeof byteLineReader<T>> | null = null;
  let line = 1;
  for await (const { header, bytes, linesBefore } of readBytePieces(path, format, onBytes)) {
    readLines ??= byteLineReader(header.width, format.reader(header.at));
    line += linesBefore;
    const records: T[] = [];
    line += readLines(bytes, {
      take: (record) => records.push(record),
      bad: (at, reason) => onBadLine({ file: path, line: line + at, reason }),
    });
    if (records.length > 0) yield records;
  }
}

const slotCount = 64;

function isText(text: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const { length } = text;
  if (length !== end - start) return false;
  // From the end, where contracts of one root differ.
  for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/**
 * Cached meanings of texts, found by their bytes: a tape repeats the same few thousand tickers and condition lists a
 * hundred million times, mostly a recent one. `read` is called once per text; null = no meaning, which is not cached,
 * because the number of invalid texts is unlimited.
 */
export function byteTexts<T>(
  read: (text: string) => T | null,
): (bytes: Buffer, start: number, end: number) => T | null {
  const known = new Map<string, T>();
  // Recent texts, by a hash of their last bytes: a hit creates no text and reads no table.
  const recent: { text: Buffer; meaning: T | null }[] = Array.from({ length: slotCount }, () => ({
    text: Buffer.alloc(0),
    meaning: null,
  }));

  return (bytes, start, end) => {
    const slot = recent[(end - start + bytes[end - 1]! + 5 * bytes[end - 2]!) & (slotCount - 1)]!;
    if (slot.meaning !== null && isText(slot.text, bytes, start, end)) return slot.meaning;
    const text = bytes.toString('latin1', start, end);
    let meaning: T | null = known.get(text) ?? null;
    if (meaning === null) {
      meaning = read(text);
      if (meaning === null) return null;
      known.set(text, meaning);
    }
    slot.text = Buffer.from(text, 'latin1');
    slot.meaning = meaning;
    return meaning;
  };
}

/*
 * Numbers read straight from a file's bytes, `bytes[start…end)`: for trade tapes, with a hundred million lines a day.
 * All return NaN for text that is not such a number, and for blank text.
 */

const [zero, nine, point] = [0x30, 0x39, 0x2e];

// Maximum number of digits that a double represents exactly.
const exactDigits = 15;

// Up to this many digits fit a small integer, with which a processor computes faster than with doubles.
const smallDigits = 9;
const smallLimit = 10 ** smallDigits;

/** At least one digit and at most nine. */
function smallAt(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - zero;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = (value * 10 + digit) | 0;
  }
  return value;
}

/** Whole numbers from 0 to 10^15. */
export function countAt(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length <= 0 || length > exactDigits) return Number.NaN;
  if (length <= smallDigits) return smallAt(bytes, start, end);
  const middle = end - smallDigits;
  return smallAt(bytes, start, middle) * smallLimit + smallAt(bytes, middle, end);
}

/** A number parsed by `readNumber`, in `1/scale`, rounded: the fallback of `scaledAt`. */
function writtenAt(bytes: Buffer, start: number, end: number, scale: number): number {
  const value = Math.round(readNumber(bytes.toString('latin1', start, end)) * scale);
  return value >= 0 && Number.isSafeInteger(value) ? value : Number.NaN;
}

/** A decimal number from 0 in units of 10^-places: exact up to that many decimals, rounded beyond. */
function scaledAt(bytes: Buffer, start: number, end: number, places: number): number {
  let value = 0;
  let decimals = -1;
  if (end <= start || end - start > exactDigits - places) return writtenAt(bytes, start, end, 10 ** places);
  for (let i = start; i < end; i++) {
    const code = bytes[i]!;
    if (code >= zero && code <= nine) {
      // Digits beyond the unit are left to the fallback, which rounds.
      if (decimals >= places) return writtenAt(bytes, start, end, 10 ** places);
      value = value * 10 + (code - zero);
      if (decimals >= 0) decimals++;
    } else if (code === point && decimals < 0) decimals = 0;
    else return writtenAt(bytes, start, end, 10 ** places);
  }
  if (decimals <= 0 && bytes[end - 1] === point) return writtenAt(bytes, start, end, 10 ** places);
  for (let i = Math.max(decimals, 0); i < places; i++) value *= 10;
  return value;
}

const pricePlaces = Math.log10(priceUnits);
const sizePlaces = Math.log10(sizeParts);

/** Dollars from 0 as an integer of 1e-4 dollars. */
export function priceAt(bytes: Buffer, start: number, end: number): number {
  return scaledAt(bytes, start, end, pricePlaces);
}

/** Most sizes are integers of few digits. */
export function sizeMicrosAt(bytes: Buffer, start: number, end: number): number {
  // Nearly all sizes are whole and short.
  const whole = end - start <= 8 ? countAt(bytes, start, end) : Number.NaN;
  return Number.isNaN(whole) ? scaledAt(bytes, start, end, sizePlaces) : whole * sizeParts;
}

/** Epoch ms of a timestamp with a number of digits below its millisecond; NaN if it is outside the bounds. */
export function stampMsAt(
  bytes: Uint8Array,
  start: number,
  end: number,
  digits: number,
  { fromMs, toMs }: InstantBounds,
): number {
  const ms = countAt(bytes, start, end - digits);
  return ms >= fromMs && ms <= toMs ? ms : Number.NaN;
}

/** Nanoseconds of the last digit, by the number of digits below a millisecond. */
const nanosOfDigits = [1_000_000, 100_000, 10_000, 1000, 100, 10, 1];

/** The nanoseconds of a timestamp within its millisecond. */
export function stampNanosAt(bytes: Uint8Array, end: number, digits: number): number {
  return digits === 0 ? 0 : countAt(bytes, end - digits, end) * nanosOfDigits[digits]!;
}
