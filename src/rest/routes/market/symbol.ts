import { knownTicker } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.1.
export const symbol = route({
  path: '/v2/symbols/:symbol',
  summary: 'Symbol',
  description: 'The registry entry of one symbol.',
  scopeGroup: 'market.reference',
  symbolRule: 'entry',
  params: { symbol: knownTicker },
  name: 'symbol',
  operation: 'market/symbol.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { minTier requiresAttestation } }',
  instant: null,
  errors: [404, 502],
});
