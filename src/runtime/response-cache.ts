import { LRUCache } from 'lru-cache';
import type { Dependencies } from './dependencies.ts';

/** How a cache has done since it was made. */
export interface CacheStats {
  hits: number;
  misses: number;
  /** Held now. */
  bytes: number;
  /** The most that it holds. */
  maxBytes: number;
}

/** Answers kept to be given again, each as long as nothing changes that it was made from. */
export interface KeptAnswers<T> {
  /** An answer whose dependencies are as they were when it was made. */
  find(key: string): T | undefined;
  /** Keeps an answer that is about to be made, with what it depends on, unless its question is asked for the first time. */
  keeper(key: string): (answer: T, from: Dependencies) => void;
  stats(): CacheStats;
}

/** The part of a cache's bytes that remembers questions, to tell which come back. A question may be as long as a request. */
const questionsPart = 1 / 8;

/** Bytes that a dependency of an answer takes, about. */
const dependencyBytes = 60;

interface Kept<T> {
  answer: T;
  from: Dependencies;
}

/**
 * Keeps answers of at most `maxBytes` together. An answer is kept when its question comes
 * back: a client that walks through history once neither fills the memory nor drives out what many ask for.
 */
export function keptAnswers<T extends object | string>(
  maxBytes: number,
  bytesOf: (answer: T) => number,
): KeptAnswers<T> {
  const kept = new LRUCache<string, Kept<T>>({
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
    stats: () => ({ hits, misses, bytes: kept.calculatedSize + asked.calculatedSize, maxBytes }),
    find: (key) => {
      const found = kept.get(key);
      if (found?.from.isCurrent()) {
        hits += 1;
        return found.answer;
      }
      if (found) kept.delete(key);
      misses += 1;
      return undefined;
    },
    keeper: (key) => {
      const comesBack = asked.has(key);
      asked.set(key, true);
      return (answer, from) => {
        if (comesBack && from.isCurrent()) kept.set(key, { answer, from });
      };
    },
  };
}
