import type { HeaderFormat } from './format.ts';

/** Dividends of shares. */
export const dividendList = {
  name: 'dividend-list',
  content: 'dividends of shares, as amounts or ratios',
  required: ['symbol', 'ex_date'],
  optional: ['amount', 'ratio', 'kind', 'declared'],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;
