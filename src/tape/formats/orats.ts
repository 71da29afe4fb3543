import type { Format } from './format.ts';

/**
 * `strikes` and `hist/strikes` of ORATS, as CSV or JSON: a call and a put per row. Names of columns:
 * docs.orats.io, and github.com/joshuaulrich/quantmod, R/getOptionChain.orats.R.
 */
export const oratsStrikes = {
  name: 'orats-strikes',
  content: 'strikes of ORATS, as CSV or JSON',
  required: [
    ...['ticker', 'tradeDate', 'expirDate', 'strike', 'stockPrice', 'callBidPrice', 'callAskPrice', 'putBidPrice'],
    ...['putAskPrice', 'quoteDate'],
  ],
  time: { column: 'quoteDate', unit: 'stamp' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'ticker' },
} as const satisfies Format;

const volatility = { time: null, delayMs: 0, symbols: { column: 'ticker', spelling: 'ticker' } } as const;

/** `hist/summaries` of ORATS, as CSV or JSON: volatilities are fractions. */
export const oratsSummaries = {
  name: 'orats-summaries',
  content: 'summaries of sessions of ORATS, as CSV or JSON',
  required: ['ticker', 'tradeDate', 'stockPrice', 'iv30d', 'rVol30'],
  ...volatility,
} as const satisfies Format;

/** `hist/cores` of ORATS, as CSV or JSON: volatilities are percentages. */
export const oratsCores = {
  name: 'orats-cores',
  content: 'core data of sessions of ORATS, as CSV or JSON',
  required: ['ticker', 'tradeDate', 'pxCls', 'iv30d'],
  ...volatility,
} as const satisfies Format;
