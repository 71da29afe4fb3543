import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../../wire/response-cache.ts';

/**
 * Decoded blocks, bounded by the bytes they hold. A key carries the block's version (its content hash), so an entry can
 * never be stale: a changed block is another key.
 */
export interface BlockCache {
  get<T extends object>(key: string): T | undefined;
  set(key: string, value: object, bytes: number): void;
  stats(): CacheStats;
}

/** Bytes of an entry beside its columns and its key: objects, the map's slot, the cache's own lists. */
const entryBytes = 400;

/** A cache of at most `maxBytes`. */
export function createBlockCache(maxBytes: number): BlockCache {
  // Without `max`: the library allocates room for that many entries at once. Each entry's own cost bounds their number.
  const entries = new LRUCache<string, object>({ maxSize: maxBytes, maxEntrySize: maxBytes / 4 });
  let hits = 0;
  let misses = 0;
  return {
    get: <T extends object>(key: string) => {
      const found = entries.get(key) as T | undefined;
      if (found === undefined) misses += 1;
      else hits += 1;
      return found;
    },
    set: (key, value, bytes) => void entries.set(key, value, { size: bytes + key.length + entryBytes }),
    stats: () => ({ hits, misses, bytes: entries.calculatedSize, maxBytes }),
  };
}
