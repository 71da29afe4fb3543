import { positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Contract notes 8. Translates only: which captures, their order and the causes are the resolver's.
export const gexChange = route({
  path: '/v2/gex/:symbol/change',
  summary: 'GEX change',
  description:
    'Change of dealer gamma exposure between two captures, and its causes: spot, time, volatility, open interest, listing and residual add up to gex at each strike, for each expiry and in all. A time means the last capture at or before it, a bare date the last capture of that session. Without one of the captures change is null and meta.reason says why. 400 if from is after to. top limits strikes only.',
  scopeGroup: 'analytics.gex',
  params: { top: positiveInt.optional() },
  name: 'gex-change',
  operation: 'gex/change.graphql',
  graphql:
    '{ symbol(symbol: "{symbol}") { gex { diff(from: "{previous}", to: "{session}") { change { gex spot time volatility openInterest listing } } } } }',
  example: { params: { from: '{previous}', to: '{session}' }, shown: { params: { top: '3' } } },
  instant: 'own at',
  answer: 'symbol.gex.diff',
  table: 'strikes',
  errors: [400, 403, 502, 503],
  // The tool graphql asks the same; the list of tools has a limit.
  withoutTool: true,
});
