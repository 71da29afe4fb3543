import { route } from '../../contract/route.ts';

// Spec 4.13.
export const sectors = route({
  path: '/v2/screener/sectors',
  summary: 'Sector averages',
  description:
    'Average change by sector in the latest session, computed once a minute. date is returned in meta but not applied.',
  scopeGroup: 'market.screener',
  name: 'sectors',
  operation: 'market/sectors.graphql',
  graphql: '{ sectors { rows { sector } } }',
  answer: 'sectors',
  variables: { echoDate: ({ date }) => date !== undefined },
  errors: [400, 502, 503],
});
