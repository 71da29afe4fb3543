import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../wire/response-cache.ts';

/** Parsed documents by their text, and errors of those that do not parse, as Yoga asks for them. */
export interface DocumentCache {
  documentCache: { get(text: string): DocumentNode | undefined; set(text: string, document: DocumentNode): void };
  errorCache: { get(text: string): unknown; set(text: string, error: unknown): void };
  stats(): CacheStats;
}

// A token takes 500 bytes with its node, and as much again with the document's plans; a text has at most a token
// for each two of its characters, and no more than the parser's limit.
const bytesPerCharacter = 400;
const mostTokenBytes = 5_000_000;

/**
 * Most bytes of a parsed document of this text: its nodes, their tokens, its plans and the text.
 */
export function documentBytes(text: string): number {
  return 2 * text.length + Math.min(bytesPerCharacter * text.length, mostTokenBytes);
}

/**
 * A cache of documents of at most `maxBytes` together. They are weighed, not counted: a document at the limits takes
 * 2.5 MB, a usual one a hundredth of it.
 */
export function documentCache(maxBytes: number): DocumentCache {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: maxBytes,
    sizeCalculation: (_document, text) => documentBytes(text),
  });
  const errors = new LRUCache<string, { error: unknown }>({
    maxSize: Math.ceil(maxBytes / 16),
    // An error holds the text, too, and where in it it lies.
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
