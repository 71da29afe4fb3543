import { route } from '../../contract/route.ts';

// Contract notes 3.
export const symbols = route({
  path: '/v2/symbols',
  summary: 'Symbols',
  description: 'The registry, ascending by ticker.',
  scopeGroup: 'market.reference',
  name: 'symbols',
  operation: 'market/symbols.graphql',
  graphql: '{ registry { rows { symbol } } }',
  example: { shown: { params: { class: 'index' } } },
  answer: 'registry',
  instant: null,
  errors: [400, 502],
});
