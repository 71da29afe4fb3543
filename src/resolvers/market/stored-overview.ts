import type { StoredOverview, StoredSpan } from '../../core/domain/market/stored-overview.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { stockedSymbols } from '../../store/market/stocked-sessions.ts';
import { sessionContents } from '../../store/market/stored-sessions.ts';
import { symbolRegistry } from '../../store/market/symbols.ts';
import type { Store } from '../../store/rows/connection.ts';

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
