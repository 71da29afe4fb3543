import { minuteMs } from '../../domain/units.ts';
import type { Format } from './format.ts';

/** The exchange's delayed-quote JSON: `{"timestamp": …, "data": {"options": […]}}`. */
export const exchangeJson = {
  name: 'exchange-json',
  content: 'the exchange’s delayed-quote JSON',
  datasets: ['chain'],
  required: ['timestamp', 'data'],
  time: { column: 'timestamp', unit: 'stamp' },
  // The same delay as for its page.
  delayMs: 15 * minuteMs,
  symbols: { column: 'option', spelling: 'osi' },
  /** Key of the chain, beside its options, and of each option. */
  tradeTime: 'last_trade_time',
  /** Key of the chain. */
  spot: 'current_price',
  priorClose: 'prev_day_close',
  change: 'price_change',
  /** Keys of an option. */
  columns: {
    last: 'last_trade_price',
    bid: 'bid',
    ask: 'ask',
    volume: 'volume',
    iv: 'iv',
    delta: 'delta',
    gamma: 'gamma',
    openInterest: 'open_interest',
    theta: 'theta',
    vega: 'vega',
    fmv: 'theo',
  },
} as const satisfies Format & Record<string, unknown>;
