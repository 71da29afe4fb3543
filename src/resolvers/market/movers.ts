import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import { type SectorAverage, sectorAverages } from '../../core/analytics/screener/sectors.ts';
import type { RowOf } from '../../core/domain/columns.ts';
import type { Quote } from '../../core/domain/market/quote.ts';
import type { moverColumns } from '../../core/domain/market/quote-columns.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { dailyBarsAt } from '../../live/daily-bars.ts';
import { quoteAt } from '../../live/quotes.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import { forEverybody } from '../../platform/runtime/request-scope.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { readLiveQuotes } from '../../store/market/live-quotes.ts';
import { readSplits } from '../../store/market/splits.ts';
import { dependOn, readingTogether, type Store } from '../../store/rows/connection.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { priceSource, sourcesOfRows } from '../source-keys.ts';
import { notesOf } from './quotes.ts';
import { registeredSymbols } from './registry.ts';

/** Number of movers in an answer: the default and the maximum (contract-notes 3). */
export const moverLimits = { default: 25, max: 180 };

/** The symbols that movers are selected from. */
const moverUniverses = ['registry'] as const;
export type MoverUniverse = (typeof moverUniverses)[number];

/** A symbol that moved. */
export interface Mover extends RowOf<typeof moverColumns> {
  symbol: string;
}

export interface MoversMeta extends ResponseMeta {
  count: number;
  /** Epoch ms. */
  computedAt: number;
  universe: MoverUniverse;
  /** Doubts about changes; null = none. */
  note: string | null;
}

export interface MoversPage {
  rows: Mover[];
  meta: MoversMeta;
}

function mover({ symbol, spot, changePct, volume, officialClose, note }: Quote): Mover | null {
  if (spot === null || changePct === null || officialClose === null) return null;
  return { symbol, spot, changePct, volume, officialClose, note };
}

/**
 * The symbols that changed most against their prior close, up or down, largest first, of equals by ticker. Only those
 * with a known change, and only those the caller may read: a row contains a price.
 */
export async function movers(
  context: RequestContext,
  { limit, universe }: { limit?: number | null | undefined; universe?: MoverUniverse | null | undefined },
): Promise<MoversPage> {
  if (limit != null && limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  const clamped = (limit ?? 0) > moverLimits.max;
  const { atMs, byChange } = await registryQuotes(context);
  const most = Math.min(limit ?? moverLimits.default, moverLimits.max);
  const [rows, shown]: [Mover[], Quote[]] = [[], []];
  for (const { entry, quote } of byChange) {
    if (rows.length === most) break;
    const row = symbolAccess(context.caller, entry).allowed ? mover(quote) : null;
    if (!row) continue;
    rows.push(row);
    shown.push(quote);
  }
  return {
    rows,
    meta: {
      ...responseMeta(context, 'live', clamped ? ['limit_clamped'] : [], () => sourcesOfRows(shown, priceSource)),
      count: rows.length,
      computedAt: atMs,
      universe: universe ?? 'registry',
      note: notesOf(rows),
    },
  };
}

/** A registered symbol with its quote. */
interface QuotedEntry {
  entry: SymbolEntry;
  quote: Quote;
}

/** The whole registry's quotes. */
interface Quoted {
  /** Ascending by ticker. */
  quoted: readonly QuotedEntry[];
  /** Those with a known change, the largest first, up or down; of equal ones by ticker. */
  byChange: readonly QuotedEntry[];
}

/** The whole registry's quotes, as of one instant. */
interface RegistryQuotes extends Quoted {
  /** Epoch ms. */
  atMs: number;
}

interface Computing {
  /** The last change of the registry before it. */
  registry: number;
  atMs: number;
  /** The last notified change of splits before it. */
  splits: number;
  quoted: Promise<Quoted>;
}

// One computation per minute serves every screener and every caller: callers differ only in the symbols that they may
// see.
const computing = new WeakMap<Store['blocks'], Computing>();

/** Number of quotes computed before a yield to the event loop: about 2 ms of work. */
const quotesPerYield = 250;

/** The context of work that others than its request use as well. */
const ofTheProcess = (context: RequestContext) => ({ ...context, store: readingTogether(context.sharedStore) });

async function compute(context: RequestContext): Promise<Quoted> {
  const { store, nowMs } = context;
  const entries = await registeredSymbols(context);
  const symbols = entries.map((entry) => entry.symbol);
  const [bars, live, splits] = await Promise.all([
    dailyBarsAt(store, symbols, nowMs),
    readLiveQuotes(store, symbols),
    readSplits(store, symbols),
  ]);
  const quoted: QuotedEntry[] = [];
  for (const entry of entries) {
    const { symbol } = entry;
    const known = { bars: bars.get(symbol)!, live: live.get(symbol) ?? null, splits: splits.get(symbol) ?? [] };
    quoted.push({ entry, quote: quoteAt(store, entry, known, nowMs) });
    if (quoted.length % quotesPerYield === 0) await yieldToEventLoop();
  }
  const changeOf = ({ quote }: QuotedEntry) => Math.abs(quote.changePct!);
  // Stable, and the registry ascends: equal ones stay in order of ticker.
  const byChange = quoted.filter(({ quote }) => quote.changePct !== null).sort((a, b) => changeOf(b) - changeOf(a));
  return { quoted, byChange };
}

/** This minute's computation; the first request of a minute starts it. One of the past serves its request alone. */
function ofThisMinute(context: RequestContext): Pick<Computing, 'atMs' | 'quoted'> {
  const { sharedStore: store, nowMs, past } = context;
  if (past) return { atMs: nowMs, quoted: oncePerRequest(context, `quotes ${nowMs}`, () => compute(context)) };
  // Computed for whichever caller asks first: the answers of the others depend on the same.
  dependOn(store, 'registry', null);
  dependOn(store, 'market', null);
  dependOn(store, 'corporate', null);
  const registry = store.versions.known('registry', null);
  const splits = store.versions.known('corporate', null);
  const latest = computing.get(store.blocks);
  const isRecent = latest && nowMs >= latest.atMs && nowMs < latest.atMs + minuteMs;
  // Checked immediately: a change of the registry, after which prices may no longer be served, and a split, which
  // changes prices without a trade.
  if (isRecent && latest.registry === registry && latest.splits === splits) return latest;
  const fresh = { registry, splits, atMs: nowMs, quoted: forEverybody(() => compute(ofTheProcess(context))) };
  computing.set(store.blocks, fresh);
  // A failure is shared only with those who already wait for it.
  fresh.quoted.catch(() => {
    if (computing.get(store.blocks) === fresh) computing.delete(store.blocks);
  });
  return fresh;
}

/** The quotes of all registered symbols, ascending, at most a minute old. Entitlement is checked by the callers. */
function registryQuotes(context: RequestContext): Promise<RegistryQuotes> {
  return fromSource(context, 'bars', async () => {
    const { atMs, quoted } = ofThisMinute(context);
    return { atMs, ...(await quoted) };
  });
}

export type { SectorAverage };

export interface SectorsMeta extends ResponseMeta {
  count: number;
  /** Epoch ms. */
  computedAt: number;
  /** As sent; ignored. */
  date: SessionDate | null;
  note: string;
}

export interface SectorsPage {
  rows: SectorAverage[];
  meta: SectorsMeta;
}

const note =
  'Preliminary: rows are for the latest session, regardless of the date parameter. Symbols that the sector map does not cover are listed under other.';

/** Index symbols are never shown to keys, and to sessions only if they may read them. */
function shows({ caller }: RequestContext, entry: SymbolEntry): boolean {
  return entry.class !== 'index' || (caller.kind === 'session' && symbolAccess(caller, entry).allowed);
}

/** Every sector's average change in the latest session, ascending by sector, `other` last. */
export async function sectors(context: RequestContext, date: SessionDate | null): Promise<SectorsPage> {
  const { atMs, quoted } = await registryQuotes(context);
  const members = quoted.filter(({ entry }) => shows(context, entry));
  const rows = sectorAverages(
    members.map(({ entry: { symbol, sector }, quote: { changePct } }) => ({ symbol, sector, changePct })),
  );
  const sources = () =>
    sourcesOfRows(
      members.map(({ quote }) => quote),
      priceSource,
    );
  return {
    rows,
    meta: { ...responseMeta(context, 'live', [], sources), count: rows.length, computedAt: atMs, date, note },
  };
}
