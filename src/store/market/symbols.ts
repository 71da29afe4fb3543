import type { Symbol as SymbolRow } from '../../../generated/store/client.ts';
import { type OptionRoots, optionRoots } from '../../core/domain/chain/option-root.ts';
import type { SymbolClass, SymbolEntry } from '../../core/domain/market/symbol.ts';
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { type AsKnown, dependOn, type Store } from '../rows/connection.ts';
import { deleteRows, findRows, insertRows, upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { storedRoots } from './option-roots.ts';
import { changeRegistry, registryVersion } from './registry-version.ts';

// Rows were validated when they were written.
const entryOf = (row: SymbolRow) => row as SymbolEntry;

/** All known tickers, registered or only in the directory, ascending. */
export async function allSymbols({ prisma }: Pick<Reader, 'prisma'>): Promise<SymbolEntry[]> {
  return (await prisma.symbol.findMany({ orderBy: { symbol: 'asc' } })).map(entryOf);
}

/** The known tickers of indexes, inside the caller's transaction. */
export async function indexSymbols({ prisma }: Pick<Reader, 'prisma'>): Promise<Set<string>> {
  const rows = await prisma.symbol.findMany({ where: { class: 'index' }, select: { symbol: true } });
  return new Set(rows.map(({ symbol }) => symbol));
}

async function writeSymbols(
  tx: Transaction,
  entries: readonly SymbolEntry[],
  write: (rows: readonly SymbolEntry[]) => Promise<number>,
): Promise<number> {
  // The last of several entries of one symbol counts.
  const bySymbol = [...new Map(entries.map((entry) => [entry.symbol, entry])).values()];
  if (bySymbol.length === 0) return 0;
  return changeRegistry(tx, () => write(bySymbol));
}

const changing = [
  'name',
  'class',
  'registered',
  'windowDays',
  'tenorFrame',
  'minTier',
  'requiresAttestation',
  'sector',
  'instrumentType',
] as const;

/** Inserts or replaces symbols, inside the caller's transaction. Returns the number that are new or different. */
export function saveSymbols(tx: Transaction, entries: readonly SymbolEntry[]): Promise<number> {
  return writeSymbols(tx, entries, (rows) => upsertRows(tx, 'Symbol', rows, { ifDifferent: changing }));
}

/** Removes symbols, inside the caller's transaction. Returns their number. */
export async function removeSymbols(tx: Transaction, symbols: readonly string[]): Promise<number> {
  const keys = symbols.map((symbol) => ({ symbol }));
  return changeRegistry(tx, () => deleteRows(tx, 'Symbol', { by: ['symbol'], keys }));
}

/** Adds unknown tickers to the directory (not the registry), so that a real ticker with data is never "not found". */
export async function saveUnknownTickers(
  tx: Transaction,
  tickers: Iterable<string>,
  symbolClass: (ticker: string) => SymbolClass = () => 'equity',
): Promise<number> {
  const asked = [...new Set(tickers)];
  const keys = asked.map((symbol) => ({ symbol }));
  const known = new Set(
    (await findRows(tx, 'Symbol', { by: ['symbol'], keys }, ['symbol'])).map(({ symbol }) => symbol),
  );
  const unknown = asked.filter((symbol) => !known.has(symbol));
  const entries = unknown.map((symbol): SymbolEntry => {
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
  return writeSymbols(tx, entries, (rows) => insertRows(tx, 'Symbol', rows));
}

/** A snapshot of all symbols and roots, with its version. */
export interface SymbolRegistry {
  /** The ticker's entry, registered or not; undefined if the ticker is unknown. */
  get(ticker: string): SymbolEntry | undefined;
  /** The registered symbols, ascending. */
  registered(): readonly SymbolEntry[];
  roots: OptionRoots;
  /** Tickers of class index. */
  indices: readonly string[];
  /** Increases with every change. */
  version: number;
}

// Interval at which the version is checked while changes may be missed, ms.
const checkEveryMs = 5_000;

interface Cached {
  registry: SymbolRegistry | null;
  /**
   * The last notified change of the symbols before they were read, their version then, and the time when they were last
   * known to be current.
   */
  known: number;
  version: number | null;
  checkedAt: number;
  loading: { at: string; registry: Promise<SymbolRegistry> } | null;
}

// One per store, shared by its readers.
const caches = new WeakMap<Store['blocks'], Cached>();

function cacheOf(store: Store): Cached {
  let cached = caches.get(store.blocks);
  if (!cached) {
    cached = { registry: null, known: 0, version: null, checkedAt: -Infinity, loading: null };
    caches.set(store.blocks, cached);
  }
  return cached;
}

type Read = Pick<Cached, 'known' | 'version' | 'checkedAt'>;

async function load(store: Store, cached: Cached, read: Read): Promise<SymbolRegistry> {
  // The version is read first: symbols that change in between are then loaded again, never missed.
  const version = await registryVersion(store);
  let registry = cached.registry;
  if (registry?.version !== version) {
    const [entries, rootEntries] = await Promise.all([allSymbols(store), storedRoots(store)]);
    const bySymbol = new Map(entries.map((entry) => [entry.symbol, entry]));
    const registered = entries.filter((entry) => entry.registered);
    const indices = entries.filter((entry) => entry.class === 'index').map(({ symbol }) => symbol);
    const roots = optionRoots({ entries: rootEntries, indices });
    registry = { get: (ticker) => bySymbol.get(ticker), registered: () => registered, roots, indices, version };
  }
  if (read.checkedAt >= cached.checkedAt) Object.assign(cached, { ...read, registry });
  return registry;
}

/** Loads the symbols; concurrent callers share one load. */
function loaded(store: Store, cached: Cached, read: Read): Promise<SymbolRegistry> {
  const at = `${read.known} ${read.version}`;
  if (cached.loading?.at === at) return cached.loading.registry;
  const loading = { at, registry: load(store, cached, read) };
  cached.loading = loading;
  const end = () => {
    if (cached.loading === loading) cached.loading = null;
  };
  loading.registry.then(end, end);
  return loading.registry;
}

/**
 * The symbols, cached in memory: a look-up costs no statement and no promise, and a change is visible as soon as it is
 * committed. While changes may be missed (`watchChanges`), one statement every 5 s checks for them. While the store is
 * not reachable, the cached symbols are used.
 */
export function symbolRegistry(store: Store): MaybePromise<SymbolRegistry> {
  if (store.known) return knownRegistry(store, store.known);
  const cached = cacheOf(store);
  const version = dependOn(store, 'registry', null);
  const read = { known: store.versions.known('registry', null), version, checkedAt: performance.now() };
  const before = cached.known === read.known ? cached.registry : null;
  if (before && version !== null && cached.version === version) {
    cached.checkedAt = read.checkedAt;
    return before;
  }
  const isRecent = before !== null && read.checkedAt - cached.checkedAt < checkEveryMs;
  if (isRecent && version === null) return before;
  return reloaded(store, cached, read, isRecent ? before : null);
}

// By instant of knowledge of a request.
const knownRegistries = new WeakMap<AsKnown, Promise<SymbolRegistry>>();

function knownRegistry(store: Store, known: AsKnown): Promise<SymbolRegistry> {
  dependOn(store, 'registry', null);
  const found = knownRegistries.get(known) ?? readKnownRegistry(store, known);
  knownRegistries.set(known, found);
  return found;
}

/** True if a symbol was written after an instant, epoch ms. */
async function haveSymbolsChanged({ snapshot }: Store, atMs: number): Promise<boolean> {
  const text = 'SELECT 1 FROM symbols WHERE generation_ms > $1 LIMIT 1';
  return (await snapshot!.reader.query(text, [atMs])).rows.length > 0;
}

/**
 * The registry as it was known: terms of roots and what describes symbols. Which symbols there are, and who may read
 * them, is as of today: knowledge never opens what is closed.
 */
async function readKnownRegistry(store: Store, { atMs, today }: AsKnown): Promise<SymbolRegistry> {
  const current = await symbolRegistry(today);
  const [entries, changed] = [await storedRoots(store), await haveSymbolsChanged(store, atMs)];
  const roots = optionRoots({ entries, indices: current.indices });
  if (!changed) return { ...current, roots };
  const then = new Map((await allSymbols(store)).map((entry) => [entry.symbol, entry]));
  const asKnown = (entry: SymbolEntry): SymbolEntry => {
    const { name, sector, windowDays, tenorFrame, instrumentType } = then.get(entry.symbol) ?? entry;
    return { ...entry, name, sector, windowDays, tenorFrame, instrumentType };
  };
  return {
    ...current,
    roots,
    get(ticker) {
      const entry = current.get(ticker);
      return entry && asKnown(entry);
    },
    registered: () => current.registered().map(asKnown),
  };
}

/** Loads the symbols. If the store is not reachable, returns the cached ones, if any. */
async function reloaded(store: Store, cached: Cached, read: Read, before: SymbolRegistry | null) {
  try {
    return await loaded(store, cached, read);
  } catch (error) {
    if (before === null) throw error;
    currentRequest()?.dependencies.add(store.versions, 'registry', null, null);
    return before;
  }
}

/** Windows, in days, within which contracts of the registered underlyings are followed. */
export async function followedWindows({ prisma }: Pick<Reader, 'prisma'>): Promise<Map<string, number>> {
  const rows = await prisma.symbol.findMany({
    where: { registered: true },
    select: { symbol: true, windowDays: true },
  });
  return new Map(rows.map(({ symbol, windowDays }) => [symbol, windowDays]));
}

/** The classes of tickers, inside the caller's transaction; an unknown one is absent. */
export async function classesOf(tx: Transaction, tickers: readonly string[]): Promise<Map<string, SymbolClass>> {
  const keys = [...new Set(tickers)].map((symbol) => ({ symbol }));
  const rows = await findRows(tx, 'Symbol', { by: ['symbol'], keys }, ['symbol', 'class']);
  return new Map(rows.map((row) => [row.symbol, row.class as SymbolClass]));
}

/** Symbols with stored bars or captures, in order; not all of them need to be in the registry. */
export async function storedSymbols({ prisma }: Pick<Store, 'prisma'>): Promise<string[]> {
  const [bars, ...options] = await Promise.all([
    prisma.barBlock.groupBy({ by: ['symbol'] }),
    prisma.optionBarBlock.groupBy({ by: ['underlying'] }),
    prisma.chainCapture.groupBy({ by: ['underlying'] }),
    prisma.gexCapture.groupBy({ by: ['underlying'] }),
  ]);
  const all = [...bars.map(({ symbol }) => symbol), ...options.flat().map(({ underlying }) => underlying)];
  return [...new Set(all)].sort();
}
