import { oneOf, positiveInt } from '../contract/params.ts';
import { route } from '../contract/route.ts';

// Contract notes 3. Translates only: the limit, who may see what, and the order are the resolver's.
export const movers = route({
  path: '/v2/screener/movers',
  summary: 'Movers',
  description:
    'The registered symbols that changed most against their prior close, up or down, largest first; computed once a minute. limit is 25 unless sent, 180 at most: what is over is clamped and reported in caps. Symbols the caller may not read, and those without a known change, are left out.',
  scopeGroup: 'market.screener',
  params: { limit: positiveInt.optional(), universe: oneOf(['registry']).optional() },
  operation: 'movers.graphql',
  answer: 'movers',
  variables: ({ limit, universe }) => ({ limit, universe: universe ?? 'registry' }),
  errors: [400, 502, 503],
});
