import type { Format } from './format.ts';

// Files of Databento in its binary encoding DBN, version 1 to 3, by the schema in their metadata. Layout:
// github.com/databento/dbn, rust/dbn/src/record.rs, metadata.rs and encode/dbn/sync.rs; publishers.rs for venues.

const shared = {
  time: { column: 'ts_event', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'instrument_id', spelling: 'tickerOrOsi' },
} as const;

/** Prints of stocks or option contracts. */
export const databentoTrades = {
  name: 'databento-trades',
  content: 'DBN files of the schemas trades, tbbo and tcbbo of Databento',
  required: ['DBN', 'trades or tbbo or tcbbo'],
  ...shared,
} as const satisfies Format;

/** Every bid and offer of option contracts. */
export const databentoQuotes = {
  name: 'databento-quotes',
  content: 'DBN files of the schemas mbp-1 and cmbp-1 of Databento',
  required: ['DBN', 'mbp-1 or cmbp-1'],
  ...shared,
} as const satisfies Format;

/** Minutes of stocks or option contracts, also made of seconds. */
export const databentoMinutes = {
  name: 'databento-minutes',
  content: 'DBN files of the schemas ohlcv-1m and ohlcv-1s of Databento',
  required: ['DBN', 'ohlcv-1m or ohlcv-1s'],
  ...shared,
} as const satisfies Format;

/** Sessions of stocks. */
export const databentoDays = {
  name: 'databento-days',
  content: 'DBN files of the schema ohlcv-eod of Databento',
  required: ['DBN', 'ohlcv-eod'],
  ...shared,
} as const satisfies Format;
