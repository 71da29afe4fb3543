import { type HeaderFormat, lacking } from '../formats/format.ts';
import { splitCsvLine } from '../text/csv-rows.ts';
import { type LineBatch, readLines } from './lines.ts';
import { type OnBadLine, type OnBytes, TapeFileError } from './tape-file.ts';
import { vendorFormatsOf } from './translate.ts';

/** Positions of a format's columns: the index of each in a line, −1 for an absent optional one. */
export type ColumnIndex<Name extends string> = Record<Name, number>;

/** A format, with its conversion of lines to records. */
export interface CsvFormat<T extends object, Name extends string> extends HeaderFormat<Name> {
  /**
   * Called once with the header's columns. Returns the function that reads a line: its record, the reason why it is
   * invalid, or null for a line to skip.
   */
  reader(at: ColumnIndex<Name>): (fields: readonly string[]) => T | string | null;
}

/** Records of consecutive lines, and their line numbers. */
export interface RecordBatch<T> {
  records: T[];
  lineNumbers: number[];
}

/**
 * The first format that fits a header line, and the positions of its columns. Throws `TapeFileError` if none fits, or a
 * column is repeated.
 */
export function recognized<Name extends string, Format extends HeaderFormat<Name>>(
  path: string,
  header: readonly string[],
  formats: readonly Format[],
): { format: Format; at: ColumnIndex<Name> } {
  const names = header.map((name) => name.trim().toLowerCase());
  const format = formats.find((each) => lacking(each, names).length === 0);
  if (format === undefined) {
    const known = [...formats, ...vendorFormatsOf(formats.flatMap(({ datasets }) => datasets))];
    const missing = known.map((each) => `${lacking(each, names).join(', ')} of the format ${each.name}`);
    throw new TapeFileError(
      path,
      `line 1: the header has no column ${missing.join(', nor ')} (it reads ${JSON.stringify(header.join(',').slice(0, 120))})`,
    );
  }
  const { required, optional } = format;
  const twice = [...required, ...optional].find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) throw new TapeFileError(path, `line 1: the header has the column ${twice} twice`);
  const places = [...required, ...optional].map((name) => [name, names.indexOf(name)]);
  return { format, at: Object.fromEntries(places) as ColumnIndex<Name> };
}

/** Reads a line. An error in it concerns the line, and is its reason. */
export function readLine<Fields, T>(read: (fields: Fields) => T, fields: Fields): T | string {
  try {
    return read(fields);
  } catch (error) {
    return `cannot be read (${(error as Error).message})`;
  }
}

/** Joins physical lines into records if a quoted field contains a line end. */
function* csvRecords(
  batch: LineBatch,
  open: { text: string; line: number },
): Generator<{ fields: string[]; line: number }> {
  for (let i = 0; i < batch.lines.length; i++) {
    const text = batch.lines[i]!;
    const line = open.text === '' ? batch.firstLine + i : open.line;
    const whole = open.text === '' ? text : `${open.text}\n${text}`;
    const fields = splitCsvLine(whole);
    if (fields) {
      open.text = '';
      if (fields.length > 1 || fields[0]!.trim() !== '') yield { fields, line };
    } else {
      open.text = whole;
      open.line = line;
      if (whole.length > 65_536) yield { fields: [], line };
    }
  }
}

/**
 * Streams the records of a CSV file of one of these formats, plain or gzip. A bad line is reported to `onBadLine` and
 * skipped. Throws `TapeFileError` if the file cannot be read as a whole: no header of these formats, damaged or
 * truncated compression, not text.
 */
export async function* readCsv<T extends object, Name extends string>(
  path: string,
  formats: readonly CsvFormat<T, Name>[],
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
): AsyncGenerator<RecordBatch<T>> {
  let read: ((fields: readonly string[]) => T | string | null) | null = null;
  let width = 0;
  const open = { text: '', line: 0 };
  for await (const batch of readLines(path, onBytes)) {
    const records: T[] = [];
    const lineNumbers: number[] = [];
    for (const { fields, line } of csvRecords(batch, open)) {
      if (!read) {
        const { format, at } = recognized<Name, CsvFormat<T, Name>>(path, fields, formats);
        read = format.reader(at);
        width = fields.length;
        continue;
      }
      const record =
        fields.length === width
          ? readLine(read, fields)
          : fields.length === 0
            ? 'unterminated quoted field'
            : `expected ${width} columns, found ${fields.length}`;
      if (typeof record === 'string') {
        onBadLine({ file: path, line, reason: record });
        if (fields.length === 0) throw new TapeFileError(path, `line ${line}: unterminated quoted field`);
      } else if (record !== null) {
        records.push(record);
        lineNumbers.push(line);
      }
    }
    if (records.length > 0) yield { records, lineNumbers };
  }
  if (!read) throw new TapeFileError(path, 'the file is empty; expected a header line');
  if (open.text !== '') onBadLine({ file: path, line: open.line, reason: 'unterminated quoted field' });
}
