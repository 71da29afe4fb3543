import type { StoredOverview, StoredSpan } from '../../core/domain/market/stored-overview.ts';
import type { InstrumentType, SymbolClass, SymbolEntry } from '../../core/domain/market/symbol.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { sessionContents, stockedSymbols, stockVersion } from '../../store/market/stored-sessions.ts';
import { symbolRegistry } from '../../store/market/symbols.ts';
import type { Store } from '../../store/rows/connection.ts';
import { findSymbol, fromStore, type RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';

/** The registered symbols, ascending. */
export async function registeredSymbols(context: RequestContext): Promise<readonly SymbolEntry[]> {
  return (await fromStore('registry', () => symbolRegistry(context.store))).registered();
}

/** The whole registry, or one class of it (contract-notes 3). */
export interface RegistryPage {
  rows: readonly SymbolEntry[];
  meta: ResponseMeta & { count: number; class: SymbolClass | null };
}

/** Every registered symbol of `symbolClass` (null = any), ascending. */
export async function registryPage(context: RequestContext, symbolClass: SymbolClass | null): Promise<RegistryPage> {
  const all = await registeredSymbols(context);
  const rows = symbolClass === null ? all : all.filter((entry) => entry.class === symbolClass);
  return { rows, meta: { ...responseMeta(context, 'registry'), count: rows.length, class: symbolClass } };
}

/** Answer of a look-up: true or false for a real ticker, and its kind (contract-notes 3). */
export interface SymbolLookup {
  valid: boolean;
  /** The ticker; for any other text, the text in upper case. */
  symbol: string;
  name: string | null;
  class: SymbolClass | null;
  instrumentType: InstrumentType;
  /** Source of the type, `registry` or `directory`; null if the type is unknown. */
  instrumentTypeSource: string | null;
  /** Date the type was established; null = unknown, as long as no source provides it. */
  instrumentTypeAsOf: string | null;
}

/** Maximum length of a look-up text. */
export const maxLookupLength = 40;

/** Looks a text up in the ticker directory. Returns `valid: false` for a malformed ticker instead of throwing. */
export async function lookup(context: RequestContext, q: string): Promise<SymbolLookup> {
  const text = q.trim();
  if (text === '') throw invalidParameter('q', 'a value is required; it was empty');
  if (text.length > maxLookupLength) throw invalidParameter('q', `at most ${maxLookupLength} characters`);
  const ticker = readTicker(text);
  const entry = ticker === null ? null : await findSymbol(context, ticker);
  const instrumentType = entry?.instrumentType ?? 'unknown';
  const source = entry?.registered ? 'registry' : 'directory';
  return {
    valid: entry !== null,
    symbol: entry?.symbol ?? text.toUpperCase(),
    name: entry?.name ?? null,
    class: entry?.class ?? null,
    instrumentType,
    instrumentTypeSource: instrumentType === 'unknown' ? null : source,
    instrumentTypeAsOf: null,
  };
}

// The most popular symbols.
const usual = ['SPY', 'QQQ', 'IWM', 'DIA', 'AAPL', 'MSFT', 'NVDA', 'AMZN', 'META', 'GOOGL', 'TSLA', 'AMD', 'SPX'];

/** Maximum number of registered symbols to check; the first ones of a larger registry. */
const mostLookedAt = 2000;

/**
 * Creates the function that returns the registered symbols with stored data, the most popular first, as many as a list
 * shows. None while the store cannot be read.
 */
export function firstSymbols(store: Store): () => Promise<string[]> {
  let known: { version: string | null; symbols: string[] } | null = null;
  const read = async () => {
    const version = stockVersion(store);
    if (known !== null && version !== null && known.version === version) return known.symbols;
    const registered = (await symbolRegistry(store)).registered().map(({ symbol }) => symbol);
    const stocked = await stockedSymbols(store, registered.slice(0, mostLookedAt));
    const ordered = [...new Set([...usual, ...registered])].filter((symbol) => stocked.has(symbol));
    known = { version, symbols: ordered.slice(0, usual.length) };
    return known.symbols;
  };
  return () => read().catch(() => []);
}

/** Maximum number of sessions that are counted. */
const mostSessions = 250;

// The overview may be as old as this: a market that trades changes all the time.
const keptMs = 60_000;

const nothing: StoredOverview = { symbols: 0, kinds: { bars: null, chains: null, flow: null, offExchange: null } };

function spanOf(dates: Iterable<SessionDate>): StoredSpan | null {
  const sorted = [...new Set(dates)].sort().slice(-mostSessions);
  return sorted.length === 0 ? null : { from: sorted[0]!, to: sorted.at(-1)!, sessions: sorted.length };
}

/**
 * Creates the function that returns the contents of a store, `first` = the symbols whose sessions are counted. Nothing
 * while the store cannot be read.
 */
export function storedOverview(
  store: Store,
  first: () => Promise<readonly string[]>,
  now: Clock,
): () => Promise<StoredOverview> {
  let known: { atMs: number; overview: Promise<StoredOverview> } | null = null;
  const read = async (): Promise<StoredOverview> => {
    const symbols = await first();
    const registered = (await symbolRegistry(store)).registered().map(({ symbol }) => symbol);
    const through = exchangeDate(now());
    const shown = { through, atMs: now(), barsThrough: through, offExchangeThrough: through };
    const [stocked, found] = await Promise.all([
      stockedSymbols(store, registered),
      sessionContents(store, symbols, shown, mostSessions),
    ]);
    const sessions = [...found.values()].flatMap((ofSymbol) => [...ofSymbol]);
    const kind = (name: keyof StoredOverview['kinds']) =>
      spanOf(sessions.flatMap(([date, has]) => (has[name] ? [date] : [])));
    const kinds = { bars: kind('bars'), chains: kind('chains'), flow: kind('flow'), offExchange: kind('offExchange') };
    return { symbols: stocked.size, kinds };
  };
  return () => {
    // Requests that come while it is read wait for the same reads.
    if (known === null || Math.abs(now() - known.atMs) >= keptMs)
      known = { atMs: now(), overview: read().catch(() => nothing) };
    return known.overview;
  };
}
