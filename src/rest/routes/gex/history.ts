import { clockTime, clockTimeEnd, flag, positiveInt, sessionDate, ticker } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.5. Translates only: the resolver applies the window, the trim and entitlement.
export const gexHistory = route({
  path: '/v2/gex/:symbol/history',
  summary: 'GEX history',
  description:
    'Dealer gamma exposure captures of one session, oldest first. With an API key, top defaults to 20. With by_expiry, top still counts strikes: all rows of the N strikes with the largest |net gex| are returned.',
  scopeGroup: 'analytics.gex',
  params: {
    symbol: ticker,
    date: sessionDate,
    from: clockTime.optional(),
    to: clockTimeEnd.optional(),
    by_expiry: flag.optional(),
    top: positiveInt.optional(),
  },
  name: 'gex-history',
  operation: 'gex/history.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { history(date: "{previous}") { captures { netGex } } } } }',
  example: { params: { date: '{previous}' }, shown: { params: { from: '15:00', to: '15:30', top: '2' } } },
  hasInstant: true,
  answer: 'symbol.gex.history',
  variables: ({ by_expiry, ...rest }) => ({ ...rest, byExpiry: by_expiry ?? false }),
  aboutSessions: true,
  errors: [400, 403, 502, 503],
});
