import type { HeaderFormat } from './format.ts';

/** Prints of stocks. */
export const stockTrades = {
  name: 'stock-trades',
  content: 'prints of stocks',
  required: ['ticker', 'conditions', 'exchange', 'id', 'price', 'sequence_number', 'sip_timestamp', 'size'],
  optional: ['correction', 'tape', 'trf_id'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'tapeTicker' },
} as const satisfies HeaderFormat;
