import { sessionOf } from '../../core/domain/calendar.ts';
import { directionOf, type Slippage, slippage } from '../../core/domain/journal/fill.ts';
import { oneBar } from '../../core/domain/market/bar-aggregation.ts';
import { chainRowOf } from '../chain/contract.ts';
import { type RequestContext, rootsOf } from '../context.ts';
import {
  contractBarsAtFill,
  dayAtFill,
  instrumentName,
  minuteAtFill,
  quoteAtFill,
  type TradeMarket,
} from './trade-market.ts';

/** Prices that a fill is compared with. */
export const benchmarks = ['minute_vwap', 'day_vwap', 'quote'] as const;
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
