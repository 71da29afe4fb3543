import type { HeaderFormat } from './format.ts';

/** Implied volatilities by session. */
export const volatilityDayList = {
  name: 'volatility-day-list',
  content: 'implied volatility at 30 days by symbol and session',
  required: ['symbol', 'date', 'iv30'],
  optional: [],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;
