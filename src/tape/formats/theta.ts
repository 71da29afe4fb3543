import type { Format } from './format.ts';

// Answers of ThetaData's terminal as CSV. Names of columns: docs.thetadata.us/operations and
// http-docs.thetadata.us/operations; codes: github.com/ThetaData-API/thetadata-python, thetadata/enums.py.

const ofDay = { column: 'ms_of_day', unit: 'milliseconds' } as const;
const stamped = { column: 'timestamp', unit: 'stamp' } as const;
const contract = ['symbol', 'expiration', 'strike', 'right', 'timestamp'] as const;
const contractV2 = ['root', 'expiration', 'strike', 'right', 'ms_of_day', 'date'] as const;
const shared = { delayMs: 0, symbols: { column: 'symbol', spelling: 'osi' } } as const;
const sharedV2 = { delayMs: 0, symbols: { column: 'root', spelling: 'osi' } } as const;

/** `/v3/option/history/trade`. */
export const thetaTrades = {
  name: 'theta-trades',
  content: 'prints of option contracts of ThetaData',
  required: [...contract, 'sequence', 'condition', 'size', 'exchange', 'price'],
  time: stamped,
  ...shared,
} as const satisfies Format;

/** `/v3/option/history/quote?interval=tick`. */
export const thetaQuotes = {
  name: 'theta-quotes',
  content: 'bids and offers of option contracts of ThetaData',
  required: [...contract, 'bid', 'ask', 'bid_condition', 'ask_condition'],
  time: stamped,
  ...shared,
} as const satisfies Format;

/** `/v3/option/history/ohlc?interval=1m`. */
export const thetaBars = {
  name: 'theta-bars',
  content: 'minutes of option contracts of ThetaData',
  required: [...contract, 'open', 'high', 'low', 'close', 'volume', 'count'],
  time: stamped,
  ...shared,
} as const satisfies Format;

/** `/v3/option/history/open_interest`. */
export const thetaOpenInterest = {
  name: 'theta-open-interest',
  content: 'open interest of option contracts of ThetaData',
  required: [...contract, 'open_interest'],
  time: stamped,
  ...shared,
} as const satisfies Format;

/** `/v3/option/snapshot/greeks/…` and the same of history at one time: a chain with the price of its underlying. */
export const thetaChain = {
  name: 'theta-chain',
  content: 'greeks of option contracts of ThetaData at one time',
  required: [...contract, 'bid', 'ask', 'implied_vol', 'underlying_timestamp', 'underlying_price'],
  time: { column: 'underlying_timestamp', unit: 'stamp' },
  ...shared,
} as const satisfies Format;

/** `/v2/bulk_hist/option/trade`. */
export const thetaTradesV2 = {
  name: 'theta-v2-trades',
  content: 'prints of option contracts of version 2 of ThetaData',
  required: [...contractV2, 'sequence', 'condition', 'size', 'exchange', 'price'],
  time: ofDay,
  ...sharedV2,
} as const satisfies Format;

/** `/v2/bulk_hist/option/quote?ivl=0`. */
export const thetaQuotesV2 = {
  name: 'theta-v2-quotes',
  content: 'bids and offers of option contracts of version 2 of ThetaData',
  required: [...contractV2, 'bid', 'ask', 'bid_condition', 'ask_condition'],
  time: ofDay,
  ...sharedV2,
} as const satisfies Format;

/** `/v2/bulk_hist/option/ohlc?ivl=60000`. */
export const thetaBarsV2 = {
  name: 'theta-v2-bars',
  content: 'minutes of option contracts of version 2 of ThetaData',
  required: [...contractV2, 'open', 'high', 'low', 'close', 'volume', 'count'],
  time: ofDay,
  ...sharedV2,
} as const satisfies Format;

/** `/v2/bulk_hist/option/open_interest`. */
export const thetaOpenInterestV2 = {
  name: 'theta-v2-open-interest',
  content: 'open interest of option contracts of version 2 of ThetaData',
  required: [...contractV2, 'open_interest'],
  time: ofDay,
  ...sharedV2,
} as const satisfies Format;

/** Version 2 as JSON: names of columns in `header.format`, rows in `response`. It is read as CSV of the same rows. */
export const thetaJson: Pick<Format, 'required'> = { required: ['header', 'format', 'response'] };
