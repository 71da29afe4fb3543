import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import { invalidParameter, invalidSymbols, notFound } from '../../platform/wire/failure.ts';
import {
  deleteWatchlist,
  listWatchlists,
  putWatchlist,
  type Watchlist,
  watchlistLimits,
} from '../../store/account/watchlists.ts';
import { connectionPage } from '../connection-page.ts';
import { findSymbol, fromStore, type RequestContext } from '../context.ts';
import { readPosition } from '../cursor.ts';
import type { SymbolConnection } from '../market/symbol-connection.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';

export { type Watchlist, watchlistLimits };

/** The caller's watchlists, oldest first (spec 4.15). */
export interface WatchlistPage {
  rows: Watchlist[];
  meta: ResponseMeta & { count: number };
}

function allWatchlists(context: RequestContext): Promise<Watchlist[]> {
  const { store, caller } = context;
  return oncePerRequest(context, 'watchlists', () =>
    fromStore('watchlists', () => listWatchlists(store, caller.accountId)),
  );
}

/** The caller's watchlists: the first N; null = all. */
export async function watchlists(context: RequestContext, first: number | null): Promise<WatchlistPage> {
  if (first !== null && first < 1) throw invalidParameter('first', 'expected 1 or more');
  const rows = (await allWatchlists(context)).slice(0, first ?? watchlistLimits.lists);
  return { rows, meta: { ...watchlistMeta(context), count: rows.length } };
}

/** The caller's watchlist with that id; null = none. */
export async function watchlist(context: RequestContext, id: string): Promise<Watchlist | null> {
  return (await allWatchlists(context)).find((list) => list.id === id) ?? null;
}

/** `meta` of an answer about one watchlist. */
export function watchlistMeta(context: RequestContext): ResponseMeta {
  return responseMeta(context, 'registry');
}

/** Throws 400 unless each symbol is registered and the caller may read it. */
async function requireAllReadable(context: RequestContext, symbols: ReadonlySet<string>): Promise<void> {
  const unknown: string[] = [];
  const refused = { not_entitled_tier: [] as string[], attestation_required: [] as string[] };
  for (const symbol of symbols) {
    const entry = await findSymbol(context, symbol);
    if (!entry?.registered) unknown.push(symbol);
    else {
      const { reason } = symbolAccess(context.caller, entry);
      if (reason !== null) refused[reason].push(symbol);
    }
  }
  if (unknown.length > 0) throw invalidSymbols(unknown, 'not in the symbol registry');
  if (refused.not_entitled_tier.length > 0) {
    throw invalidSymbols(refused.not_entitled_tier, `not readable on the ${context.caller.tier} tier`);
  }
  if (refused.attestation_required.length > 0) {
    throw invalidSymbols(
      refused.attestation_required,
      'not readable without a non-professional market-data declaration: POST /v2/account/classification',
    );
  }
}

/**
 * Stores a list of the caller, replacing the one with that id (spec 4.16). Symbols, already in upper case, stay in the
 * order sent, without duplicates. 400 for a blank name, a symbol the caller cannot read, and over the limits.
 */
export async function writeWatchlist(context: RequestContext, list: Watchlist): Promise<Watchlist> {
  const { store, caller, nowMs } = context;
  if (list.name.trim() === '') throw invalidParameter('name', 'a value is required; it was empty');
  const unique = new Set(list.symbols);
  const symbols = [...unique];
  // Checked before any look-up; the store enforces the same limit.
  if (symbols.length > watchlistLimits.symbols) {
    throw invalidParameter('symbols', `expected at most ${watchlistLimits.symbols} symbols, got ${symbols.length}`);
  }
  await requireAllReadable(context, unique);
  return fromStore('watchlists', () => putWatchlist(store, caller.accountId, { ...list, symbols }, nowMs));
}

/** Deletes a list of the caller and returns its id; 404 if the id is unknown. */
export async function removeWatchlist({ store, caller }: RequestContext, id: string): Promise<string> {
  if (!(await fromStore('watchlists', () => deleteWatchlist(store, caller.accountId, id)))) {
    throw notFound(`Watchlist ${JSON.stringify(id.slice(0, 40))}`);
  }
  return id;
}

/** A page of a list's symbols, in the list's order. The cursor is a position in it. */
export function watchlistSymbols(
  { id, symbols }: Watchlist,
  first: number,
  after: string | null | undefined,
): SymbolConnection {
  if (first < 1) throw invalidParameter('first', 'expected 1 or more');
  const bound = ['watchlist', id];
  const start = after == null ? 0 : Math.max(0, readPosition(after, bound, 'after'));
  const nodes = symbols.slice(start, start + first).map((symbol) => ({ symbol }));
  return connectionPage({
    nodes,
    position: (_node, index) => String(start + index + 1),
    bound,
    hasNextPage: start + nodes.length < symbols.length,
    hasPreviousPage: start > 0 && symbols.length > 0,
    totalCount: symbols.length,
  });
}
