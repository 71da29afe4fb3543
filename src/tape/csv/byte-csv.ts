import { type ColumnIndex, columnIndex, splitCsvLine } from './csv.ts';
import { readLineBlocks } from './lines.ts';
import { type OnBadLine, type OnBytes, TapeFileError } from './tape-file.ts';
import { shown } from './values.ts';

/*
 * CSV for trade tapes: fields are places in the file's bytes, and numbers are read from there; text is made only of
 * what is new. For files in which every line is a record: a quoted field may hold commas, no line end. Measured, gunzip
 * included, in a second of one core: 1.6 million stock prints (the real BAC tapes), 1.5 million option prints.
 */

/** One line's fields: field i is `bytes[start[i] … end[i])`, without its quotes. Filled again for every line. */
export interface ByteFields {
  bytes: Buffer;
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** Where the line ends: its line feed, or the end of the bytes. */
  stop: number;
}

/** As `CsvFormat`, over bytes. */
export interface ByteCsvFormat<T extends object, Required extends string, Optional extends string> {
  required: readonly Required[];
  optional: readonly Optional[];
  /** Called once with the header's columns; gives the function that reads a line: its record, or why it is bad. */
  reader(at: ColumnIndex<Required | Optional>): (fields: ByteFields) => T | string;
}

const [lineFeed, carriageReturn, comma, quote] = [0x0a, 0x0d, 0x2c, 0x22];

/** Where a field that begins at `at` ends: at a comma, a line feed, or the end of the bytes. */
function fieldEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  let stop = at;
  for (; stop < length; stop++) {
    const code = bytes[stop]!;
    if (code === comma || code === lineFeed) break;
  }
  return stop;
}

/** Where the quote is that closes the one at `at`; below zero, −the line's end: nowhere in the line. */
function quotedEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  for (let stop = at + 1; stop < length; stop++) {
    if (bytes[stop] === quote) return stop;
    if (bytes[stop] === lineFeed) return -stop;
  }
  return -length;
}

/**
 * Finds the end of the line that a field ended at `stop` of, and leaves a carriage return before it out of the field.
 */
function endLine(fields: ByteFields, count: number, stop: number): number {
  const { bytes, start, end } = fields;
  fields.stop = stop;
  if (end[count - 1] === stop && stop > start[count - 1]! && bytes[stop - 1] === carriageReturn)
    end[count - 1] = stop - 1;
  return count;
}

/**
 * Finds the fields of the line that begins at `from`; gives how many there are, −1 when a quoted one does not end in
 * it.
 */
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
      // What follows a closing quote, a doubled one included, is nothing that a tape's field holds: the field is shown
      // whole.
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

/** Reads the header line; null when it is blank. */
function headerOf(text: string): string[] | null {
  return text.trim() === '' ? null : (splitCsvLine(text) ?? []);
}

/** What a reason for a bad line says of a field. */
export function shownField({ bytes, start, end }: ByteFields, column: number): string {
  return shown(column < 0 ? '' : bytes.toString('latin1', start[column]!, Math.min(end[column]!, start[column]! + 40)));
}

/**
 * Streams the records of a trade tape, plain or gzip, a batch for each chunk of the file. A bad line is reported to
 * `onBadLine` and omitted. Throws `TapeFileError` when the file as a whole cannot be read: no header, damaged or cut
 * compression.
 */
export async function* readByteCsv<T extends object, R extends string, O extends string>(
  path: string,
  format: ByteCsvFormat<T, R, O>,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
): AsyncGenerator<T[]> {
  let read: ((fields: ByteFields) => T | string) | null = null;
  let fields: ByteFields = { bytes: Buffer.alloc(0), start: new Int32Array(0), end: new Int32Array(0), stop: 0 };
  let line = 0;

  function readHeader(from: number) {
    const { bytes } = fields;
    const feed = bytes.indexOf(lineFeed, from);
    const stop = feed < 0 ? bytes.length : feed;
    fields.stop = stop;
    const header = headerOf(
      bytes
        .toString('utf8', from, stop)
        .replace(/\r$/, '')
        .replace(/^\ufeff/, ''),
    );
    if (!header) return;
    const at = columnIndex<R | O>(path, header, format.required, format.optional);
    fields = { bytes, start: new Int32Array(header.length), end: new Int32Array(header.length), stop };
    read = format.reader(at);
  }

  function recordOf(from: number): T | string | null {
    const count = splitLine(fields, from);
    const { bytes, start, stop } = fields;
    if (count === start.length) return read!(fields);
    if (bytes.toString('latin1', from, stop).trim() === '') return null;
    if (count < 0) return 'unterminated quoted field';
    return `expected ${start.length} columns, found ${count > start.length ? 'more' : count}`;
  }

  for await (const bytes of readLineBlocks(path, onBytes)) {
    fields.bytes = bytes;
    const records: T[] = [];
    for (let from = 0; from <= bytes.length; from = fields.stop + 1) {
      line++;
      if (!read) {
        readHeader(from);
        continue;
      }
      const record = recordOf(from);
      if (typeof record === 'string') onBadLine({ file: path, line, reason: record });
      else if (record !== null) records.push(record);
    }
    if (records.length > 0) yield records;
  }
  if (!read) throw new TapeFileError(path, 'the file is empty; expected a header line');
}
