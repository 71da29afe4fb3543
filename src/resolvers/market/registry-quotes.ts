import type { Quote } from '../../domain/quote.ts';
import type { SymbolEntry } from '../../domain/symbol.ts';
import { minuteMs } from '../../domain/units.ts';
import { dailyBarsAt } from '../../live/daily-bars.ts';
import { quoteAt } from '../../live/quote-as-of.ts';
import { forEverybody } from '../../runtime/request-scope.ts';
import { dependOn, type Store } from '../../store/engine/connection.ts';
import { readLiveQuotes } from '../../store/market/live-quotes.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { registeredSymbols } from './registry.ts';

/** A registered symbol with its quote. */
export interface QuotedEntry {
  entry: SymbolEntry;
  quote: Quote;
}

/** The whole registry's quotes, as of one instant. */
export interface RegistryQuotes {
  /** Epoch ms. */
  atMs: number;
  quoted: readonly QuotedEntry[];
}

interface Computing {
  atMs: number;
  quoted: Promise<QuotedEntry[]>;
}

// One computation a minute serves every screener and everybody: callers differ only in which symbols they see of it.
const computing = new WeakMap<Store['blocks'], Computing>();

async function compute(context: RequestContext): Promise<QuotedEntry[]> {
  const { store, nowMs } = context;
  const entries = await registeredSymbols(context);
  const symbols = entries.map((entry) => entry.symbol);
  const [bars, live] = await Promise.all([dailyBarsAt(store, symbols, nowMs), readLiveQuotes(store, symbols)]);
  return entries.map((entry) => {
    const { symbol } = entry;
    return { entry, quote: quoteAt(symbol, bars.get(symbol)!, live.get(symbol) ?? null, nowMs) };
  });
}

/** What is computed in this minute; the first who asks in a minute has it done. */
function ofThisMinute(context: RequestContext): Computing {
  const { store, nowMs } = context;
  // Computed for whichever caller asks first: the answers of the others depend on the same.
  dependOn(store, 'registry', null);
  dependOn(store, 'market', null);
  const latest = computing.get(store.blocks);
  if (latest && nowMs >= latest.atMs && nowMs < latest.atMs + minuteMs) return latest;
  const fresh = { atMs: nowMs, quoted: forEverybody(() => compute(context)) };
  computing.set(store.blocks, fresh);
  // A failure is not shared beyond those who already wait for it.
  fresh.quoted.catch(() => {
    if (computing.get(store.blocks) === fresh) computing.delete(store.blocks);
  });
  return fresh;
}

/**
 * The quotes of all registered symbols, ascending, at most a minute old. Entitlement is checked where they are served.
 */
export function registryQuotes(context: RequestContext): Promise<RegistryQuotes> {
  return fromSource(context, 'bars', async () => {
    const { atMs, quoted } = ofThisMinute(context);
    return { atMs, quoted: await quoted };
  });
}
