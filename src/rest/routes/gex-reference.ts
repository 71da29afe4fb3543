import { oneOf, sessionDate, ticker } from '../contract/params.ts';
import { route } from '../contract/route.ts';

// Contract notes 3. Translates only: which capture it is, and entitlement, are the resolver's.
export const gexReference = route({
  path: '/v2/gex/:symbol/reference',
  summary: 'GEX reference',
  description:
    "The capture a session's gamma is compared with, by strike and expiry: the first of its regular session (basis open, the default), or the last of the session before (prev_close). Without date, of the session that runs or ran last.",
  scopeGroup: 'analytics.gex',
  params: {
    symbol: ticker,
    date: sessionDate.optional(),
    basis: oneOf(['open', 'prev_close']).optional(),
  },
  operation: 'gex-reference.graphql',
  answer: 'symbol.gex.reference',
  variables: ({ basis, ...rest }) => ({ ...rest, basis: basis ?? 'open' }),
  errors: [400, 403, 502, 503],
});
