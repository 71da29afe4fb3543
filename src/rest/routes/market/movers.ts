import { positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Contract notes 3. Translates only: the resolver applies the limit, visibility and order.
export const movers = route({
  path: '/v2/screener/movers',
  summary: 'Movers',
  description:
    'The registered symbols with the largest change against their prior close, up or down, largest first. Computed once a minute. limit defaults to 25; a value over 180 is clamped and reported in caps. Symbols the caller may not read and symbols without a known change are omitted.',
  scopeGroup: 'market.screener',
  params: { limit: positiveInt.optional() },
  name: 'movers',
  operation: 'market/movers.graphql',
  graphql: '{ movers { rows { symbol changePct } meta { count } } }',
  example: { shown: { params: { limit: '3' } } },
  answer: 'movers',
  errors: [400, 502, 503],
});
