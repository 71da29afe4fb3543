import { text } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Contract notes 3. Listed before the symbol's own path, which would match it.
export const symbolLookup = route({
  path: '/v2/symbols/lookup',
  summary: 'Symbol look-up',
  description:
    'Checks whether a text is a known ticker and returns what it names. An unknown ticker returns 200 with valid=false.',
  scopeGroup: 'market.reference',
  params: { q: text(40).meta({ example: 'SPY' }) },
  name: 'symbol-lookup',
  operation: 'market/symbol-lookup.graphql',
  graphql: '{ lookup(q: "{symbol}") { valid } }',
  example: { params: { q: '{symbol}' }, shown: { params: { q: 'aapl' } } },
  instant: null,
  errors: [400, 502],
});
