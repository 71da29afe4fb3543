import type { Format } from '../formats/format.ts';
import { type LineReader, lineOf, type RowFormat, VendorError } from '../formats/vendor.ts';
import { splitCsvLine } from '../text/csv-line.ts';
import { columnFinder, csvRows } from '../text/csv-rows.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';
import { dbnFormats, dbnRows } from '../vendors/databento.ts';
import { massiveAggregateRows, massiveQuoteRows, massiveTradeRows } from '../vendors/massive.ts';
import { oratsRows } from '../vendors/orats.ts';
import { thetaChain, thetaCsv, thetaJson, thetaRows } from '../vendors/theta.ts';
import { tradierTimesalesRows } from '../vendors/tradier.ts';
import { yfinanceRows } from '../vendors/yfinance.ts';

/** Number of bytes by which a file is recognized. */
const headBytes = 64 * 1024;

/** The names by which a format is recognized: keys of JSON, or columns of a header in lower case. */
export interface Beginning {
  isJson: boolean;
  fits(format: Pick<Format, 'required'>): boolean;
}

/** Recognizes a file by its first bytes. */
export function beginningOf(bytes: Buffer): Beginning {
  const text = bytes.toString('utf8', 0, headBytes).replace(/^\ufeff/, '');
  if (/^\s*[{[]/.test(text)) {
    const keys = new Set(Array.from(text.matchAll(/"([^"\\]{1,40})"\s*:/g), ([, key]) => key!));
    return { isJson: true, fits: ({ required }) => required.every((key) => keys.has(key)) };
  }
  const names = (splitCsvLine(text.split(/\r?\n/, 1)[0]!) ?? []).map((name) => name.trim().toLowerCase());
  const fits = ({ required }: Pick<Format, 'required'>) => required.every((name) => names.includes(name.toLowerCase()));
  return { isJson: false, fits };
}

/** Formats of which a file is recognized in this order: one with the names of another and more comes before it. */
const rowFormats: readonly RowFormat[] = [
  ...[massiveTradeRows, massiveQuoteRows, massiveAggregateRows, tradierTimesalesRows],
  ...thetaRows,
  ...yfinanceRows,
  ...oratsRows,
];

/** Formats of chains with the names of another format and more: they are read elsewhere. */
const chains: readonly Format[] = [thetaChain];

const pieceLength = 64 * 1024;

/** The first pieces of a source: at least `headBytes`, if it has as many. */
async function firstPieces(source: AsyncIterator<Buffer>): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for (let length = 0; length < headBytes; length += parts.at(-1)!.length) {
    const { done, value } = await source.next();
    if (done) break;
    parts.push(value);
  }
  return parts;
}

async function* joined(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* pageLines(rows: RowFormat, source: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  const reader = rows.pages!(name);
  for await (const text of jsonTexts(source)) {
    const page = parseExact(text);
    if (Array.isArray(page)) throw new VendorError('expected a page, an object; got a list');
    for (const row of reader.rows(page as Record<string, unknown>)) yield lineOf(row);
  }
  reader.end();
}

async function* csvLines(rows: RowFormat, source: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
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

/**
 * The text of a file, as CSV of a dataset if it is of a vendor's format that is read so; any other is unchanged.
 * `name`: the file's base name. Throws `VendorError`.
 */
export async function* asRows(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    const first = await firstPieces(pieces);
    const head = Buffer.concat(first);
    const { isJson, fits } = beginningOf(head);
    const all = joined(first, pieces);
    const isChain = chains.some(fits);
    const rows = rowFormats.find(({ format, pages }) => (pages !== undefined) === isJson && fits(format));
    if (head.toString('latin1', 0, 3) === 'DBN') yield* dbnRows(all);
    else if (isJson && fits(thetaJson)) yield* asRows(thetaCsv(all, name), name);
    else if (!rows || isChain) yield* all;
    else yield* inPieces(rows.columns, (isJson ? pageLines : csvLines)(rows, all, name));
  } finally {
    await pieces.return?.();
  }
}

/** The vendors' formats that are read as a dataset's own format, by its name. */
export function readAs(name: string): readonly Format[] {
  const formats = [...rowFormats, ...dbnFormats].filter((rows) => rows.as.includes(name)).map(({ format }) => format);
  return [...new Set(formats)];
}
