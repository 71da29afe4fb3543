import type { InstrumentType, SymbolClass, SymbolEntry, TenorFrame } from '../domain/symbol.ts';
import type { Tier } from '../domain/tier.ts';
import type { Store } from './connection.ts';
import { listen, notify } from './notifications.ts';
import type { Transaction } from './transaction.ts';

// Told when symbols changed.
const symbolsChannel = 'symbols';

const columns =
  'symbol, name, class, registered, window_days, tenor_frame, min_tier, requires_attestation, sector, instrument_type';

interface SymbolRow {
  symbol: string;
  name: string;
  class: SymbolClass;
  registered: boolean;
  window_days: number;
  tenor_frame: TenorFrame;
  min_tier: Tier;
  requires_attestation: boolean;
  sector: string | null;
  instrument_type: InstrumentType;
}

function entryOf(row: SymbolRow): SymbolEntry {
  return {
    symbol: row.symbol,
    name: row.name,
    class: row.class,
    registered: row.registered,
    windowDays: row.window_days,
    tenorFrame: row.tenor_frame,
    minTier: row.min_tier,
    requiresAttestation: row.requires_attestation,
    sector: row.sector,
    instrumentType: row.instrument_type,
  };
}

/** Every ticker known, registered or only in the directory, ascending. */
export async function allSymbols(store: Store): Promise<SymbolEntry[]> {
  const { rows } = await store.pool.query<SymbolRow>(`SELECT ${columns} FROM symbols ORDER BY symbol COLLATE "C"`);
  return rows.map(entryOf);
}

/** The registry's version: grows by one with every change to a symbol; 0 for an empty store. */
export async function symbolsVersion(from: Pick<Transaction, 'query'>): Promise<number> {
  const { rows } = await from.query<{ value: string }>({
    name: 'symbols-version',
    text: `SELECT value FROM store_facts WHERE key = 'symbols_version'`,
  });
  return Number(rows[0]?.value ?? 0);
}

async function insertSymbols(tx: Transaction, entries: readonly SymbolEntry[], onConflict: string): Promise<number> {
  // In one order, so that two writers do not wait for each other in a circle; of entries of one symbol the last counts.
  const bySymbol = [...new Map(entries.map((entry) => [entry.symbol, entry])).values()].sort((a, b) =>
    a.symbol < b.symbol ? -1 : 1,
  );
  if (bySymbol.length === 0) return 0;
  // Writers of symbols take turns: each also raises the version, so that two could wait for each other in a circle.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('symbols', 0))`);
  const { rowCount } = await tx.query(
    `INSERT INTO symbols (${columns})
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bool[], $5::int[], $6::text[], $7::text[], $8::bool[], $9::text[], $10::text[])
     ON CONFLICT (symbol) ${onConflict}`,
    [
      bySymbol.map((entry) => entry.symbol),
      bySymbol.map((entry) => entry.name),
      bySymbol.map((entry) => entry.class),
      bySymbol.map((entry) => entry.registered),
      bySymbol.map((entry) => entry.windowDays),
      bySymbol.map((entry) => entry.tenorFrame),
      bySymbol.map((entry) => entry.minTier),
      bySymbol.map((entry) => entry.requiresAttestation),
      bySymbol.map((entry) => entry.sector),
      bySymbol.map((entry) => entry.instrumentType),
    ],
  );
  const changed = rowCount ?? 0;
  if (changed === 0) return 0;
  await tx.query(
    `INSERT INTO store_facts (key, value) VALUES ('symbols_version', '1')
     ON CONFLICT (key) DO UPDATE SET value = (store_facts.value::int + 1)::text`,
  );
  await notify(tx, symbolsChannel, '');
  return changed;
}

const updated = columns.split(', ').slice(1);

/** Inserts or replaces symbols, inside the caller's transaction. Returns how many are new or different. */
export function saveSymbols(tx: Transaction, entries: readonly SymbolEntry[]): Promise<number> {
  const mine = updated.map((name) => `symbols.${name}`).join(', ');
  const theirs = updated.map((name) => `excluded.${name}`).join(', ');
  return insertSymbols(
    tx,
    entries,
    `DO UPDATE SET (${updated.join(', ')}) = ROW(${theirs}) WHERE (${mine}) IS DISTINCT FROM (${theirs})`,
  );
}

/** Enters tickers into the directory (not the registry) that are not known yet, so that a real ticker with data is never "not found". */
export async function saveUnknownTickers(
  tx: Transaction,
  tickers: Iterable<string>,
  symbolClass: (ticker: string) => SymbolClass = () => 'equity',
): Promise<number> {
  const { rows } = await tx.query<{ symbol: string }>({
    name: 'unknown-tickers',
    text: 'SELECT symbol FROM unnest($1::text[]) AS asked(symbol) WHERE NOT EXISTS (SELECT FROM symbols s WHERE s.symbol = asked.symbol)',
    values: [[...new Set(tickers)]],
  });
  const entries = rows.map(({ symbol }): SymbolEntry => {
    const kind = symbolClass(symbol);
    return {
      symbol,
      name: symbol,
      class: kind,
      registered: false,
      windowDays: 60,
      tenorFrame: 'weekly',
      minTier: 'free',
      requiresAttestation: false,
      sector: null,
      instrumentType: kind === 'index' ? 'index' : 'unknown',
    };
  });
  return insertSymbols(tx, entries, 'DO NOTHING');
}

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

// One a store, whatever it reads from.
const caches = new WeakMap<Store['blocks'], Cached>();

function cacheOf(store: Store): Cached {
  let cached = caches.get(store.blocks);
  if (!cached) {
    cached = { registry: null, checkedAt: -Infinity, loading: null, watched: false, doubts: 0 };
    caches.set(store.blocks, cached);
  }
  return cached;
}

async function load(store: Store, cached: Cached): Promise<SymbolRegistry> {
  const doubts = cached.doubts;
  // The version first: symbols that change in between are then loaded again, never missed.
  const version = await symbolsVersion(store.pool);
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

/** The classes of tickers, inside the caller's transaction; one that is not known is absent. */
export async function classesOf(tx: Transaction, tickers: readonly string[]): Promise<Map<string, SymbolClass>> {
  const { rows } = await tx.query<{ symbol: string; class: SymbolClass }>(
    'SELECT symbol, class FROM symbols WHERE symbol = ANY($1)',
    [tickers],
  );
  return new Map(rows.map((row) => [row.symbol, row.class]));
}
