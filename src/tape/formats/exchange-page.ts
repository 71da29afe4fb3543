import { minuteMs } from '../../domain/units.ts';
import type { Format } from './format.ts';

/**
 * The exchange's delayed-quote page, saved as CSV: a title line with the last price, a date line, and a table with a
 * call and a put per line. Names in lower case.
 */
export const exchangePage = {
  name: 'exchange-page',
  content: 'the delayed-quote table of the exchange’s page, saved as CSV',
  datasets: ['chain'],
  required: ['expiration date', 'calls', 'strike', 'puts'],
  time: { column: 'date', unit: 'written' },
  // The time of day at which its volatilities of the last day solve its quotes.
  delayMs: 15 * minuteMs,
  symbols: { column: 'calls', spelling: 'osi' },
  /** Maximum number of lines above the table. */
  longestPreamble: 20,
  /** Keys above the table. */
  preamble: { date: 'Date', last: 'Last', change: 'Change' },
  /** Columns of the whole line. */
  strike: 'strike',
  expiry: 'expiration date',
  /** The column with the contracts of a right; calls are before the strike, puts after it. */
  contract: { call: 'calls', put: 'puts' },
  /** The columns of each right, on its side of the strike. */
  columns: {
    last: 'last sale',
    bid: 'bid',
    ask: 'ask',
    volume: 'volume',
    iv: 'iv',
    delta: 'delta',
    gamma: 'gamma',
    openInterest: 'open interest',
  },
} as const satisfies Format & Record<string, unknown>;
