import type { HeaderFormat } from './format.ts';

/** The registry and the ticker directory. */
export const symbolList = {
  name: 'symbol-list',
  content: 'tickers, their names and policies',
  datasets: ['symbols'],
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

/** Terms of option roots. */
export const rootList = {
  name: 'root-list',
  content: 'option roots and the terms of their contracts',
  datasets: ['roots'],
  required: ['root', 'underlying', 'style', 'settlement'],
  optional: ['multiplier', 'deliverable', 'on_forwards', 'from', 'to'],
  time: null,
  delayMs: 0,
  symbols: { column: 'underlying', spelling: 'ticker' },
} as const satisfies HeaderFormat;

/** Splits of shares. */
export const splitList = {
  name: 'split-list',
  content: 'splits of shares and their ratios',
  datasets: ['splits'],
  required: ['symbol', 'ex_date', 'ratio'],
  optional: ['declared'],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;

/** Dividends of shares. */
export const dividendList = {
  name: 'dividend-list',
  content: 'dividends of shares, as amounts or ratios',
  datasets: ['dividends'],
  required: ['symbol', 'ex_date'],
  optional: ['amount', 'ratio', 'kind', 'declared'],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;

/** Curves of interest rates. */
export const rateList = {
  name: 'rate-list',
  content: 'interest rates by date and days',
  datasets: ['rates'],
  required: ['date', 'days', 'rate'],
  optional: [],
  time: null,
  delayMs: 0,
  symbols: null,
} as const satisfies HeaderFormat;

/** Implied volatilities by session. */
export const volatilityDayList = {
  name: 'volatility-day-list',
  content: 'implied volatility at 30 days by symbol and session',
  datasets: ['volatility-days'],
  required: ['symbol', 'date', 'iv30'],
  optional: [],
  time: null,
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'ticker' },
} as const satisfies HeaderFormat;

const prices = ['open', 'close', 'high', 'low', 'window_start'] as const;
const columns = {
  required: ['ticker', 'volume', ...prices],
  time: { column: 'window_start', unit: 'nanoseconds' },
  delayMs: 0,
} as const;

/** Minutes or days of stocks. `divided`: true if prices before a split are divided by it. */
export const stockAggregates = {
  ...columns,
  optional: ['transactions', 'vwap', 'divided'],
  name: 'stock-aggregates',
  content: 'aggregates of stocks',
  datasets: ['stock-minute-bars', 'stock-day-bars'],
  symbols: { column: 'ticker', spelling: 'tapeTicker' },
} as const satisfies HeaderFormat;

/** Minutes or days of indexes, which have no volume. */
export const indexAggregates = {
  ...columns,
  required: ['ticker', ...prices],
  optional: [],
  name: 'index-aggregates',
  content: 'aggregates of indexes',
  datasets: ['stock-minute-bars', 'stock-day-bars'],
  symbols: { column: 'ticker', spelling: 'index' },
} as const satisfies HeaderFormat;

/** Minutes or days of option contracts. */
export const optionAggregates = {
  ...columns,
  optional: ['transactions', 'vwap'],
  name: 'option-aggregates',
  content: 'aggregates of option contracts',
  datasets: ['option-minute-bars'],
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;

/** Open interest of contracts, at the start of a session. */
export const openInterestList = {
  name: 'open-interest-list',
  content: 'open interest of contracts',
  datasets: ['open-interest'],
  required: ['ticker', 'open_interest'],
  optional: ['session_date'],
  time: null,
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;

/** Prints of stocks. */
export const stockTrades = {
  name: 'stock-trades',
  content: 'prints of stocks',
  datasets: ['stock-trades'],
  required: ['ticker', 'conditions', 'exchange', 'id', 'price', 'sequence_number', 'sip_timestamp', 'size'],
  optional: ['correction', 'tape', 'trf_id'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'tapeTicker' },
} as const satisfies HeaderFormat;

/** Prints of option contracts. */
export const optionTrades = {
  name: 'option-trades',
  content: 'prints of option contracts',
  datasets: ['option-trades'],
  required: ['ticker', 'conditions', 'exchange', 'price', 'sip_timestamp', 'size'],
  optional: ['correction'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;

/** Bids and offers of option contracts. */
export const optionQuotes = {
  name: 'option-quotes',
  content: 'bids and offers of option contracts',
  datasets: ['option-quotes'],
  required: ['ticker', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'],
  optional: [],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
} as const satisfies HeaderFormat;

/** The formats of the datasets' own columns, those of a dataset in the order in which a header is compared. */
export const ownFormats: readonly HeaderFormat[] = [
  symbolList,
  rootList,
  splitList,
  dividendList,
  rateList,
  volatilityDayList,
  stockAggregates,
  indexAggregates,
  optionAggregates,
  openInterestList,
  stockTrades,
  optionTrades,
  optionQuotes,
];
