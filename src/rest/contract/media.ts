import type { Request } from 'express';
import { jsonLines, tableTypes } from '../../platform/wire/column-rows.ts';
import { jsonBytes } from '../../platform/wire/json-chunks.ts';
import { type Envelope, envelope } from './envelope.ts';
import { formatNames } from './params.ts';
import { encodeMessage } from './protobuf.ts';
import type { Route } from './route.ts';
import type { Cell, Table, Tables } from './table.ts';
import { writeTable } from './table-media.ts';

/** Media types of answers. */
export const mediaTypes = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
  ...tableTypes,
  text: 'text/plain',
} as const;

/** The media types of a route's answers; the first, JSON, is the default. */
export function routeMedia({ route, tables }: { route: Route; tables: Tables }): string[] {
  return [
    mediaTypes.json,
    ...(route.protobuf ? [mediaTypes.protobuf] : []),
    ...(tables.tables.length > 0 ? Object.values(tableTypes) : []),
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
  const metadata = { meta: JSON.stringify(enveloped.meta), ...(beside && { data: JSON.stringify(beside) }) };
  return { ...written, beside, ...(await writeTable(media, { table: tableOf(answer), data: found.data, metadata })) };
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
export function headerJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
