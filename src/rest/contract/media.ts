import type { Request } from 'express';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { csvLine } from '../../wire/csv-lines.ts';
import { joined, jsonBytes } from '../../wire/json-bytes.ts';
import { inertText } from '../../wire/spreadsheet-text.ts';
import { arrowStream } from './arrow-stream.ts';
import { type Envelope, envelope } from './envelope.ts';
import { formatNames } from './params.ts';
import { parquetFile, valuesOfAnswers } from './parquet-file.ts';
import { encodeMessage } from './protobuf.ts';
import type { Route } from './route.ts';
import type { Cell, Table, Tables } from './table.ts';

/** Media types of answers. */
export const mediaTypes = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/x-ndjson',
  text: 'text/plain',
} as const;

/** The other name that clients have for lines of JSON. */
const jsonLines = 'application/jsonl';

/** True if an answer in a media type has a line of JSON per row. */
export const isJsonLines = (media: string) => media === mediaTypes.ndjson || media === jsonLines;

/** The media types of tables. */
const tableTypes = [mediaTypes.csv, mediaTypes.arrow, mediaTypes.parquet, mediaTypes.ndjson];

/** The media types of a route's answers; the first, JSON, is the default. */
export function routeMedia({ route, tables }: { route: Route; tables: Tables }): string[] {
  return [
    mediaTypes.json,
    ...(route.protobuf ? [mediaTypes.protobuf] : []),
    ...(tables.tables.length > 0 ? tableTypes : []),
    ...(route.text ? [mediaTypes.text] : []),
  ];
}

/** Characters of an `Accept` header that a note repeats. */
const shownCharacters = 100;

/**
 * The media type a request's answer is written in: of a route with a text that of `format`, else by Accept. JSON, with
 * a note that says so, if the route serves nothing that is accepted.
 */
export function answerMedia(
  request: Request,
  compiled: { route: Route; tables: Tables },
): { media: string; note: string | null } {
  const named = compiled.route.text && formatNames.find((name) => name === request.query.format);
  if (named) return { media: mediaTypes[named], note: null };
  const offered = routeMedia(compiled);
  const { accept } = request.headers;
  const media = request.accepts(offered.includes(mediaTypes.ndjson) ? [...offered, jsonLines] : offered);
  if (media !== false || !accept) return { media: media || mediaTypes.json, note: null };
  const got = JSON.stringify(accept.slice(0, shownCharacters));
  return { media: mediaTypes.json, note: `Accept: expected one of ${offered.join(', ')}, got ${got}.` };
}

/** An answer to be written. */
interface Answer {
  route: Route;
  tables: Tables;
  found: { data: unknown; meta: Record<string, unknown> };
  /** The requested table; undefined = the outermost. */
  table: string | undefined;
}

/** An answer as bytes, with the metadata for its headers. */
export interface WrittenAnswer {
  bytes: Buffer;
  contentType: string;
  envelope: Envelope;
  /** True if the bytes do not contain `meta`. */
  bare: boolean;
  /** The data besides the table; null = none. */
  beside: Record<string, Cell> | null;
}

/** Characters of JSON written without a yield: about 2 ms of work. */
const charactersAPiece = 128 * 1024;

/** The chunks of a table, each read and written in an iteration of the event loop. */
async function* yieldingRows(pieces: Iterable<Cell[][]>): AsyncGenerator<Cell[][]> {
  let isFirst = true;
  for (const piece of pieces) {
    if (!isFirst) await yieldToEventLoop();
    isFirst = false;
    yield piece;
  }
}

/** A row whose strings no spreadsheet evaluates as formulas. */
const inertLine = (row: readonly Cell[]) =>
  csvLine(row.map((cell) => (typeof cell === 'string' ? inertText(cell) : cell)));

/** RFC 4180: a line of column names, then one line per row. */
async function csvBytes({ columns, pieces }: Table, data: unknown): Promise<Buffer> {
  const parts = [Buffer.from(`${csvLine(columns.map(({ name }) => name))}\r\n`)];
  for await (const rows of yieldingRows(pieces(data)))
    parts.push(Buffer.from(`${rows.map(inertLine).join('\r\n')}\r\n`));
  return joined(parts);
}

/** A line of JSON per row. */
async function jsonLineBytes({ objects }: Table, data: unknown): Promise<Buffer> {
  const parts: Buffer<ArrayBuffer>[] = [];
  let text = '';
  const flush = () => {
    parts.push(Buffer.from(text));
    text = '';
  };
  for (const object of objects(data)) {
    text += `${JSON.stringify(object)}\n`;
    if (text.length < charactersAPiece) continue;
    flush();
    await yieldToEventLoop();
  }
  flush();
  return joined(parts);
}

/** A table in a format of typed columns, with `metadata` in it. */
async function columnBytes(
  media: string,
  { columns, pieces }: Table,
  data: unknown,
  metadata: Record<string, string>,
): Promise<Buffer> {
  const rows = yieldingRows(pieces(data));
  const written =
    media === mediaTypes.parquet
      ? parquetFile(columns, rows, { metadata, values: valuesOfAnswers })
      : arrowStream(columns, rows, metadata);
  const parts: Buffer<ArrayBuffer>[] = [];
  for await (const part of written) parts.push(Buffer.from(part));
  return joined(parts);
}

function tableOf({ tables: { tables }, table }: Answer): Table {
  return tables.find(({ name }) => name === table) ?? tables[0]!;
}

/** Writes an answer in a media type of its route. */
export async function writeAnswer(media: string, answer: Answer): Promise<WrittenAnswer> {
  const { route, tables, found } = answer;
  const isJson = media === mediaTypes.json;
  const enveloped = envelope(found);
  const written = { envelope: enveloped, bare: !isJson, beside: null, contentType: media };
  if (isJson) return { ...written, bytes: await jsonBytes(enveloped), contentType: `${media}; charset=utf-8` };
  if (media === mediaTypes.protobuf) return { ...written, bytes: await encodeMessage(route.protobuf!, found) };
  const beside = tables.beside(found.data);
  if (media === mediaTypes.text) {
    const bytes = Buffer.from(route.text!(found.data));
    return { ...written, beside, bytes, contentType: `${media}; charset=utf-8` };
  }
  if (media === mediaTypes.csv)
    return {
      ...written,
      beside,
      bytes: await csvBytes(tableOf(answer), found.data),
      contentType: `${media}; charset=utf-8; header=present`,
    };
  if (isJsonLines(media)) {
    const bytes = await jsonLineBytes(tableOf(answer), found.data);
    return { ...written, beside, bytes, contentType: `${media}; charset=utf-8` };
  }
  const metadata = { meta: JSON.stringify(enveloped.meta), ...(beside && { data: JSON.stringify(beside) }) };
  return { ...written, beside, bytes: await columnBytes(media, tableOf(answer), found.data, metadata) };
}

/** The `Link` header of the next page, by RFC 8288; the other parameters are unchanged. */
function nextPage(address: string, cursor: string): string {
  const [path, query = ''] = address.split('?') as [string, string?];
  const others = query.split('&').filter((pair) => pair !== '' && !/^cursor(=|$)/.test(pair));
  return `<${path}?${[...others, `cursor=${encodeURIComponent(cursor)}`].join('&')}>; rel="next"`;
}

/**
 * Headers of an answer whose body has no envelope: plane as text, caps and the rest of `meta` as JSON (contract-notes
 * 1), the data besides its rows as JSON, and the next page as `Link`. `address`: path and query of the request.
 */
export function besideHeaders(
  prefix: string,
  address: string,
  { envelope: { meta }, bare, beside }: WrittenAnswer,
): Record<string, string> {
  if (!bare) return {};
  const { plane, caps, ...extra } = meta;
  return {
    ...(typeof plane === 'string' ? { [`${prefix}plane`]: plane } : {}),
    [`${prefix}caps`]: headerJson(caps ?? null),
    [`${prefix}extra`]: headerJson(extra),
    ...(beside ? { [`${prefix}data`]: headerJson(beside) } : {}),
    ...(typeof meta.cursor === 'string' ? { Link: nextPage(address, meta.cursor) } : {}),
  };
}

/** JSON escaped to ASCII for a header. */
function headerJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
