import { LRUCache } from 'lru-cache';
import { expiryInstant } from '../../domain/chain/option-root.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import { expirationsAt, type ListedExpirations } from '../../store/chain/chain-captures.ts';
import type { Store } from '../../store/engine/connection.ts';
import { parseAsOf } from '../as-of.ts';
import { batched, fromSource, type RequestContext, requireSource } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';

export interface ExpirationsMeta extends ResponseMeta {
  count: number;
  /** Epoch ms of the chain capture the list comes from; null when there is none. */
  capturedAt: number | null;
  underlying: string;
  /** The list was not read again for this request. */
  cached: boolean;
}

export interface Expirations {
  /** Ascending. */
  dates: SessionDate[];
  meta: ExpirationsMeta;
}

/** How long a live list may be served without looking again. */
const cacheMs = minuteMs;

interface Held {
  listed: ListedExpirations | null;
  readAtMs: number;
}

// One cache a store, so that two servers in one process never mix. Bounded: any well-formed ticker may be asked for.
const caches = new WeakMap<Store['blocks'], LRUCache<string, Held>>();

function cacheOf(store: Store): LRUCache<string, Held> {
  let cache = caches.get(store.blocks);
  if (!cache) {
    cache = new LRUCache({ max: 10_000 });
    caches.set(store.blocks, cache);
  }
  return cache;
}

/** What was listed at an instant; null when nothing was. */
function listedAt(context: RequestContext, symbol: string, atMs: number): Promise<ListedExpirations | null> {
  return batched(context, 'expirations', { underlying: symbol, atMs }, (asked) =>
    fromSource(context, 'chain', () => expirationsAt(context.store, asked)),
  );
}

async function liveList(context: RequestContext, symbol: string): Promise<{ listed: Held['listed']; cached: boolean }> {
  const { nowMs, store } = context;
  const cache = cacheOf(store);
  const held = cache.get(symbol);
  const ageMs = nowMs - (held?.readAtMs ?? Number.POSITIVE_INFINITY);
  if (held && ageMs >= 0 && ageMs < cacheMs) return { listed: held.listed, cached: true };
  const listed = await listedAt(context, symbol, nowMs);
  cache.set(symbol, { listed, readAtMs: nowMs });
  return { listed, cached: false };
}

function page(
  context: RequestContext,
  underlying: string,
  dates: SessionDate[],
  { capturedAt, cached, sealed }: { capturedAt: number | null; cached: boolean; sealed: boolean },
): Expirations {
  return {
    dates,
    meta: {
      ...responseMeta(context, sealed ? 'archive' : 'live'),
      count: dates.length,
      capturedAt,
      underlying,
      cached,
    },
  };
}

/**
 * The expiries of a symbol's latest chain without those that have settled, or with `at` those of the chain stored for that
 * time as it was; a bare date means its last chain (spec 4.14). No entitlement: any credential may read it.
 */
export async function expirations(
  context: RequestContext,
  symbol: string,
  { at, tz }: { at?: string | null | undefined; tz?: string | null | undefined },
): Promise<Expirations> {
  // Before the cache, which another server on the same store may have filled.
  requireSource(context, 'chain');
  if (at != null) {
    const { atMs } = parseAsOf(at, tz, 'at', context.nowMs);
    const listed = await listedAt(context, symbol, atMs);
    const sealed = exchangeDate(atMs) < exchangeDate(context.nowMs);
    const capturedAt = listed?.capturedAt ?? null;
    return page(context, symbol, listed?.expirations ?? [], { capturedAt, cached: false, sealed });
  }
  const { listed, cached } = await liveList(context, symbol);
  const open = (listed?.expirations ?? []).filter((expiry) => expiryInstant(expiry, 'pm') > context.nowMs);
  return page(context, symbol, open, { capturedAt: listed?.capturedAt ?? null, cached, sealed: false });
}
