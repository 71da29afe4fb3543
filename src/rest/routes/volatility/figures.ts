import { route } from '../../contract/route.ts';

// Translates only: which chain and sessions, and entitlement, are the resolver's.
export const volFigures = route({
  path: '/v2/options/:symbol/vol/figures',
  summary: 'Volatility figures',
  description:
    'Implied volatility at 7, 30, 60 and 90 days, 25-delta risk reversal and butterfly by expiry, rank and percentile of the 30-day volatility among its daily closes of a year (percent), realized volatility of the last 20 sessions by four estimators, and the variance risk premium. All are annualized fractions; premium.variance is IV30² − RV20². As of the last solved minute or the latest option chain, whichever is newer.',
  scopeGroup: 'analytics.vol',
  name: 'vol-figures',
  operation: 'volatility/figures.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { volatility { figures { iv30 realized { closeToClose } } } } }',
  answer: 'symbol.volatility.figures',
  withoutTool: true,
  errors: [400, 403, 502, 503],
});
