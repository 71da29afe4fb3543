import { LRUCache } from 'lru-cache';

/** Maximum number of remembered lists, and for how long: a market's lists change slowly. */
const mostLists = 20_000;
const rememberedMs = 10 * 60_000;

/** Allowed growth of a list since it was seen: a quarter, or a few items. */
const growth = 1.25;
const fewItems = 5;

/** Lengths of lists in recent answers, by their path from the root with all arguments. */
export interface LearnedSizes {
  /** Expected number of items of a list, at most `most`. */
  expected(path: string, most: number): number;
  /** Recent number of items of a list; undefined = none was seen. */
  seen(path: string): number | undefined;
  /** Records the number of items of a list; the average if its path leads to several lists. */
  learn(path: string, items: number): void;
}

/** Lengths learned from answers to callers of the same rights: those of others would tell what they may not read. */
export type LearnedByRights = (rights: string) => LearnedSizes;

/**
 * Remembers the lengths of lists that no argument bounds, so that a repeated operation is predicted by its last answer.
 */
export function learnedSizes(): LearnedByRights {
  const seen = new LRUCache<string, number>({ max: mostLists, ttl: rememberedMs });
  return (rights) => ({
    expected(path, most) {
      const items = seen.get(rights + path);
      return items === undefined ? most : Math.min(most, Math.ceil(items * growth) + fewItems);
    },
    seen: (path) => seen.get(rights + path),
    learn(path, items) {
      if (items > (seen.get(rights + path) ?? -1)) seen.set(rights + path, items);
    },
  });
}
