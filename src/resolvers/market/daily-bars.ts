import type { Bar } from '../../core/domain/market/bar.ts';
import { dailyBarsAt } from '../../live/daily-bars.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { fromSource, type RequestContext } from '../context.ts';

/** The daily bars of a symbol at the request's instant; those of one request are read together. */
export async function loadDailyBars(context: RequestContext, symbol: string): Promise<Bar[]> {
  const bars = await batched(context, 'daily bars', symbol, (symbols) =>
    fromSource(context, 'bars', () => dailyBarsAt(context.store, symbols, context.nowMs)),
  );
  return bars!;
}
