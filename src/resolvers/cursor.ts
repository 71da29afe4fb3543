import { createHash } from 'node:crypto';
import { isStorableText } from '../platform/runtime/storable-text.ts';
import { type Failure, invalidParameter } from '../platform/wire/failure.ts';
import type { RequestContext } from './context.ts';

// Opaque to clients; the checksum binds it to its query, so that a changed or foreign cursor is rejected instead of
// silently continuing another query.
function seal(position: string, bound: readonly (string | number)[]): string {
  return createHash('sha256')
    .update(JSON.stringify([position, ...bound]))
    .digest('base64url')
    .slice(0, 12);
}

/** The instants of an answer about the past, to which its cursors are bound; nothing for one of now. */
export function ofInstant({ past, store }: Pick<RequestContext, 'past' | 'store'>): (string | number)[] {
  const atMs = store.endedBarsOnly ? past?.atMs : null;
  return atMs == null && store.known === null ? [] : [atMs ?? '', store.known?.atMs ?? ''];
}

/** A cursor that continues at `position`, valid only with the same `bound` values. */
export function writeCursor(position: string, bound: readonly (string | number)[]): string {
  return Buffer.from(`1.${position}.${seal(position, bound)}`).toString('base64url');
}

/** 400 for a cursor of another query. */
export function foreignCursor(parameter = 'cursor'): Failure {
  return invalidParameter(parameter, 'expected the cursor of the previous page, with the other parameters unchanged');
}

/** The position of a cursor created with the same `bound` values; 400 naming `parameter` for any other. */
export function readCursor(cursor: string, bound: readonly (string | number)[], parameter = 'cursor'): string {
  const match = /^1\.(.*)\.([\w-]{12})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match || seal(match[1]!, bound) !== match[2] || writeCursor(match[1]!, bound) !== cursor) {
    throw foreignCursor(parameter);
  }
  // The checksum is no secret: a forged position may contain anything.
  if (!isStorableText(match[1]!)) throw foreignCursor(parameter);
  return match[1]!;
}

/** Like `readCursor`, for a numeric position. The checksum is no secret: a forged cursor may contain anything. */
export function readPosition(cursor: string, bound: readonly (string | number)[], parameter = 'cursor'): number {
  const text = readCursor(cursor, bound, parameter);
  if (!/^-?\d{1,15}$/.test(text)) throw foreignCursor(parameter);
  return Number(text);
}

/** An item of a connection. */
interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}

/** A page of a connection. */
export interface ConnectionPage<T> {
  edges: readonly Edge<T>[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  /** Number of items over all pages. */
  totalCount: number;
}

/** Parts of a page. */
interface PageParts<T> {
  nodes: readonly T[];
  /** Position of a node in the list, by its index in the page. */
  position: (node: T, index: number) => string;
  /** Values that the cursors are valid for. */
  bound: readonly (string | number)[];
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  totalCount: number;
}

/** An edge whose cursor is created once, on demand: it costs as much as ten values. */
class PageEdge<T> implements Edge<T> {
  readonly node: T;
  readonly #index: number;
  readonly #parts: PageParts<T>;
  #cursor: string | undefined;

  constructor(node: T, index: number, parts: PageParts<T>) {
    this.node = node;
    this.#index = index;
    this.#parts = parts;
  }

  get cursor(): string {
    this.#cursor ??= writeCursor(this.#parts.position(this.node, this.#index), this.#parts.bound);
    return this.#cursor;
  }
}

/** Builds a page. */
export function connectionPage<T>(parts: PageParts<T>): ConnectionPage<T> {
  const { nodes, hasNextPage, hasPreviousPage, totalCount } = parts;
  const edges = nodes.map((node, index) => new PageEdge(node, index, parts));
  return {
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? null;
      },
    },
    totalCount,
  };
}
