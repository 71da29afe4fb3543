import { symbolAccess } from '../access/entitlement.ts';
import { type SectorAverage, sectorAverages } from '../analytics/sectors.ts';
import type { SessionDate } from '../domain/market-time.ts';
import type { SymbolEntry } from '../domain/symbol.ts';
import { minuteMs } from '../domain/units.ts';
import type { Store } from '../store/connection.ts';
import { readLiveQuotes } from '../store/live-quotes.ts';
import { fromSource, type RequestContext } from './context.ts';
import { dailyBarsAt } from './daily-bars.ts';
import { quoteAt } from './quotes.ts';
import { registeredSymbols } from './registry.ts';
import { type ResponseMeta, responseMeta } from './response-meta.ts';

export type { SectorAverage };

export interface SectorsMeta extends ResponseMeta {
  count: number;
  /** Epoch ms. */
  computedAt: number;
  /** As sent; not applied. */
  date: SessionDate | null;
  note: string;
}

export interface SectorsPage {
  rows: SectorAverage[];
  meta: SectorsMeta;
}

const note =
  'Preliminary: rows are of the latest session whatever date says, and symbols that the sector map does not cover are under other.';

interface Change {
  entry: SymbolEntry;
  /** Percent; null without a recent price and a close before it. */
  changePct: number | null;
}

interface Computed {
  atMs: number;
  changes: Promise<Change[]>;
}

// One computation a minute serves everybody: what differs between callers is only which of its symbols they see.
const computed = new WeakMap<Store, Computed>();

async function compute(context: RequestContext): Promise<Change[]> {
  const { store, nowMs } = context;
  const entries = await registeredSymbols(context);
  const symbols = entries.map((entry) => entry.symbol);
  const [bars, live] = await Promise.all([dailyBarsAt(store, symbols, nowMs), readLiveQuotes(store, symbols)]);
  return entries.map((entry) => {
    const { changePct } = quoteAt(entry.symbol, bars.get(entry.symbol)!, live.get(entry.symbol) ?? null, nowMs);
    return { entry, changePct };
  });
}

/** The changes of the minute; the first who asks in a minute has them computed. */
function sharedChanges(context: RequestContext): Computed {
  const { store, nowMs } = context;
  const latest = computed.get(store);
  if (latest && nowMs >= latest.atMs && nowMs < latest.atMs + minuteMs) return latest;
  const fresh = { atMs: nowMs, changes: compute(context) };
  computed.set(store, fresh);
  // A failure is not shared beyond those who already wait for it.
  fresh.changes.catch(() => {
    if (computed.get(store) === fresh) computed.delete(store);
  });
  return fresh;
}

/** Index symbols are never shown to keys, and to sessions only when they may read them. */
function shows({ caller }: RequestContext, entry: SymbolEntry): boolean {
  return entry.class !== 'index' || (caller.kind === 'session' && symbolAccess(caller, entry).allowed);
}

/** Every sector's average change in the latest session, ascending by sector, `other` last. */
export async function sectors(context: RequestContext, date: SessionDate | null): Promise<SectorsPage> {
  const { atMs, changes } = await fromSource(context, 'bars', async () => {
    const shared = sharedChanges(context);
    return { atMs: shared.atMs, changes: await shared.changes };
  });
  const members = changes.filter(({ entry }) => shows(context, entry));
  const rows = sectorAverages(
    members.map(({ entry: { symbol, sector }, changePct }) => ({ symbol, sector, changePct })),
  );
  return { rows, meta: { ...responseMeta(context, 'live'), count: rows.length, computedAt: atMs, date, note } };
}
