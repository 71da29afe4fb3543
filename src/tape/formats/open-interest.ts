import type { HeaderFormat } from './format.ts';

/** Open interest of contracts, at the start of a session. */
export const openInterestList = {
  name: 'open-interest-list',
  content: 'open interest of contracts',
  required: ['ticker', 'open_interest'],
  optional: ['session_date'],
  time: null,
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;
