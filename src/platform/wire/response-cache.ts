import { LRUCache } from 'lru-cache';
import type { Dependencies } from '../runtime/dependencies.ts';

/** Counters of a cache since its start. */
export interface CacheStats {
  hits: number;
  misses: number;
  /** Current size. */
  bytes: number;
  /** Maximum size. */
  maxBytes: number;
}

/** Cached answers, each valid until data it depends on changes. */
export interface AnswerCache<T> {
  /** A cached answer whose dependencies have not changed. */
  find(key: string): T | undefined;
  /**
   * Call it before the answer is computed. The returned function caches the answer with its dependencies. Null for a
   * key's first answer, which is not cached.
   */
  storing(key: string): ((answer: T, from: Dependencies) => void) | null;
  stats(): CacheStats;
}

/** The fraction of the bytes for remembered keys, which detect repetition. A key can be as long as a request. */
const questionsPart = 1 / 8;

/** Approximate bytes of a dependency of an answer. */
const dependencyBytes = 60;

interface Entry<T> {
  answer: T;
  from: Dependencies;
}

/**
 * A cache of answers of at most `maxBytes` in total. An answer is cached when its key is repeated: a client that reads
 * through history once neither fills the memory nor evicts popular answers.
 */
export function createAnswerCache<T extends object | string>(
  maxBytes: number,
  bytesOf: (answer: T) => number,
): AnswerCache<T> {
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: maxBytes * (1 - questionsPart),
    maxEntrySize: maxBytes / 8,
    sizeCalculation: ({ answer, from }, key) => bytesOf(answer) + from.size * dependencyBytes + key.length + 500,
  });
  const asked = new LRUCache<string, true>({
    maxSize: maxBytes * questionsPart,
    sizeCalculation: (_asked, key) => key.length + 200,
  });
  let hits = 0;
  let misses = 0;
  return {
    stats: () => ({ hits, misses, bytes: entries.calculatedSize + asked.calculatedSize, maxBytes }),
    find: (key) => {
      const found = entries.get(key);
      if (found?.from.isCurrent()) {
        hits += 1;
        return found.answer;
      }
      if (found) entries.delete(key);
      misses += 1;
      return undefined;
    },
    storing: (key) => {
      const comesBack = asked.has(key);
      asked.set(key, true);
      if (!comesBack) return null;
      return (answer, from) => {
        if (from.isCurrent()) entries.set(key, { answer, from });
      };
    },
  };
}
