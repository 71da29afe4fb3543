import { LRUCache } from 'lru-cache';

/** A bounded cache of values of the store, never older than its limit. */
export interface FreshCache<V> {
  /** The value, loaded if it is not cached; null = the store has none. Concurrent callers share one load. */
  get(key: string): Promise<V | null>;
  /** Drops a key immediately; the result of a load in progress is not cached either. */
  drop(key: string): void;
}

/** Bounds of a cache. */
export interface FreshCacheLimits {
  /** Maximum number of entries, counted separately for present and absent keys. */
  max: number;
  /** Maximum age of a value, ms, counted from before its load, so that it bounds how stale an answer can be. */
  ttlMs: number;
  /** The same for absent keys. */
  absentTtlMs: number;
  /** Monotonic time, ms: setting back a wall clock must not keep a revoked key valid. */
  elapsed: () => number;
}

/**
 * Creates a cache over `load`. Absent keys have a cache of their own, so that a flood of invented keys evicts no real
 * one.
 */
export function freshCache<V extends object>(
  limits: FreshCacheLimits,
  load: (key: string) => Promise<V | null>,
): FreshCache<V> {
  const { max, ttlMs, absentTtlMs, elapsed } = limits;
  const time = { perf: { now: elapsed }, ttlResolution: 0 };
  const present = new LRUCache<string, V>({ max, ttl: ttlMs, ...time });
  const absent = new LRUCache<string, true>({ max, ttl: absentTtlMs, ...time });
  const loading = new Map<string, Promise<V | null>>();

  async function loadAndCache(key: string): Promise<V | null> {
    const start = elapsed();
    const promise = load(key);
    loading.set(key, promise);
    try {
      const value = await promise;
      // Dropped during the load: the value may predate the change.
      if (loading.get(key) !== promise) return value;
      if (value === null) absent.set(key, true, { start });
      else present.set(key, value, { start });
      return value;
    } finally {
      if (loading.get(key) === promise) loading.delete(key);
    }
  }

  return {
    async get(key) {
      const value = present.get(key);
      if (value !== undefined) return value;
      if (absent.has(key)) return null;
      return loading.get(key) ?? loadAndCache(key);
    },
    drop(key) {
      present.delete(key);
      absent.delete(key);
      loading.delete(key);
    },
  };
}
