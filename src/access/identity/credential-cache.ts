import type { Account } from '../../core/domain/account.ts';
import { knownFailure, sourceFailed } from '../../platform/wire/failure.ts';
import { findAccount } from '../../store/account/accounts.ts';
import { type ApiKeyRow, findApiKey } from '../../store/account/api-keys.ts';
import type { Store } from '../../store/rows/connection.ts';
import { type FreshCache, freshCache } from './fresh-cache.ts';

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
