import { symbolClasses } from '../../../domain/market/symbol.ts';
import { oneOf } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Contract notes 3.
export const symbols = route({
  path: '/v2/symbols',
  summary: 'Symbols',
  description: 'The registry, ascending by ticker.',
  scopeGroup: 'market.reference',
  params: { class: oneOf(symbolClasses).optional() },
  name: 'symbols',
  operation: 'market/symbols.graphql',
  graphql: '{ registry { rows { symbol } } }',
  example: { shown: { params: { class: 'index' } } },
  answer: 'registry',
  errors: [400, 502],
});
