import { providerUnavailable } from '../../../platform/wire/failure.ts';
import { oneOf, positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.12. Translates only: the resolver applies the default session and the clamp.
export const optionBars = route({
  path: '/v2/options/:contract/bars',
  summary: 'Option bars',
  description: 'The latest bars of a contract in one session, ascending.',
  scopeGroup: 'market.bars',
  symbolRule: 'registered',
  params: { tf: oneOf(['1m', '5m']).optional(), limit: positiveInt.optional() },
  name: 'option-bars',
  operation: 'chain/option-bars.graphql',
  graphql: '{ contract(id: "{contract}") { bars { meta { count } } } }',
  example: { shown: { params: { tf: '5m', session: '{session}' } } },
  answer: 'contract.bars',
  variables: { timeframe: ({ tf }) => tf ?? '1m' },
  aboutSessions: true,
  sourceFailure: providerUnavailable,
  errors: [400, 403, 404, 503],
});
