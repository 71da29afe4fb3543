import { route } from '../../contract/route.ts';

// Contract notes 3. Translates only: the resolver selects the capture and checks entitlement.
export const gexReference = route({
  path: '/v2/gex/:symbol/reference',
  summary: 'GEX reference',
  description:
    "The capture a session's gamma is compared with, by strike and expiry. basis=open (the default): the first capture of the regular session. basis=prev_close: the last capture of the prior session. Without date: of the current session, else of the last one.",
  scopeGroup: 'analytics.gex',
  name: 'gex-reference',
  operation: 'gex/reference.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { reference(date: "{session}", basis: open) { netGex } } } }',
  example: { params: { date: '{session}', basis: 'open' } },
  answer: 'symbol.gex.reference',
  aboutSessions: true,
  errors: [400, 403, 502, 503],
});
