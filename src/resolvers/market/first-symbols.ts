import { stockedSymbols, stockVersion } from '../../store/market/stocked-sessions.ts';
import { symbolRegistry } from '../../store/market/symbols.ts';
import type { Store } from '../../store/rows/connection.ts';

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
