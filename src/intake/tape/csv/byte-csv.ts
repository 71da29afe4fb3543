import type { HeaderFormat } from '../formats/format.ts';
import { splitCsvLine } from '../text/csv-line.ts';
import { type ColumnIndex, readLine, recognized } from './csv.ts';
import { readLineBlocks } from './lines.ts';
import { type OnBadLine, type OnBytes, TapeFileError } from './tape-file.ts';
import { shown } from './values.ts';

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
export interface LineTaker<T> {
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
