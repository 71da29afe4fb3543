import { tradeDate } from '../../core/domain/calendar.ts';
import type { GreeksSample } from '../../core/domain/chain/greeks.ts';
import type { OptionContract } from '../../core/domain/chain/option-contract.ts';
import { type Bar, barAt, type Timeframe } from '../../core/domain/market/bar.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { firstAtOrAfter } from '../../store/market/bar-blocks.ts';
import { contextAtTime } from '../as-of.ts';
import { greeks, greeksSeries } from '../chain/greeks.ts';
import { endedOptionBars } from '../chain/option-bars.ts';
import type { RequestContext } from '../context.ts';
import { type StockBarsPage, stockBars } from '../market/stock-bars.ts';

/** Time before and after a print, seconds: the most, and the default. */
export const contextSeconds = { most: 3600, usual: 60 };

/** A print or event, and the market around it. */
export interface PrintContext {
  /** Epoch ms. */
  atMs: number;
  /** Underlying. */
  symbol: string;
  /** Null for an event. */
  contract: OptionContract | null;
  /** Start, inclusive, epoch ms. */
  fromMs: number;
  /** End, exclusive, epoch ms; never later than the answer's own instant. */
  toMs: number;
  /** The context below it: its clock stands at the print. */
  context: RequestContext;
  /** The same at the end, for bars and series. */
  contextAtEnd: RequestContext;
}

function inMs(seconds: number, parameter: string): number {
  const { most } = contextSeconds;
  if (seconds >= 0 && seconds <= most) return 1000 * seconds;
  throw invalidParameter(parameter, `expected 0 to ${most} seconds, got ${seconds}`);
}

/** The market around a print, in a window of seconds before and after it. Throws 400 for a window that is too long. */
export function printContext(
  context: RequestContext,
  print: Pick<PrintContext, 'atMs' | 'symbol' | 'contract'>,
  { before, after }: { before: number; after: number },
): PrintContext {
  const fromMs = print.atMs - inMs(before, 'before');
  const toMs = Math.min(print.atMs + inMs(after, 'after'), context.nowMs);
  return {
    ...print,
    fromMs,
    toMs,
    context: contextAtTime(context, print.atMs),
    contextAtEnd: contextAtTime(context, toMs),
  };
}

/** The underlying's bars that start in the window, the last one as of the end of the window. */
export function barsAround(
  { contextAtEnd, symbol, fromMs, toMs }: PrintContext,
  timeframe: Timeframe,
): Promise<StockBarsPage> {
  return stockBars(contextAtEnd, symbol, { from: String(fromMs), to: String(toMs), timeframe });
}

/** The contract's minute bars that lie in the window, with the minute in which it begins; empty for an event. */
export async function contractBarsAround({ contextAtEnd, contract, fromMs, toMs }: PrintContext): Promise<Bar[]> {
  if (contract === null) return [];
  const bars = await endedOptionBars(contextAtEnd, contract, exchangeDate(fromMs));
  const first = firstAtOrAfter(bars, fromMs - (fromMs % minuteMs));
  const last = firstAtOrAfter(bars, toMs);
  return Array.from({ length: Math.max(0, last - first) }, (_, i) => barAt(bars, first + i));
}

/** The contract's solves in the window, ascending; empty for an event. */
export async function greeksAround({ contextAtEnd, contract, fromMs, toMs }: PrintContext): Promise<GreeksSample[]> {
  if (contract === null) return [];
  const samples = await greeksSeries(contextAtEnd, await greeks(contextAtEnd, contract, tradeDate(fromMs)));
  return samples.filter(({ tsMs }) => tsMs >= fromMs && tsMs < toMs);
}
