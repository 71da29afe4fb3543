import { LRUCache } from 'lru-cache';
import { sessionOf } from '../../core/domain/calendar.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { expirationsAt } from '../../store/chain/chain-captures.ts';
import type { ListedExpirations } from '../../store/chain/open-interest.ts';
import type { Store } from '../../store/rows/connection.ts';
import { type AsOf, clampedCaps, parseAsOf, throughMs } from '../as-of.ts';
import { fromSource, ofAllInstants, type RequestContext, requireSource } from '../context.ts';
import { type FigureInstant, figureInstant, isOpen } from '../figure-instant.ts';
import { instantMeta, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { listSource } from '../source-keys.ts';

export interface ExpirationsMeta extends ResponseMeta {
  count: number;
  /** Epoch ms of the chain capture behind the list; null if there is none. */
  capturedAt: number | null;
  underlying: string;
  /** True if the list was not read again for this request. */
  cached: boolean;
  /** Names the date of an old chain; null otherwise. */
  note: string | null;
}

export interface Expirations {
  /** Ascending. */
  dates: SessionDate[];
  meta: ExpirationsMeta;
}

/** Longest time for which a live list may be reported as cached, ms. */
const cacheMs = minuteMs;

/** A served list. */
interface Served {
  listed: ListedExpirations | null;
  firstAtMs: number;
}

// By store, so that two servers in one process never mix. Bounded, because any well-formed ticker may be requested.
const lastServed = new WeakMap<Store['blocks'], LRUCache<string, Served>>();

function servedFrom(store: Store): LRUCache<string, Served> {
  let served = lastServed.get(store.blocks);
  if (!served) {
    served = new LRUCache({ max: 10_000 });
    lastServed.set(store.blocks, served);
  }
  return served;
}

/** Expiries listed at an instant; null if none were. */
function listedAt(context: RequestContext, symbol: string, atMs: number): Promise<ListedExpirations | null> {
  return batched(ofAllInstants(context), 'expirations', { underlying: symbol, atMs }, (asked) =>
    fromSource(context, 'chain', () => expirationsAt(context.store, asked)),
  );
}

/** The live list; `cached` while it is unchanged for a minute. */
async function liveList(
  context: RequestContext,
  symbol: string,
): Promise<{ listed: Served['listed']; cached: boolean }> {
  const { nowMs, past, store } = context;
  const listed = await listedAt(context, symbol, throughMs(context));
  if (past) return { listed, cached: false };
  const served = servedFrom(store);
  const before = served.get(symbol);
  const ageMs = nowMs - (before?.firstAtMs ?? Number.POSITIVE_INFINITY);
  if (before?.listed === listed && ageMs >= 0 && ageMs < cacheMs) return { listed, cached: true };
  served.set(symbol, { listed, firstAtMs: nowMs });
  return { listed, cached: false };
}

/** The chain behind a list, as far as its instant follows from it. */
function listingOf(underlying: string, listed: ListedExpirations | null) {
  if (listed === null) return null;
  const { capturedAt } = listed;
  return { underlying, capturedAt, sessionDate: sessionOf(capturedAt), delayMs: null };
}

function page(
  context: RequestContext,
  underlying: string,
  dates: SessionDate[],
  { asOf, instant, cached }: { asOf: AsOf | null; instant: FigureInstant; cached: boolean },
): Expirations {
  const capturedAt = instant.capture?.capturedAt ?? null;
  return {
    dates,
    meta: {
      ...responseMeta(context, instant.plane, clampedCaps(asOf), () =>
        capturedAt === null ? [] : listSource(underlying, capturedAt),
      ),
      ...instantMeta(context, asOf, capturedAt),
      count: dates.length,
      capturedAt,
      underlying,
      cached,
      note: instant.note,
    },
  };
}

/**
 * The expiries of a symbol's latest chain without settled ones, or with `at` those of the stored chain as of that time;
 * a bare date means its last chain (spec 4.14). No entitlement: any credential may read it.
 */
export async function expirations(
  context: RequestContext,
  symbol: string,
  { at, tz }: { at?: string | null | undefined; tz?: string | null | undefined },
): Promise<Expirations> {
  // Before the cache, which another server on the same store may have filled.
  requireSource(context, 'chain');
  if (at != null) {
    const asOf = parseAsOf(at, tz, 'at', context);
    const listed = await listedAt(context, symbol, asOf.atMs);
    const instant = await figureInstant(context, listingOf(symbol, listed), asOf);
    return page(context, symbol, listed?.expirations ?? [], { asOf, instant, cached: false });
  }
  const { listed, cached } = await liveList(context, symbol);
  const instant = await figureInstant(context, listingOf(symbol, listed));
  const open = (listed?.expirations ?? []).filter((expiry) => isOpen(context, expiry));
  return page(context, symbol, open, { asOf: null, instant, cached });
}
