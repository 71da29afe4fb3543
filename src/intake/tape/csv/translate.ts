import { vendors } from '../../../../generated/intake/vendors.ts';
import type { Dataset } from '../../../core/domain/dataset.ts';
import {
  type Beginning,
  type LineReader,
  lineOf,
  type PageReader,
  type RowReading,
  VendorError,
  type VendorFormat,
} from '../formats/vendor.ts';
import { columnFinder, csvRows, splitCsvLine } from '../text/csv-rows.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';

/** The formats of all vendors. */
const vendorFormats: readonly VendorFormat[] = vendors.flatMap(({ formats }) => formats);

/** The vendors' formats of files of some datasets. */
export function vendorFormatsOf(datasets: readonly Dataset[]): VendorFormat[] {
  return vendorFormats.filter((format) => format.datasets.some((dataset) => datasets.includes(dataset)));
}

/** Number of bytes by which a file is recognized. */
const headBytes = 64 * 1024;

/** Recognizes a file by its first bytes. */
export function beginningOf(bytes: Buffer): Beginning {
  const text = bytes.toString('utf8', 0, headBytes).replace(/^\ufeff/, '');
  if (/^\s*[{[]/.test(text)) {
    const keys = new Set(Array.from(text.matchAll(/"([^"\\]{1,40})"\s*:/g), ([, key]) => key!));
    return { bytes, isJson: true, has: (names) => names.every((name) => keys.has(name)) };
  }
  const columns = (splitCsvLine(text.split(/\r?\n/, 1)[0]!) ?? []).map((name) => name.trim().toLowerCase());
  return { bytes, isJson: false, has: (names) => names.every((name) => columns.includes(name.toLowerCase())) };
}

/** True if a format has files of JSON, or else of CSV. */
function isRead({ rows, chain }: VendorFormat, isJson: boolean): boolean {
  return (isJson ? (rows?.pages ?? chain?.pages) : (rows?.lines ?? chain?.line)) !== undefined;
}

/** The format of a vendor's file: of those whose names it has the one with the most names; null = none. */
export function vendorFormatOf({ isJson, has }: Beginning): VendorFormat | null {
  const fitting = vendorFormats.filter((format) => isRead(format, isJson) && has(format.required));
  return fitting.toSorted((a, b) => b.required.length - a.required.length)[0] ?? null;
}

/** Calls `take` for the items of all pages, in their order. Throws `VendorError`. */
export async function* pageItems<Item>(reader: PageReader<Item>, source: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  for await (const text of jsonTexts(source)) {
    const page = parseExact(text);
    if (Array.isArray(page)) throw new VendorError('expected a page, an object; got a list');
    yield* reader.items(page as Record<string, unknown>);
  }
  reader.end?.();
}

async function* pageLines(rows: RowReading, source: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  for await (const row of pageItems(rows.pages!(name), source)) yield lineOf(row);
}

async function* csvLines(rows: RowReading, source: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  let reader: LineReader | null = null;
  for await (const cells of csvRows(source)) {
    if (!reader) reader = rows.lines!(name, columnFinder(cells!));
    else {
      const row = cells && reader.row(cells);
      yield row ? lineOf(row) : '\n';
    }
  }
  reader?.end?.();
}

const pieceLength = 64 * 1024;

/** Joins lines to pieces of text, after a header. */
async function* inPieces(columns: readonly string[], lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let text = lineOf(columns);
  for await (const line of lines) {
    text += line;
    if (text.length < pieceLength) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/**
 * The text of a file, as CSV of a dataset if it is of a vendor's format that is read so; any other is unchanged.
 * `name`: the file's base name. Throws `VendorError`.
 */
export async function* asRows(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    const parts: Buffer[] = [];
    for (let length = 0; length < headBytes; length += parts.at(-1)!.length) {
      const { done, value } = await pieces.next();
      if (done) break;
      // No text: the reader looks whether it was stopped.
      if (value.length === 0) yield value;
      parts.push(value);
    }
    const first = Buffer.concat(parts);
    const beginning = beginningOf(first);
    const all = joined(first, pieces);
    const encoding = vendors.find((vendor) => vendor.encoding?.isOf(beginning))?.encoding;
    const rows = vendorFormatOf(beginning)?.rows;
    if (encoding) yield* asRows(encoding.csv(all, name), name);
    else if (rows) yield* inPieces(rows.columns, (beginning.isJson ? pageLines : csvLines)(rows, all, name));
    else yield* all;
  } finally {
    await pieces.return?.();
  }
}
