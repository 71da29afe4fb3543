import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { isTradingDay, sessionOf, tradeDate } from '../../core/domain/calendar.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import {
  contractIn,
  directionOf,
  type JournalTrade,
  type MarketPhase,
  marketPhase,
  positionIn,
  type Slippage,
  slippage,
} from '../../core/domain/journal.ts';
import { type Bar, barAt } from '../../core/domain/market/bar.ts';
import { oneBar } from '../../core/domain/market/bar-aggregation.ts';
import type { Quote } from '../../core/domain/market/quote.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import { exchangeDate, exchangeInstant } from '../../core/domain/market-time.ts';
import { earliestServedMs } from '../../core/domain/served-window.ts';
import { fromThousandths } from '../../core/domain/units.ts';
import { barsAsOfNow } from '../../live/stock-bars.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { type MaybePromise, whenThere } from '../../platform/runtime/maybe-promise.ts';
import { contextAtTime } from '../as-of.ts';
import { storedCapture } from '../captures-at.ts';
import { chainRowOf } from '../chain/contract.ts';
import { endedOptionBars } from '../chain/option-bars.ts';
import { findSymbol, fromSource, type RequestContext, realTicker, rootsOf, underlyingOf } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { symbolQuote } from '../market/quotes.ts';
import { loadDailyBars } from '../market/stock-bars.ts';

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
    trade,
    symbol,
    note,
    contract: contractIn(trade.symbol),
    phase: marketPhase(trade.tsMs),
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
async function contractBarsAtFill(context: RequestContext, contract: OptionContract) {
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
function instrumentName({ symbol, contract }: TradeMarket): string {
  return contract === null ? symbol : contractId(contract);
}

/** A level of dealer gamma, and its distance from the spot at a fill. */
export interface LevelDistance {
  /** Dollars, in shares of the fill's session. */
  level: number;
  /** Level less spot, dollars; null without a spot. */
  distance: number | null;
  /** The same in basis points of the spot. */
  distanceBps: number | null;
}

/** Dealer gamma at a fill. */
export interface FillGamma {
  /** Time of the capture, epoch ms; null if there was none. */
  capturedAt: number | null;
  /** Spot of the quote at the fill, dollars; null when unknown. */
  spot: number | null;
  netGex: number | null;
  /** True if the spot was above zero gamma; null if either is unknown. */
  isAboveZeroGamma: boolean | null;
  zeroGamma: LevelDistance | null;
  flipPoint: LevelDistance | null;
  callWall: LevelDistance | null;
  putWall: LevelDistance | null;
  note: string | null;
}

function unknownGamma(spot: number | null, note: string): FillGamma {
  const levels = { zeroGamma: null, flipPoint: null, callWall: null, putWall: null };
  return { capturedAt: null, spot, netGex: null, isAboveZeroGamma: null, ...levels, note };
}

/** Dealer gamma at a fill: the last capture by then, and where the spot was. Levels are divided by the splits since. */
export async function fillGamma(context: RequestContext, market: TradeMarket): Promise<FillGamma> {
  const { symbol, note } = market;
  if (note !== null) return unknownGamma(null, note);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const [capture, quote, splits] = await Promise.all([
    storedCapture(context, symbol, { byExpiry: false }),
    quoteAtFill(context, market),
    loadSplits(context, symbol),
  ]);
  const spot = quote?.spot ?? null;
  if (capture === null) return unknownGamma(spot, `No dealer gamma of ${symbol} was captured by the fill.`);
  const factor = splitFactor(splits, capture.sessionDate, tradeDate(context.nowMs));
  const levelOf = (dollars: number | null): LevelDistance | null => {
    if (dollars === null) return null;
    const level = dollars / factor;
    const distance = spot === null ? null : level - spot;
    return { level, distance, distanceBps: distance === null || !spot ? null : (10_000 * distance) / spot };
  };
  const strike = (thousandths: number | null) => levelOf(thousandths === null ? null : fromThousandths(thousandths));
  const zeroGamma = levelOf(capture.zeroGamma);
  return {
    capturedAt: capture.capturedAt,
    spot,
    netGex: capture.netGex,
    isAboveZeroGamma: zeroGamma === null || spot === null ? null : spot > zeroGamma.level,
    zeroGamma,
    flipPoint: levelOf(capture.flipPoint),
    callWall: strike(capture.callWall),
    putWall: strike(capture.putWall),
    note: spot === null ? `No price of ${symbol} is known at the fill.` : null,
  };
}

/** Prices that a fill is compared with. */
const benchmarks = ['minute_vwap', 'day_vwap', 'quote'] as const;
export type Benchmark = (typeof benchmarks)[number];

/** The slippage of a fill; all null if it is unknown, for the reason in `note`. */
export type FillSlippage = { [Key in keyof Slippage]: number | null } & { benchmark: Benchmark; note: string | null };

const unknownSlippage = { reference: null, perShare: null, bps: null, totalUsd: null };

async function dayVwap(context: RequestContext, market: TradeMarket): Promise<number | null> {
  if (market.contract === null) return (await dayAtFill(context, market))?.vwap ?? null;
  const bars = await contractBarsAtFill(context, market.contract);
  return (bars && bars.tsMs.length > 0 ? oneBar(bars, bars.tsMs[0]!) : null)?.vwap ?? null;
}

async function quotedPrice(context: RequestContext, market: TradeMarket): Promise<number | null> {
  if (market.contract === null) return (await quoteAtFill(context, market))?.spot ?? null;
  const row = await chainRowOf(context, market.contract);
  return row?.bid == null || row.ask === null ? null : (row.bid + row.ask) / 2;
}

const readers: Record<Benchmark, (context: RequestContext, market: TradeMarket) => Promise<number | null>> = {
  minute_vwap: async (context, market) => (await minuteAtFill(context, market))?.vwap ?? null,
  day_vwap: dayVwap,
  quote: quotedPrice,
};

/** Names of benchmarks in notes. */
const named: Record<Benchmark, string> = {
  minute_vwap: 'vwap of the minute',
  day_vwap: 'vwap of the session',
  quote: 'quote',
};

/** Number of shares per unit of the trade's quantity: 1, or the multiplier of its contract. */
async function multiplierOf(context: RequestContext, { contract, trade }: TradeMarket): Promise<number> {
  return contract === null ? 1 : (await rootsOf(context)).of(contract.root, sessionOf(trade.tsMs)).multiplier;
}

/** The slippage of a fill against a price that was known by then. */
export async function fillSlippage(
  context: RequestContext,
  market: TradeMarket,
  benchmark: Benchmark,
): Promise<FillSlippage> {
  const unknown = (note: string) => ({ ...unknownSlippage, benchmark, note });
  const { price, side, qty } = market.trade;
  if (market.note !== null) return unknown(market.note);
  const direction = directionOf(side);
  if (direction === null) return unknown(`The side ${JSON.stringify(side.slice(0, 40))} neither buys nor sells.`);
  const reference = await readers[benchmark](context, market);
  if (reference === null) return unknown(`No ${named[benchmark]} of ${instrumentName(market)} is known at the fill.`);
  const shares = qty * (await multiplierOf(context, market));
  return { ...slippage({ price, direction, shares }, reference), benchmark, note: null };
}
