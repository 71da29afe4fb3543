import { dollars, epochMs, oneOf, sessionDate, ticker } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.10. The echo of the filters, and data.symbol, contain exactly what was sent.
export const eodPrints = route({
  path: '/v2/flow/eod',
  summary: 'Largest option prints of a session',
  description:
    'The 100 largest prints by premium, of one underlying or of all. An API key must send session, and symbol or min_premium_usd.',
  scopeGroup: 'analytics.flow',
  params: {
    symbol: ticker.optional(),
    session: sessionDate.optional(),
    from_ms: epochMs.optional(),
    to_ms: epochMs.optional(),
    min_premium_usd: dollars.optional(),
    right: oneOf(['call', 'put']).optional(),
    expiry: sessionDate.optional(),
  },
  name: 'eod-prints',
  operation: 'flow/eod-prints.graphql',
  graphql: '{ eod(symbol: "{symbol}", session: "{session}") { prints { rank } } }',
  example: { params: { symbol: '{symbol}', session: '{session}' }, shown: { params: { right: 'call' } } },
  hasInstant: true,
  answer: 'eod',
  variables: ({ symbol, session, from_ms: fromMs, to_ms: toMs, min_premium_usd: minPremiumUsd, right, expiry }) => ({
    symbol,
    session,
    fromMs,
    toMs,
    minPremiumUsd,
    right,
    expiry,
    bySymbol: symbol !== undefined,
    bySession: session !== undefined,
    byFrom: fromMs !== undefined,
    byTo: toMs !== undefined,
    byPremium: minPremiumUsd !== undefined,
    byRight: right !== undefined,
    byExpiry: expiry !== undefined,
  }),
  aboutSessions: true,
  errors: [400, 403, 404, 502, 503],
});
