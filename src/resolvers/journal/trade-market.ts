import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { isTradingDay, tradeDate } from '../../core/domain/calendar.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { type MarketPhase, marketPhase, positionIn } from '../../core/domain/journal/fill.ts';
import { contractIn } from '../../core/domain/journal/instrument.ts';
import type { JournalTrade } from '../../core/domain/journal/journal.ts';
import type { Bar } from '../../core/domain/market/bar.ts';
import { barAt } from '../../core/domain/market/bar.ts';
import type { Quote } from '../../core/domain/market/quote.ts';
import { exchangeDate, exchangeInstant } from '../../core/domain/market-time.ts';
import { earliestServedMs } from '../../core/domain/served-window.ts';
import { barsAsOfNow } from '../../live/stock-bars.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts';
import { whenThere } from '../../platform/runtime/maybe-promise.ts';
import { contextAtTime } from '../as-of.ts';
import { endedOptionBars } from '../chain/option-bars.ts';
import { fromSource, type RequestContext, realTicker, underlyingOf } from '../context.ts';
import { loadDailyBars } from '../market/daily-bars.ts';
import { symbolQuote } from '../market/quotes.ts';

/** The market at the instant of a trade's fill. */
export interface TradeMarket {
  trade: JournalTrade;
  /** Ticker of the instrument, of a contract its underlying. */
  symbol: string;
  /** Null for a trade of shares. */
  contract: OptionContract | null;
  /** The context below it: its clock stands at the fill. */
  context: RequestContext;
  phase: MarketPhase;
  /** Reason for which there are no figures; null if there may be some. */
  note: string | null;
}

/** Ticker of a trade's instrument: of a contract that of its underlying. */
export function tickerOf(context: RequestContext, { symbol }: Pick<JournalTrade, 'symbol'>): MaybePromise<string> {
  const contract = contractIn(symbol);
  return contract === null ? symbol : underlyingOf(context, contract);
}

function noteOf({ tsMs }: JournalTrade, nowMs: number): string | null {
  if (tsMs > nowMs) return 'The trade is later than now.';
  return tsMs < earliestServedMs ? 'The trade is before the first year of market data.' : null;
}

/** The market at a trade's fill. */
export function tradeMarket(context: RequestContext, trade: JournalTrade): MaybePromise<TradeMarket> {
  const note = noteOf(trade, context.nowMs);
  return whenThere(tickerOf(context, trade), (symbol) => ({
    ...{ trade, symbol, note, contract: contractIn(trade.symbol), phase: marketPhase(trade.tsMs) },
    context: note === null ? contextAtTime(context, trade.tsMs) : context,
  }));
}

/** The quote of the underlying at the fill. */
export function quoteAtFill(context: RequestContext, { symbol, note }: TradeMarket): Promise<Quote> | null {
  return note === null ? symbolQuote(context, symbol) : null;
}

/** The underlying's daily bar up to the fill; null if it had not traded in the session. */
export async function dayAtFill(context: RequestContext, { symbol, note }: TradeMarket): Promise<Bar | null> {
  if (note !== null) return null;
  requireReadable(context.caller, await realTicker(context, symbol));
  const startMs = exchangeInstant(tradeDate(context.nowMs));
  return (await loadDailyBars(context, symbol)).find(({ tsMs }) => tsMs === startMs) ?? null;
}

/** The bars of a contract in the session of the fill, of the minutes that had ended by then. */
export async function contractBarsAtFill(context: RequestContext, contract: OptionContract) {
  const session = exchangeDate(context.nowMs);
  return isTradingDay(session) ? endedOptionBars(context, contract, session) : null;
}

/**
 * The minute bar of the fill up to it; of a contract, whose bars are known by the minute, the last that had ended. Null
 * if nothing had traded.
 */
export async function minuteAtFill(context: RequestContext, market: TradeMarket): Promise<Bar | null> {
  const { symbol, contract, note } = market;
  if (note !== null) return null;
  if (contract !== null) {
    const bars = await contractBarsAtFill(context, contract);
    return bars && bars.tsMs.length > 0 ? barAt(bars, bars.tsMs.length - 1) : null;
  }
  requireReadable(context.caller, await realTicker(context, symbol));
  const { tsMs } = market.trade;
  const fromMs = tsMs - (tsMs % minuteMs);
  const range = { fromMs, toMs: fromMs + minuteMs, limit: 1 };
  const { bars } = await fromSource(context, 'bars', () => barsAsOfNow(context, symbol, '1m', range));
  return bars.tsMs.length > 0 ? barAt(bars, 0) : null;
}

/**
 * Position of the fill in the day's range so far: 0 at the low, 1 at the high. Of a contract it is the underlying's
 * spot. Null if unknown or if the range has no width.
 */
export async function rangePosition(context: RequestContext, market: TradeMarket): Promise<number | null> {
  const [day, quote] = await Promise.all([dayAtFill(context, market), market.contract && quoteAtFill(context, market)]);
  const price = market.contract === null ? market.trade.price : (quote?.spot ?? null);
  return day === null || price === null ? null : positionIn(day, price);
}

/** Name of a trade's instrument, for notes. */
export function instrumentName({ symbol, contract }: TradeMarket): string {
  return contract === null ? symbol : contractId(contract);
}
