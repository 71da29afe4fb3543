import { route } from '../../contract/route.ts';

// Translates only: which capture, and entitlement, are the resolver's.
export const gexExposures = route({
  path: '/v2/gex/:symbol/exposures',
  summary: 'Delta, vanna, charm and vega exposure',
  description:
    'Exposures of the latest option chain, or of the one stored for a time, in total, by strike and by expiry. delta: dollars of the underlying that holders are long. vanna and charm: dollars of dealer delta gained per vol point and per day. vega: dollars per vol point. Either list adds up to total.',
  scopeGroup: 'analytics.gex',
  name: 'gex-exposures',
  operation: 'gex/exposures.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { exposures { total { delta vanna charm vega } } } } }',
  instant: 'own at',
  answer: 'symbol.gex.exposures',
  table: 'by_strike',
  withoutTool: true,
  errors: [400, 403, 502, 503],
});
