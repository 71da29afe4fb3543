import type { HeaderFormat } from './format.ts';

const columns = {
  required: ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start'],
  optional: ['transactions', 'vwap'],
  time: { column: 'window_start', unit: 'nanoseconds' },
  delayMs: 0,
} as const;

/** Minutes or days of stocks. */
export const stockAggregates = {
  ...columns,
  name: 'stock-aggregates',
  content: 'aggregates of stocks',
  symbols: { column: 'ticker', spelling: 'tapeTicker' },
} as const satisfies HeaderFormat;

/** Minutes or days of option contracts. */
export const optionAggregates = {
  ...columns,
  name: 'option-aggregates',
  content: 'aggregates of option contracts',
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;
