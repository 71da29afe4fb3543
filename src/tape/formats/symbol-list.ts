import type { HeaderFormat } from './format.ts';

/** The registry and the ticker directory. */
export const symbolList = {
  name: 'symbol-list',
  content: 'tickers, their names and policies',
  required: ['symbol', 'name'],
  optional: [
    'class',
    'window_days',
    'tenor_frame',
    'min_tier',
    'requires_attestation',
    'sector',
    'listed',
    'instrument_type',
  ],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;
