import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { inertText } from '../../platform/runtime/spreadsheet-text.ts';
import { isJsonLines, tableTypes } from '../../platform/wire/column-rows.ts';
import { csvLine } from '../../platform/wire/csv-lines.ts';
import { limitExceeded } from '../../platform/wire/failure.ts';
import { joined } from '../../platform/wire/json-chunks.ts';
import { arrowStream } from './arrow-stream.ts';
import { parquetFile, valuesOfAnswers } from './parquet-file.ts';
import type { Cell, Table } from './table.ts';

/** A table to be written. */
export interface TableToWrite {
  table: Table;
  /** The data that its rows are in. */
  data: unknown;
  /** Stored in formats that have metadata. */
  metadata: Record<string, string>;
  /** Maximum number of characters; absent = unlimited. */
  most?: number;
}

/** Characters of JSON written without a yield: about 2 ms of work. */
const charactersAPiece = 128 * 1024;

/** Counts characters, and throws beyond the maximum. Rows may repeat long values of the rows around them. */
function counter(most = Number.POSITIVE_INFINITY) {
  let counted = 0;
  return (characters: number): void => {
    counted += characters;
    if (counted > most)
      throw limitExceeded(
        `The table has more than ${most.toLocaleString('en-US')} bytes. Request fewer rows or fields.`,
        { limit: 'bytes', counted, most },
      );
  };
}

/** Characters of a cell that is no text, about. */
const plainCharacters = 8;

function charactersOf(row: readonly Cell[]): number {
  let sum = 0;
  for (const cell of row) sum += typeof cell === 'string' ? cell.length : plainCharacters;
  return sum;
}

/** The chunks of a table, each read and written in an iteration of the event loop. */
async function* yieldingRows({ table, data, most }: TableToWrite): AsyncGenerator<Cell[][]> {
  const count = counter(most);
  let isFirst = true;
  for (const piece of table.pieces(data)) {
    if (!isFirst) await yieldToEventLoop();
    isFirst = false;
    for (const row of piece) count(charactersOf(row));
    yield piece;
  }
}

/** A row whose strings no spreadsheet evaluates as formulas. */
const inertLine = (row: readonly Cell[]) =>
  csvLine(row.map((cell) => (typeof cell === 'string' ? inertText(cell) : cell)));

/** RFC 4180: a line of column names, then one line per row. */
async function csvBytes(written: TableToWrite): Promise<Buffer> {
  const parts = [Buffer.from(`${csvLine(written.table.columns.map(({ name }) => name))}\r\n`)];
  for await (const rows of yieldingRows(written)) parts.push(Buffer.from(`${rows.map(inertLine).join('\r\n')}\r\n`));
  return joined(parts);
}

/** A line of JSON per row. */
async function jsonLineBytes({ table, data, most }: TableToWrite): Promise<Buffer> {
  const count = counter(most);
  const parts: Buffer<ArrayBuffer>[] = [];
  let text = '';
  const flush = () => {
    count(text.length);
    parts.push(Buffer.from(text));
    text = '';
  };
  for (const object of table.objects(data)) {
    text += `${JSON.stringify(object)}\n`;
    if (text.length < charactersAPiece) continue;
    flush();
    await yieldToEventLoop();
  }
  flush();
  return joined(parts);
}

/** A format of typed columns, with the metadata in it. */
async function columnBytes(media: string, written: TableToWrite): Promise<Buffer> {
  const { columns } = written.table;
  const { metadata } = written;
  const rows = yieldingRows(written);
  const stream =
    media === tableTypes.parquet
      ? parquetFile(columns, rows, { metadata, values: valuesOfAnswers })
      : arrowStream(columns, rows, metadata);
  const parts: Buffer<ArrayBuffer>[] = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return joined(parts);
}

/** Writes a table in one of the media types of tables. */
export async function writeTable(
  media: string,
  written: TableToWrite,
): Promise<{ bytes: Buffer; contentType: string }> {
  if (media === tableTypes.csv)
    return { bytes: await csvBytes(written), contentType: `${media}; charset=utf-8; header=present` };
  if (isJsonLines(media)) return { bytes: await jsonLineBytes(written), contentType: `${media}; charset=utf-8` };
  return { bytes: await columnBytes(media, written), contentType: media };
}
