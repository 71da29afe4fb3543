import { LRUCache } from 'lru-cache';
import type { Account } from '../../core/domain/account.ts';
import { knownFailure, sourceFailed } from '../../platform/wire/failure.ts';
import { findAccount } from '../../store/account/accounts.ts';
import { type ApiKeyRow, findApiKey } from '../../store/account/api-keys.ts';
import type { Store } from '../../store/rows/connection.ts';

/** Cache of the store's keys (by hash) and accounts (by id), a few seconds old at most. */
export interface CredentialCache {
  keys: FreshCache<ApiKeyRow>;
  accounts: FreshCache<Account>;
}

// A key revoked, or an account changed, by another process is noticed within 5 s: the maximum age plus the time of the
// load.
const limits = { max: 10_000, ttlMs: 4000, absentTtlMs: 2000 };

/** Opens the cache. `elapsed` is monotonic time, ms. Its loads throw 502 if the store does not answer. */
export function openCredentialCache(store: Store, elapsed: () => number): CredentialCache {
  return {
    keys: freshCache({ ...limits, elapsed }, (hash) => fromStore(findApiKey(store, hash))),
    accounts: freshCache({ ...limits, elapsed }, (id) => fromStore(findAccount(store, id))),
  };
}

/** Awaits the account store. Its failure becomes 502. */
export async function fromStore<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw knownFailure(error) ?? sourceFailed('account', error);
  }
}

/** A bounded cache of values of the store, never older than its limit. */
interface FreshCache<V> {
  /** The value, loaded if it is not cached; null = the store has none. Concurrent callers share one load. */
  get(key: string): Promise<V | null>;
  /** Drops a key immediately; the result of a load in progress is not cached either. */
  drop(key: string): void;
}

/** Bounds of a cache. */
interface FreshCacheLimits {
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
