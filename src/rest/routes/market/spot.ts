import { knownTicker } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.3.
export const spot = route({
  path: '/v2/symbols/:symbol/spot',
  summary: 'Spot',
  description: 'Close of the latest daily bar; null if there is no recent bar.',
  scopeGroup: 'market.live',
  symbolRule: 'registered',
  params: { symbol: knownTicker },
  name: 'spot',
  operation: 'market/spot.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { spot { price } } }',
  answer: 'symbol.spot',
  errors: [400, 403, 404, 502, 503],
});
