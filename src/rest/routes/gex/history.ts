import { clockTimeEnd, positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.5. Translates only: the resolver applies the window, the trim and entitlement.
export const gexHistory = route({
  path: '/v2/gex/:symbol/history',
  summary: 'GEX history',
  description:
    'Dealer gamma exposure captures of one session, oldest first. With an API key, top defaults to 20. With by_expiry, top still counts strikes: all rows of the N strikes with the largest |net gex| are returned.',
  scopeGroup: 'analytics.gex',
  params: {
    to: clockTimeEnd.optional(),
    top: positiveInt.optional(),
  },
  name: 'gex-history',
  operation: 'gex/history.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { history(date: "{previous}") { captures { netGex } } } } }',
  example: { params: { date: '{previous}' }, shown: { params: { from: '15:00', to: '15:30', top: '2' } } },
  answer: 'symbol.gex.history',
  table: 'captures',
  aboutSessions: true,
  errors: [400, 403, 502, 503],
});
