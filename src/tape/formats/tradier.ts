import type { Format } from './format.ts';

// Answers of Tradier's market data API. Names of keys: github.com/tradelimit-com/tradelimit-brokerage-tradier,
// src/main/kotlin/com/tradelimit/brokerage/tradier/market, and github.com/QuantConnect/Lean.

/** `/v1/markets/options/chains`: the contracts of one expiry. */
export const tradierChain = {
  name: 'tradier-chain',
  content: 'answers of /v1/markets/options/chains of Tradier',
  required: ['options', 'option', 'symbol', 'root_symbol', 'bid_date', 'ask_date', 'open_interest'],
  time: { column: 'bid_date', unit: 'milliseconds' },
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'osi' },
} as const satisfies Format;

/** `/v1/markets/timesales?interval=1min`: minutes of a stock. */
export const tradierTimesales = {
  name: 'tradier-timesales',
  content: 'answers of /v1/markets/timesales of Tradier',
  required: ['series', 'data', 'time', 'timestamp', 'open', 'high', 'low', 'close', 'volume'],
  time: { column: 'timestamp', unit: 'seconds' },
  delayMs: 0,
  symbols: { column: 'file name', spelling: 'tapeTicker' },
} as const satisfies Format;
