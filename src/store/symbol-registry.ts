import type { SymbolEntry } from '../domain/symbol.ts';
import type { Store } from './connection.ts';
import { listen } from './notifications.ts';
import { allSymbols, symbolsChannel, symbolsVersion } from './symbols.ts';

/** All symbols in memory, as of one version. */
export interface SymbolRegistry {
  /** The ticker's entry, registered or not; undefined when the ticker is not known at all. */
  get(ticker: string): SymbolEntry | undefined;
  /** The registered symbols, ascending. */
  registered(): readonly SymbolEntry[];
  /** Grows with every change. */
  version: number;
}

// Without a listener the version is asked for again after this long.
const checkEveryMs = 5_000;

interface Cached {
  registry: SymbolRegistry | null;
  checkedAt: number;
  loading: Promise<SymbolRegistry> | null;
  watched: boolean;
  /** Counts what made the cached symbols doubtful, so that a load under way when it happened is not trusted. */
  doubts: number;
}

const caches = new WeakMap<Store, Cached>();

function cacheOf(store: Store): Cached {
  let cached = caches.get(store);
  if (!cached) {
    cached = { registry: null, checkedAt: -Infinity, loading: null, watched: false, doubts: 0 };
    caches.set(store, cached);
  }
  return cached;
}

async function load(store: Store, cached: Cached): Promise<SymbolRegistry> {
  const doubts = cached.doubts;
  // The version first: symbols that change in between are then loaded again, never missed.
  const version = await symbolsVersion(store);
  let registry = cached.registry;
  if (registry?.version !== version) {
    const entries = await allSymbols(store);
    const bySymbol = new Map(entries.map((entry) => [entry.symbol, entry]));
    const registered = entries.filter((entry) => entry.registered);
    registry = { get: (ticker) => bySymbol.get(ticker), registered: () => registered, version };
  }
  cached.registry = registry;
  if (doubts === cached.doubts) cached.checkedAt = performance.now();
  return registry;
}

/**
 * The symbols, kept in memory: a look-up costs no statement. Every 5 s one statement asks whether they changed; with
 * `watchSymbols` none does, and a change is seen as soon as it is committed.
 */
export function symbolRegistry(store: Store): Promise<SymbolRegistry> {
  const cached = cacheOf(store);
  const age = performance.now() - cached.checkedAt;
  if (cached.registry && age < (cached.watched ? Infinity : checkEveryMs)) return Promise.resolve(cached.registry);
  if (!cached.loading) {
    const loading = load(store, cached).finally(() => {
      if (cached.loading === loading) cached.loading = null;
    });
    cached.loading = loading;
  }
  return cached.loading;
}

/** Makes the next look-up read the symbols again. For a writer in this process, whose readers must see what it wrote at once. */
export function forgetSymbols(store: Store): void {
  const cached = cacheOf(store);
  cached.checkedAt = -Infinity;
  cached.loading = null;
  cached.doubts++;
}

/** Follows changes by notification until the returned function is called; it must be, before the store is closed. */
export async function watchSymbols(store: Store): Promise<() => Promise<void>> {
  const cached = cacheOf(store);
  const forget = () => forgetSymbols(store);
  const stop = await listen(store, symbolsChannel, forget, forget);
  forget();
  cached.watched = true;
  return async () => {
    cached.watched = false;
    await stop();
  };
}
