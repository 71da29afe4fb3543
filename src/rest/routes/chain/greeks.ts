import { route } from '../../contract/route.ts';

// Spec 4.11.
export const greeks = route({
  path: '/v2/options/:contract/greeks',
  summary: 'Greeks of an option contract',
  description: 'The latest solve, and the last 390 samples, at most one per minute.',
  scopeGroup: 'analytics.vol',
  symbolRule: 'registered',
  name: 'greeks',
  operation: 'chain/greeks.graphql',
  graphql: '{ contract(id: "{contract}") { greeks { latest { mark } } } }',
  answer: 'contract.greeks',
  errors: [400, 403, 404, 502, 503],
});
