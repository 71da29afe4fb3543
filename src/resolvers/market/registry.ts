import type { InstrumentType, SymbolClass, SymbolEntry } from '../../core/domain/market/symbol.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { symbolRegistry } from '../../store/market/symbols.ts';
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
