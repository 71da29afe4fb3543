import { dollars, positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.8. Translates only: the resolver checks entitlement and the required parameters of a key, and clamps.
export const largeTrades = route({
  path: '/v2/flow/large-trades',
  summary: 'Large option trades',
  description:
    'Detected blocks, sweeps and multi-leg trades, newest first. An API key must send symbol or min_premium_usd.',
  scopeGroup: 'analytics.flow',
  params: { min_premium_usd: dollars.optional(), limit: positiveInt.optional() },
  name: 'large-trades',
  operation: 'flow/large-trades.graphql',
  // Spec 4.8 has one page of the newest; the graph has further ones, and their total.
  withoutMeta: ['cursor', 'total'],
  graphql: '{ largeTrades(symbol: "{symbol}") { events { seq } } }',
  example: { params: { symbol: '{symbol}' }, shown: { params: { min_premium_usd: '250000', limit: '2' } } },
  answer: 'largeTrades',
  table: 'events',
  aboutSessions: true,
  errors: [400, 403, 404, 502, 503],
});
