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
