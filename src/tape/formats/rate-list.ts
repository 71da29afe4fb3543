import type { HeaderFormat } from './format.ts';

/** Curves of interest rates. */
export const rateList = {
  name: 'rate-list',
  content: 'interest rates by date and days',
  required: ['date', 'days', 'rate'],
  optional: [],
  time: null,
  delayMs: 0,
  symbols: null,
} as const satisfies HeaderFormat;
