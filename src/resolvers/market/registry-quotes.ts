import type { Quote } from '../../core/domain/market/quote.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import { dailyBarsAt } from '../../live/daily-bars.ts';
import { quoteAt } from '../../live/quote-as-of.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import { forEverybody } from '../../platform/runtime/request-scope.ts';
import { readLiveQuotes } from '../../store/market/live-quotes.ts';
import { readSplits } from '../../store/market/splits.ts';
import { dependOn, readingTogether, type Store } from '../../store/rows/connection.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { registeredSymbols } from './registry.ts';

/** A registered symbol with its quote. */
export interface QuotedEntry {
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
export interface RegistryQuotes extends Quoted {
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
export function registryQuotes(context: RequestContext): Promise<RegistryQuotes> {
  return fromSource(context, 'bars', async () => {
    const { atMs, quoted } = ofThisMinute(context);
    return { atMs, ...(await quoted) };
  });
}
