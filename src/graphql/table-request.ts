import type { IncomingMessage } from 'node:http';
import type { ReadTable } from './execution/answer-table.ts';

/** A request for an answer as a table. */
export interface TableRequest {
  media: string;
  /** Absent until the document is read. */
  table?: ReadTable;
  /** Its values; absent until it has run, null if an error nulled it. */
  data?: Record<string, unknown> | null;
}

const requests = new WeakMap<IncomingMessage, TableRequest>();

/** Records that a request is answered as a table. */
export function requestTable(request: IncomingMessage, media: string): void {
  requests.set(request, { media });
}

/** The request for a table; undefined = the answer is JSON. */
export const tableRequest = (request: IncomingMessage): TableRequest | undefined => requests.get(request);

/** The table that a request selects, as a path of response keys. */
export const requestedPath = ({ url = '' }: IncomingMessage): string | null =>
  new URL(url, 'http://localhost').searchParams.get('table');
