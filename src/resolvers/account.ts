import type { Caller } from '../access/caller.ts';
import { flowCapability, offExchangeCapability, symbolAccess } from '../access/entitlement/entitlement.ts';
import type { Declaration } from '../access/identity/accounts.ts';
import type { ApiKeyInfo, CreatedKey } from '../access/identity/api-keys.ts';
import type { StreamTicket } from '../access/identity/stream-tickets.ts';
import { trailingDays } from '../access/usage/usage.ts';
import type { Classification } from '../platform/config/tiers.ts';
import { oncePerRequest } from '../platform/runtime/once-per-request.ts';
import { invalidParameter, invalidSymbols, notFound } from '../platform/wire/failure.ts';
import { countScreens } from '../store/account/saved-screens.ts';
import {
  deleteWatchlist,
  listWatchlists,
  putWatchlist,
  type Watchlist,
  watchlistLimits,
} from '../store/account/watchlists.ts';
import { journalRows } from '../store/journal/journal-writes.ts';
import { findSymbol, fromStore, type RequestContext } from './context.ts';
import { connectionPage, readPosition } from './cursor.ts';
import type { SymbolConnection } from './market/symbol-connection.ts';
import { type ResponseMeta, responseMeta } from './response-meta.ts';

export type { ApiKeyInfo, CreatedKey, Declaration };

/**
 * `meta` of account answers: `caps.flow` is reported, true or false (spec 2.1). `caps.darkpool` is not: no account
 * route of the contract reports it. The graph has both as fields of `me`.
 */
export function accountMeta(context: RequestContext): ResponseMeta {
  const meta = responseMeta(context, 'registry');
  return { ...meta, caps: { ...meta.caps, flow: flowCapability(context.caller) } };
}

/** True if the caller may use option flow in the site: site Pro and declared non-professional. */
export function flowGranted({ caller }: RequestContext): boolean {
  return flowCapability(caller);
}

/** True if the caller may use off-exchange data in the site: site Basic and declared non-professional. */
export function offExchangeGranted({ caller }: RequestContext): boolean {
  return offExchangeCapability(caller);
}

/** The declaration of the caller's account. */
export function declaration({ access, caller }: RequestContext): Promise<Declaration> {
  return fromStore('account', () => access.accounts.declaration(caller.accountId));
}

/** Declares the caller's account; the rest of the request is served under the new declaration. */
export async function classify(context: RequestContext, classification: Classification): Promise<Declaration> {
  const { access, caller } = context;
  const declared = await fromStore('account', () => access.accounts.declare(caller.accountId, classification));
  context.caller = { ...caller, classification: declared.classification, attested: declared.attested };
  access.tickets.succeed(caller, context.caller);
  return declared;
}

/**
 * The API keys of the caller's account, oldest first, including revoked ones; 403 for a caller that is a key itself.
 */
export function apiKeys({ access, caller }: RequestContext): Promise<ApiKeyInfo[]> {
  return fromStore('account', () => access.keys.listFor(caller));
}

/** Creates an API key for the caller's account; 403 for a key, and without the declaration. */
export function createKey({ access, caller }: RequestContext, name: string | null): Promise<CreatedKey> {
  return fromStore('account', () => access.keys.createFor(caller, name));
}

/** Revokes an API key of the caller's account and returns its id; 403 for a key, 404 for an unknown or revoked one. */
export async function revokeKey({ access, caller }: RequestContext, id: string): Promise<string> {
  await fromStore('account', () => access.keys.revokeFor(caller, id));
  return id;
}

/** The caller, and the rights of the request. */
export type Me = Caller;

/** An issued ticket, and the metadata of the answer. */
export interface CreatedStreamTicket extends StreamTicket {
  meta: ResponseMeta;
}

/** Issues a ticket for the caller's credential. */
export async function createStreamTicket(context: RequestContext): Promise<CreatedStreamTicket> {
  return { ...(await context.access.tickets.issue(context.caller)), meta: accountMeta(context) };
}

/** Requests of one scope group on one date. */
export interface UsageDay {
  /** YYYY-MM-DD, UTC. */
  date: string;
  scopeGroup: string;
  count: number;
}

/** A quota of requests per period. */
export interface Quota {
  limit: number;
  used: number;
  /** Epoch ms. */
  resetsAt: number;
}

/** Requests of an account (spec 2.16). */
export interface AccountUsage {
  /** Number of days, including today. */
  trailingDays: number;
  /** Ascending by date, then by scope group. */
  byDay: UsageDay[];
  totalsByScopeGroup: Record<string, number>;
  rateLimit: { perMin: number };
  /** Always null: there is no quota yet. */
  quota: Quota | null;
  /** Current and maximum number of rows in the account's journal: trades, journal accounts and imports. */
  journal: { rows: number; limit: number };
  /** Number of saved screens, and the maximum. */
  screens: { count: number; limit: number };
}

/**
 * The usage of the caller's account over the last 30 UTC days, without the current request, which is counted once
 * answered.
 */
export async function accountUsage(context: RequestContext): Promise<AccountUsage> {
  const { access, caller, store, journalMaxRows, maxSavedScreens } = context;
  const [byDay, rows, screens] = await Promise.all([
    fromStore('usage', () => access.usage.read(caller.accountId)),
    fromStore('journal', () => journalRows(store, caller.accountId)),
    fromStore('screens', () => countScreens(store, caller.accountId)),
  ]);
  const totals: Record<string, number> = {};
  for (const { scopeGroup, count } of byDay) totals[scopeGroup] = (totals[scopeGroup] ?? 0) + count;
  return {
    trailingDays,
    byDay,
    totalsByScopeGroup: totals,
    rateLimit: { perMin: access.rate.limit(caller) },
    quota: null,
    journal: { rows, limit: journalMaxRows },
    screens: { count: screens, limit: maxSavedScreens },
  };
}

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
