import { text } from '../contract/params.ts';
import { route } from '../contract/route.ts';

// Contract notes 3. Comes before the symbol's own path.
export const symbolLookup = route({
  path: '/v2/symbols/lookup',
  summary: 'Symbol look-up',
  description: 'Whether a text is a real ticker, and of what. An unknown one is an answer with valid false.',
  scopeGroup: 'market.reference',
  params: { q: text(40) },
  operation: 'symbol-lookup.graphql',
  errors: [400, 502],
});
