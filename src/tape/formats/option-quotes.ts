import type { HeaderFormat } from './format.ts';

/** Bids and offers of option contracts. */
export const optionQuotes = {
  name: 'option-quotes',
  content: 'bids and offers of option contracts',
  required: ['ticker', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'],
  optional: [],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;
