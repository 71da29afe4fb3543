import type { Format } from './format.ts';

// Pages of the REST API of Massive, which was Polygon.io. Names of keys: github.com/polygon-io/client-python,
// test_rest/mocks and polygon/rest/models.

/** `/v3/trades/{ticker}`: prints of a stock or an option contract. */
export const massiveTrades = {
  name: 'massive-trades',
  content: 'pages of /v3/trades of Massive',
  required: ['results', 'price', 'size', 'exchange', 'sequence_number', 'sip_timestamp'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'next_url', spelling: 'stated' },
} as const satisfies Format;

/** `/v3/quotes/{ticker}`: bids and offers of an option contract. */
export const massiveQuotes = {
  name: 'massive-quotes',
  content: 'pages of /v3/quotes of Massive',
  required: ['results', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'next_url', spelling: 'stated' },
} as const satisfies Format;

/** `/v2/aggs/ticker/{ticker}/range/…`: minutes or days of a stock or an option contract. */
export const massiveAggregates = {
  name: 'massive-aggregates',
  content: 'pages of /v2/aggs of Massive',
  required: ['results', 'ticker', 'adjusted', 'o', 'h', 'l', 'c', 't'],
  time: { column: 't', unit: 'milliseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'tickerOrOsi' },
} as const satisfies Format;

/** `/v3/snapshot/options/{underlying}`: the chain of an underlying. Its times are those of its quotes. */
export const massiveChain = {
  name: 'massive-chain',
  content: 'pages of /v3/snapshot/options of Massive',
  required: ['results', 'details', 'open_interest', 'underlying_asset'],
  time: { column: 'last_updated', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies Format;
