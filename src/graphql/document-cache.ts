import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../platform/wire/response-cache.ts';

/** Cache of parsed documents by text, and of syntax errors, with the interface that Yoga expects. */
export interface DocumentCache {
  documentCache: { get(text: string): DocumentNode | undefined; set(text: string, document: DocumentNode): void };
  errorCache: { get(text: string): unknown; set(text: string, error: unknown): void };
  stats(): CacheStats;
}

// A token and its node take 500 bytes, and the document's plans as much again. A text has at most one token for every
// two characters, and no more than the parser's limit.
const bytesPerCharacter = 400;
const mostTokenBytes = 5_000_000;

/** Maximum number of bytes of a parsed document of this text: its nodes, tokens, plans and the text. */
export function documentBytes(text: string): number {
  return 2 * text.length + Math.min(bytesPerCharacter * text.length, mostTokenBytes);
}

/**
 * Creates a cache of documents of at most `maxBytes` together. The bound is in bytes, not entries: a document at the
 * limits takes 2.5 MB, a usual one a hundredth of that.
 */
export function documentCache(maxBytes: number): DocumentCache {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: maxBytes,
    sizeCalculation: (_document, text) => documentBytes(text),
  });
  const errors = new LRUCache<string, { error: unknown }>({
    maxSize: Math.ceil(maxBytes / 16),
    // An error holds the text too, and the location of the error in it.
    sizeCalculation: (_error, text) => 4 * text.length + 2000,
  });
  let hits = 0;
  let misses = 0;
  return {
    documentCache: {
      get: (text) => {
        const found = documents.get(text);
        if (found === undefined) misses += 1;
        else hits += 1;
        return found;
      },
      set: (text, document) => void documents.set(text, document),
    },
    errorCache: {
      get: (text) => errors.get(text)?.error,
      set: (text, error) => void errors.set(text, { error }),
    },
    stats: () => ({ hits, misses, bytes: documents.calculatedSize + errors.calculatedSize, maxBytes }),
  };
}
