import type { HeaderFormat } from './format.ts';

/** Prints of option contracts. */
export const optionTrades = {
  name: 'option-trades',
  content: 'prints of option contracts',
  required: ['ticker', 'conditions', 'exchange', 'price', 'sip_timestamp', 'size'],
  optional: ['correction'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;
