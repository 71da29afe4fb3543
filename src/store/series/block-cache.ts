import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../../platform/wire/response-cache.ts';

/**
 * Cache of decoded blocks, bounded in bytes. A key contains the block's version (its content hash), so an entry is
 * never stale.
 */
export interface BlockCache {
  get<T extends object>(key: string): T | undefined;
  set(key: string, value: object, bytes: number): void;
  stats(): CacheStats;
}

/** Bytes of an entry besides its columns and its key: objects, the map's slot, the cache's own lists. */
const entryBytes = 400;

/** A cache of at most `maxBytes`. */
export function createBlockCache(maxBytes: number): BlockCache {
  // Without `max`: the library would allocate room for that many entries. Each entry's overhead bounds their number.
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
