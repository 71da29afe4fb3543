import type { RequestHandler } from 'express';
import { requestableTables } from '../platform/wire/column-rows.ts';
import { requestTable } from './table-request.ts';

/** Media types of JSON, the default first. */
const jsonTypes = ['application/json', 'application/graphql-response+json'];
const eventStream = 'text/event-stream';

interface MediaRange {
  type: string;
  subtype: string;
  /** Quality value, 0 to 1. */
  weight: number;
}

/** The media ranges of an `Accept` header. Ranges of a charset other than UTF-8, which is not served, are omitted. */
function mediaRanges(header: string): MediaRange[] {
  return header
    .toLowerCase()
    .split(',')
    .flatMap((part) => {
      const [range = '', ...parameters] = part.split(';').map((text) => text.trim());
      const [type = '', subtype = ''] = range.split('/');
      const values = new Map(parameters.map((text) => text.split('=').map((half) => half.trim()) as [string, string]));
      const charset = values.get('charset') ?? 'utf-8';
      const weight = Number(values.get('q') ?? 1);
      const isValid = type !== '' && subtype !== '' && weight >= 0 && weight <= 1;
      return isValid && charset === 'utf-8' ? [{ type, subtype, weight }] : [];
    });
}

/**
 * The weight of a media type by the most specific range that matches it, and the position of that range; 0 if none
 * matches.
 */
function weightOf(ranges: readonly MediaRange[], mediaType: string): { weight: number; position: number } {
  const [type, subtype] = mediaType.split('/');
  for (const [wantedType, wantedSubtype] of [
    [type, subtype],
    [type, '*'],
    ['*', '*'],
  ]) {
    const position = ranges.findIndex((range) => range.type === wantedType && range.subtype === wantedSubtype);
    if (position >= 0) return { weight: ranges[position]!.weight, position };
  }
  return { weight: 0, position: ranges.length };
}

/**
 * The media types that a response of `/graphql` may have, ordered by the weights of an `Accept` header (RFC 9110,
 * 12.5.1): the JSON type of the highest weight, the first in the header among equals; or the type of event streams
 * alone if it weighs more. Empty = none is accepted.
 */
export function acceptedTypes(header: string): string[] {
  const ranges = mediaRanges(header);
  const [json] = jsonTypes
    .map((mediaType) => ({ mediaType, ...weightOf(ranges, mediaType) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || a.position - b.position);
  const events = weightOf(ranges, eventStream).weight;
  const types = json && json.weight >= events ? [json.mediaType] : [];
  return events > 0 ? [...types, eventStream] : types;
}

/** The type of tables that an `Accept` header names and prefers to JSON and to event streams; null = none. */
export function acceptedTable(header: string): string | null {
  const ranges = mediaRanges(header);
  const isTable = ({ type, subtype }: MediaRange) => requestableTables.includes(`${type}/${subtype}`);
  const [first] = ranges
    .map((range, position) => ({ range, position }))
    .filter(({ range }) => range.weight > 0 && isTable(range))
    .sort((a, b) => b.range.weight - a.range.weight || a.position - b.position);
  if (!first) return null;
  const isPreferred = [...jsonTypes, eventStream].every((other) => {
    const { weight, position } = weightOf(ranges, other);
    return weight < first.range.weight || (weight === first.range.weight && position > first.position);
  });
  return isPreferred ? `${first.range.type}/${first.range.subtype}` : null;
}

/**
 * Reduces `Accept` to the served type that the client prefers, because Yoga ignores weights. A request without the
 * header gets JSON, as from REST routes; Yoga would send an empty 406. A request for a table is one for JSON to Yoga,
 * in which errors have their status.
 */
export const weighAccept: RequestHandler = (request, _response, next) => {
  const { accept } = request.headers;
  const table = accept === undefined ? null : acceptedTable(accept);
  if (table !== null) {
    requestTable(request, table);
    request.headers.accept = 'application/graphql-response+json';
  } else if (accept !== undefined) {
    const types = acceptedTypes(accept);
    if (types.length > 0) request.headers.accept = types.join(', ');
    else delete request.headers.accept;
  }
  next();
};
