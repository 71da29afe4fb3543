import { requireReadable, symbolAccess } from '../../access/entitlement/entitlement.ts';
import { emptyQuote, type Quote } from '../../core/domain/market/quote.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { dailyPrice } from '../../live/daily-bars.ts';
import { type QuoteState, quoteAt } from '../../live/quotes.ts';
import type { Following } from '../../live/topics.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { type LiveQuote, readLiveQuotes } from '../../store/market/live-quotes.ts';
import {
  findSymbol,
  fromSource,
  ofAllInstants,
  type RequestContext,
  registeredSymbol,
  requireSource,
} from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { priceSource, sourcesOfRows } from '../source-keys.ts';
import { loadDailyBars } from './stock-bars.ts';

/** Maximum number of symbols of a request for quotes (spec 8). */
export const maxQuotes = 180;

export interface QuotesMeta extends ResponseMeta {
  count: number;
  /** Symbols of the request that the caller may not read, without duplicates; null = none. */
  restricted: string[] | null;
  /** Doubts about changes; null = none. */
  note: string | null;
}

/** A quote with the symbol's name in the request. */
export interface AskedQuote extends Quote {
  /** Absent = the symbol. */
  asked?: string;
}

export interface QuotesPage {
  rows: AskedQuote[];
  meta: QuotesMeta;
}

function loadLiveQuote(context: RequestContext, symbol: string): Promise<LiveQuote | null> {
  return batched(ofAllInstants(context), 'live quotes', symbol, (symbols) =>
    fromSource(context, 'bars', () => readLiveQuotes(context.store, symbols)),
  );
}

async function readQuote(context: RequestContext, entry: SymbolEntry): Promise<Quote> {
  const { symbol } = entry;
  const [bars, live, splits] = await Promise.all([
    loadDailyBars(context, symbol),
    loadLiveQuote(context, symbol),
    loadSplits(context, symbol),
  ]);
  return quoteAt(context.store, entry, { bars, live, splits }, context.nowMs);
}

/** The quote of one symbol: all null for an unknown ticker, 403 for one that the caller may not read. */
export async function symbolQuote(context: RequestContext, symbol: string): Promise<Quote> {
  const entry = await findSymbol(context, symbol);
  if (!entry) return emptyQuote(symbol);
  requireReadable(context.caller, entry);
  return readQuote(context, entry);
}

/** The notes of quotes, without duplicates; null if there is none. */
export function notesOf(quotes: readonly Pick<Quote, 'note'>[]): string | null {
  const notes = new Set(quotes.map(({ note }) => note).filter((note) => note !== null));
  return notes.size > 0 ? [...notes].join(' ') : null;
}

/** Throws 400 for no symbols, and for more than the maximum. */
function checkQuoteSymbols(symbols: readonly string[]): void {
  if (symbols.length === 0) throw invalidParameter('symbols', 'expected at least one ticker');
  if (symbols.length > maxQuotes)
    throw invalidParameter('symbols', `expected at most ${maxQuotes} tickers, got ${symbols.length}`);
}

/**
 * One row per symbol in the order of the request, including repeats (spec 4.2), with the requested spelling in `asked`.
 * A symbol that may not be read is an empty row, and in `restricted`.
 */
export async function quotes(
  context: RequestContext,
  symbols: readonly string[],
  asked: readonly string[] = symbols,
): Promise<QuotesPage> {
  checkQuoteSymbols(symbols);
  if (asked !== symbols && symbols.join() !== asked.map(readTicker).join())
    throw invalidParameter('asked', 'expected a spelling of each of symbols, in their order');
  const restricted = new Set<string>();
  const rows = await fromSource(context, 'bars', () =>
    Promise.all(
      symbols.map(async (symbol): Promise<Quote> => {
        const entry = await findSymbol(context, symbol);
        if (!entry) return emptyQuote(symbol);
        if (symbolAccess(context.caller, entry).allowed) return readQuote(context, entry);
        restricted.add(symbol);
        return emptyQuote(symbol);
      }),
    ),
  );
  // In the order of the request: concurrent results arrive in any.
  const listed = [...new Set(asked.filter((_, i) => restricted.has(symbols[i]!)))];
  return {
    rows: rows.map((row, i) => ({ ...row, asked: asked[i]! })),
    meta: {
      ...responseMeta(context, 'live', [], () => sourcesOfRows(rows, priceSource)),
      count: rows.length,
      restricted: listed.length > 0 ? listed : null,
      note: notesOf(rows),
    },
  };
}

/**
 * The symbols that the caller may follow; throws the 403 of the first if there is none. An unknown ticker is not
 * restricted.
 */
async function readableSymbols(context: RequestContext, symbols: readonly string[]): Promise<Set<string>> {
  const readable = new Set<string>();
  let denied: (() => void) | null = null;
  for (const symbol of symbols) {
    const entry = await findSymbol(context, symbol);
    if (entry === null || symbolAccess(context.caller, entry).allowed) readable.add(symbol);
    else denied ??= () => requireReadable(context.caller, entry);
  }
  if (readable.size === 0) denied?.();
  return readable;
}

/**
 * Following the quotes of symbols: the current one of each, then its changes. As in a page of quotes, a symbol that may
 * not be read is an empty row; 403 if all of them are, and as soon as one may no longer be read.
 */
export async function quotesFollowing(
  context: RequestContext,
  symbols: readonly string[],
): Promise<Following<QuoteState, Quote>> {
  checkQuoteSymbols(symbols);
  requireSource(context, 'bars');
  const readable = await readableSymbols(context, symbols);
  const hidden = symbols.filter((symbol) => !readable.has(symbol));
  return {
    keys: [...readable],
    resume: null,
    early: hidden.map((symbol) => ({ value: emptyQuote(symbol), cursor: '', slot: symbol })),
    async check(caller) {
      for (const symbol of readable) {
        const entry = await findSymbol(context, symbol);
        requireReadable(caller, entry);
      }
    },
  };
}

/** A symbol's spot (spec 2.5). */
export interface Spot {
  symbol: string;
  /** Dollars; null without a recent bar. */
  price: number | null;
  /** Start of the daily bar whose close is the price, epoch ms; null without a recent bar. */
  ts: number | null;
  meta: ResponseMeta;
}

/**
 * The close of a registered symbol's latest daily bar (spec 4.3): the current session's in progress, else the last
 * completed one's.
 */
export async function spot(context: RequestContext, symbol: string): Promise<Spot> {
  requireReadable(context.caller, await registeredSymbol(context, symbol));
  const daily = dailyPrice(await loadDailyBars(context, symbol), context.nowMs);
  const meta = responseMeta(context, 'live', [], () =>
    daily ? [priceSource(symbol, exchangeDate(daily.bar.tsMs))] : [],
  );
  return { symbol, price: daily?.bar.close ?? null, ts: daily?.bar.tsMs ?? null, meta };
}
