import { LRUCache } from 'lru-cache';

/** How a cache has done since it was made. */
export interface CacheStats {
  hits: number;
  misses: number;
  /** Held now. */
  bytes: number;
  /** The most that it holds. */
  maxBytes: number;
}

/** Answers kept to be given again. They can only change when market data does, so each is kept under the data's generation. */
export interface KeptAnswers<T> {
  find(key: string): T | undefined;
  /** Keeps an answer about to be computed. Asked for before it is, so that one overtaken by a change is kept under what it was. */
  keeper(key: string): (answer: T) => void;
  stats(): CacheStats;
}

/** The part of a cache's bytes that remembers questions, to tell which come back. A question may be as long as a request. */
const questionsPart = 1 / 8;

/**
 * Keeps answers of at most `maxBytes` together; none while `generation` is null. An answer is kept when its question comes
 * back: a client that walks through history once neither fills the memory nor drives out what many ask for.
 */
export function keptAnswers<T extends object | string>(
  maxBytes: number,
  bytesOf: (answer: T) => number,
  generation: () => number | null,
): KeptAnswers<T> {
  const kept = new LRUCache<string, T>({
    maxSize: maxBytes * (1 - questionsPart),
    maxEntrySize: maxBytes / 8,
    sizeCalculation: (answer, key) => bytesOf(answer) + key.length + 500,
  });
  const asked = new LRUCache<string, true>({
    maxSize: maxBytes * questionsPart,
    sizeCalculation: (_asked, key) => key.length + 200,
  });
  const keyNow = (key: string) => {
    const now = generation();
    return now === null ? null : `${now} ${key}`;
  };
  let hits = 0;
  let misses = 0;
  return {
    stats: () => ({ hits, misses, bytes: kept.calculatedSize + asked.calculatedSize, maxBytes }),
    find: (key) => {
      const at = keyNow(key);
      const found = at === null ? undefined : kept.get(at);
      if (found === undefined) misses += 1;
      else hits += 1;
      return found;
    },
    keeper: (key) => {
      const at = keyNow(key);
      const comesBack = at !== null && asked.has(at);
      if (at !== null) asked.set(at, true);
      return (answer) => {
        if (comesBack) kept.set(at!, answer);
      };
    },
  };
}
