import type { HeaderFormat } from './format.ts';

/** Splits of shares. */
export const splitList = {
  name: 'split-list',
  content: 'splits of shares and their ratios',
  required: ['symbol', 'ex_date', 'ratio'],
  optional: ['declared'],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;
