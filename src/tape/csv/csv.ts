import { type LineBatch, readLines } from './lines.ts';
import { type OnBadLine, type OnBytes, TapeFileError } from './tape-file.ts';

// No CSV library: docs/decisions/0026-one-csv-reader.md.

/** The fields of a CSV line; null when a quoted field does not end in it. */
export function splitCsvLine(line: string): string[] | null {
  const fields: string[] = [];
  if (!line.includes('"')) {
    let start = 0;
    for (let end = line.indexOf(','); end >= 0; end = line.indexOf(',', start)) {
      fields.push(line.slice(start, end));
      start = end + 1;
    }
    fields.push(line.slice(start));
    return fields;
  }
  for (let at = 0; ; ) {
    if (line[at] !== '"') {
      const end = line.indexOf(',', at);
      fields.push(line.slice(at, end < 0 ? undefined : end));
      if (end < 0) return fields;
      at = end + 1;
      continue;
    }
    let text = '';
    for (at++; ; ) {
      const end = line.indexOf('"', at);
      if (end < 0) return null;
      text += line.slice(at, end);
      at = end + 1;
      if (line[at] !== '"') break;
      text += '"';
      at++;
    }
    // What follows a closing quote belongs to the field, as spreadsheets read it.
    const end = line.indexOf(',', at);
    fields.push(text + line.slice(at, end < 0 ? undefined : end));
    if (end < 0) return fields;
    at = end + 1;
  }
}

/** Where a format's columns are: the index of each in a line, −1 for an optional one that the file does not have. */
export type ColumnIndex<Name extends string> = Record<Name, number>;

/** A CSV file kind whose columns are found by the header line, in any order; columns it does not name are skipped. */
export interface CsvFormat<T extends object, Required extends string, Optional extends string> {
  required: readonly Required[];
  optional: readonly Optional[];
  /** Called once with the header's columns; gives the function that reads a line: its record, or why it is bad. */
  reader(at: ColumnIndex<Required | Optional>): (fields: readonly string[]) => T | string;
}

/** Records of consecutive lines, and the lines they stood on. */
export interface RecordBatch<T> {
  records: T[];
  lineNumbers: number[];
}

/** Finds columns by name in a header line. Throws `TapeFileError` for one that is missing or there twice. */
export function columnIndex<Name extends string>(
  path: string,
  header: readonly string[],
  required: readonly Name[],
  optional: readonly Name[],
): ColumnIndex<Name> {
  const names = header.map((name) => name.trim().toLowerCase());
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new TapeFileError(
      path,
      `line 1: the header has no column ${missing.join(', ')} (it reads ${JSON.stringify(header.join(',').slice(0, 120))})`,
    );
  }
  const twice = [...required, ...optional].find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) throw new TapeFileError(path, `line 1: the header has the column ${twice} twice`);
  return Object.fromEntries([...required, ...optional].map((name) => [name, names.indexOf(name)])) as ColumnIndex<Name>;
}

/** Joins physical lines into records where a quoted field goes over a line end. */
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
 * Streams the records of a CSV file, plain or gzip. A line that is bad is reported to `onBadLine` and omitted. Throws
 * `TapeFileError` when the file as a whole cannot be read: no header, damaged or cut compression, not text.
 */
export async function* readCsv<T extends object, R extends string, O extends string>(
  path: string,
  format: CsvFormat<T, R, O>,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
): AsyncGenerator<RecordBatch<T>> {
  let read: ((fields: readonly string[]) => T | string) | null = null;
  let width = 0;
  const open = { text: '', line: 0 };
  for await (const batch of readLines(path, onBytes)) {
    const records: T[] = [];
    const lineNumbers: number[] = [];
    for (const { fields, line } of csvRecords(batch, open)) {
      if (!read) {
        read = format.reader(columnIndex<R | O>(path, fields, format.required, format.optional));
        width = fields.length;
        continue;
      }
      const record =
        fields.length === width
          ? read(fields)
          : fields.length === 0
            ? 'unterminated quoted field'
            : `expected ${width} columns, found ${fields.length}`;
      if (typeof record === 'string') {
        onBadLine({ file: path, line, reason: record });
        if (fields.length === 0) throw new TapeFileError(path, `line ${line}: unterminated quoted field`);
      } else {
        records.push(record);
        lineNumbers.push(line);
      }
    }
    if (records.length > 0) yield { records, lineNumbers };
  }
  if (!read) throw new TapeFileError(path, 'the file is empty; expected a header line');
  if (open.text !== '') onBadLine({ file: path, line: open.line, reason: 'unterminated quoted field' });
}
