import type { DocumentNode } from 'graphql';

/** A table of an operation's answers. */
export interface ReadTable {
  /** Writes it. Throws if it has more than `most` characters. */
  write: (
    media: string,
    answer: { data: unknown; extensions: unknown; most: number },
  ) => Promise<{ bytes: Buffer; headers: Record<string, string> }>;
}

/**
 * Reads the table that a request selects by its path in the answer; null = the only one. Throws 400 if the operation
 * has no such table.
 */
export type GraphTables = (
  document: DocumentNode,
  operationName: string | null | undefined,
  path: string | null,
) => ReadTable;
