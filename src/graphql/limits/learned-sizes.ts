import { LRUCache } from 'lru-cache';

/** Lists remembered, and for how long: a market's lists change slowly, but they do. */
const mostLists = 20_000;
const rememberedMs = 10 * 60_000;

/** A list may have grown since it was seen: by a quarter, or by a few items. */
const growth = 1.25;
const fewItems = 5;

/** Lengths of lists when they were last answered, by their path from the root with all arguments. */
export interface LearnedSizes {
  /** Items that a list may have by now, no more than `most`. */
  expected(path: string, most: number): number;
  /** Records the number of items of a list; the average if its path leads to several lists. */
  learn(path: string, items: number): void;
}

/**
 * Remembers the lengths of lists that no argument bounds, so that a question that is asked again is predicted as it is.
 */
export function learnedSizes(): LearnedSizes {
  const seen = new LRUCache<string, number>({ max: mostLists, ttl: rememberedMs });
  return {
    expected(path, most) {
      const items = seen.get(path);
      return items === undefined ? most : Math.min(most, Math.ceil(items * growth) + fewItems);
    },
    learn(path, items) {
      if (items > (seen.get(path) ?? -1)) seen.set(path, items);
    },
  };
}
