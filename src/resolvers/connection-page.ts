import { writeCursor } from './cursor.ts';

/** An item of a connection. */
export interface Edge<T> {
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
export interface PageParts<T> {
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
