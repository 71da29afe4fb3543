import { route } from '../../contract/route.ts';

// Contract notes 8. Translates only: the window and its clamp are the resolver's.
export const contractHistory = route({
  path: '/v2/options/:contract/history',
  summary: 'Option contract by day',
  description:
    'Open interest, volume, close, quotes, volatility and greeks of a contract by session, ascending. Quotes, greeks and open interest are of the last chain of the session, volume and close of the bars of the session. Without from: the last 20 sessions. At most 260 sessions; a larger window is cut to the latest.',
  scopeGroup: 'market.bars',
  symbolRule: 'registered',
  name: 'contract-history',
  operation: 'chain/contract-history.graphql',
  graphql: '{ contract(id: "{contract}") { history { days { date openInterest close } } } }',
  example: { shown: { params: { from: '{previous}', to: '{session}' } } },
  answer: 'contract.history',
  aboutSessions: true,
  withoutTool: true,
  errors: [400, 403, 404, 502, 503],
});
