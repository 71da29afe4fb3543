import { requireSymbol, symbolAccess } from '../../access/entitlement/entitlement.ts';
import { changePct } from '../../analytics/screener/quote.ts';
import type { Bar } from '../../domain/bar.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import { type LiveQuote, readLiveQuotes } from '../../store/market/live-quotes.ts';
import { batched, findSymbol, fromSource, type RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { barBefore, dailyPrice, loadDailyBars, recentDays } from './daily-bars.ts';

/** Symbols one request may ask quotes of (spec 8). */
export const maxQuotes = 180;

/** A quote row (spec 2.4). All but `symbol` is null where there is no recent price or it may not be read. */
export interface Quote {
  symbol: string;
  /** Dollars. */
  spot: number | null;
  /** Percent against `officialClose`. */
  changePct: number | null;
  /** Always null. */
  netGex: null;
  /** Always null. */
  gexChange: null;
  /** Shares of the session so far. */
  volume: number | null;
  /** Prior close, dollars. */
  officialClose: number | null;
  sessionDate: SessionDate | null;
  /** The price event, epoch ms; null when the price is a daily bar's. */
  eventTsMs: number | null;
}

export interface QuotesMeta extends ResponseMeta {
  count: number;
  /** Symbols of the request that the caller may not read, once each; null = none. */
  restricted: string[] | null;
}

export interface QuotesPage {
  rows: Quote[];
  meta: QuotesMeta;
}

/** A quote that says nothing. */
export function emptyQuote(symbol: string): Quote {
  return {
    symbol,
    spot: null,
    changePct: null,
    netGex: null,
    gexChange: null,
    volume: null,
    officialClose: null,
    sessionDate: null,
    eventTsMs: null,
  };
}

type Price = Pick<Quote, 'spot' | 'volume' | 'officialClose' | 'sessionDate' | 'eventTsMs'>;

function dailyQuote(bars: readonly Bar[], nowMs: number): Price | null {
  const daily = dailyPrice(bars, nowMs);
  if (!daily) return null;
  const { tsMs, close: spot, volume } = daily.bar;
  const officialClose = daily.before?.close ?? null;
  return { spot, volume, officialClose, sessionDate: exchangeDate(tsMs), eventTsMs: null };
}

function liveQuote({ spot, volume, sessionDate, eventTsMs, officialClose }: LiveQuote, bars: readonly Bar[]): Price {
  const closeBefore = officialClose ?? barBefore(bars, exchangeInstant(sessionDate))?.close ?? null;
  return { spot, volume, officialClose: closeBefore, sessionDate, eventTsMs };
}

/** Whether a live price counts more than the daily bar of `session`: it is of a later session, or of the one that is not over. */
function isNewer(live: LiveQuote, session: SessionDate | null, nowMs: number): boolean {
  const today = exchangeDate(nowMs);
  if (live.eventTsMs > nowMs || live.sessionDate < addDays(today, -recentDays)) return false;
  return session === null || live.sessionDate > session || (live.sessionDate === session && session === today);
}

/**
 * The quote of a symbol at `nowMs` from its daily bars and live price. The price is the current session's as it trades,
 * else the last completed session's close. The prior close is that of the bar before it: a session in which nothing traded
 * keeps the close it found. Prices older than `recentDays`, and those later than now, do not count.
 */
export function quoteAt(symbol: string, bars: readonly Bar[], live: LiveQuote | null, nowMs: number): Quote {
  const daily = dailyQuote(bars, nowMs);
  const price = live && isNewer(live, daily?.sessionDate ?? null, nowMs) ? liveQuote(live, bars) : daily;
  if (!price) return emptyQuote(symbol);
  return { ...emptyQuote(symbol), ...price, changePct: changePct(price.spot, price.officialClose) };
}

function loadLiveQuote(context: RequestContext, symbol: string): Promise<LiveQuote | null> {
  return batched(context, 'live quotes', symbol, (symbols) =>
    fromSource(context, 'bars', () => readLiveQuotes(context.store, symbols)),
  );
}

async function readQuote(context: RequestContext, symbol: string): Promise<Quote> {
  const [bars, live] = await Promise.all([loadDailyBars(context, symbol), loadLiveQuote(context, symbol)]);
  return quoteAt(symbol, bars, live, context.nowMs);
}

/** The quote of one symbol: all null for a ticker nobody knows, 403 for one the caller may not read. */
export async function symbolQuote(context: RequestContext, symbol: string): Promise<Quote> {
  const entry = await findSymbol(context, symbol);
  if (!entry) return emptyQuote(symbol);
  requireSymbol(context.caller, entry);
  return readQuote(context, symbol);
}

/** Throws 400 for no symbols, and for more than one request may ask of. */
export function checkQuoteSymbols(symbols: readonly string[]): void {
  if (symbols.length === 0) throw invalidParameter('symbols', 'expected at least one ticker');
  if (symbols.length > maxQuotes)
    throw invalidParameter('symbols', `expected at most ${maxQuotes} tickers, got ${symbols.length}`);
}

/** One row a symbol in the order asked, repeats included (spec 4.2). What may not be read is an empty row and in `restricted`. */
export async function quotes(context: RequestContext, symbols: readonly string[]): Promise<QuotesPage> {
  checkQuoteSymbols(symbols);
  const restricted = new Set<string>();
  const rows = await fromSource(context, 'bars', () =>
    Promise.all(
      symbols.map(async (symbol) => {
        const entry = await findSymbol(context, symbol);
        if (!entry) return emptyQuote(symbol);
        if (symbolAccess(context.caller, entry).allowed) return readQuote(context, symbol);
        restricted.add(symbol);
        return emptyQuote(symbol);
      }),
    ),
  );
  // In the order asked: what is found out side by side comes in any.
  const listed = [...new Set(symbols)].filter((symbol) => restricted.has(symbol));
  return {
    rows,
    meta: { ...responseMeta(context, 'live'), count: rows.length, restricted: listed.length > 0 ? listed : null },
  };
}
