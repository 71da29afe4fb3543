import type { HeaderFormat } from './format.ts';

const prices = ['open', 'close', 'high', 'low', 'window_start'] as const;
const columns = {
  required: ['ticker', 'volume', ...prices],
  time: { column: 'window_start', unit: 'nanoseconds' },
  delayMs: 0,
} as const;

/** Minutes or days of stocks. `divided`: true if prices before a split are divided by it. */
export const stockAggregates = {
  ...columns,
  optional: ['transactions', 'vwap', 'divided'],
  name: 'stock-aggregates',
  content: 'aggregates of stocks',
  symbols: { column: 'ticker', spelling: 'tapeTicker' },
} as const satisfies HeaderFormat;

/** Minutes or days of indexes, which have no volume. */
export const indexAggregates = {
  ...columns,
  required: ['ticker', ...prices],
  optional: [],
  name: 'index-aggregates',
  content: 'aggregates of indexes',
  symbols: { column: 'ticker', spelling: 'index' },
} as const satisfies HeaderFormat;

/** Minutes or days of option contracts. */
export const optionAggregates = {
  ...columns,
  optional: ['transactions', 'vwap'],
  name: 'option-aggregates',
  content: 'aggregates of option contracts',
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;
