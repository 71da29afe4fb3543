import { stockedSymbols, stockVersion } from '../../store/market/stocked-sessions.ts';
import { symbolRegistry } from '../../store/market/symbols.ts';
import type { Store } from '../../store/rows/connection.ts';

// The symbols that most people look at first.
const usual = ['SPY', 'QQQ', 'IWM', 'DIA', 'AAPL', 'MSFT', 'NVDA', 'AMZN', 'META', 'GOOGL', 'TSLA', 'AMD', 'SPX'];

/** Registered symbols that are looked at; of a larger registry the first ones. */
const mostLookedAt = 2000;

/**
 * Creates the function that returns the registered symbols with stored data, those that most people look at first, as
 * many as a list shows. None while the store cannot be read.
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
