import { route } from '../../contract/route.ts';

// Spec 4.9.
export const crossSection = route({
  path: '/v2/flow/:symbol/cross-section',
  summary: 'Option flow of a session',
  description:
    'Cumulative option flow of a session by strike and by expiration. Default: the latest session available.',
  scopeGroup: 'analytics.flow',
  name: 'cross-section',
  operation: 'flow/cross-section.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { flow { crossSection { snapshot { seq } } } } }',
  example: { shown: { params: { session: '{session}' } } },
  answer: 'symbol.flow.crossSection',
  table: 'by_strike',
  aboutSessions: true,
  errors: [400, 403, 404, 502, 503],
});
