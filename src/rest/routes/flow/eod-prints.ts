import { dollars } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.10. The echo of the filters, and data.symbol, contain exactly what was sent.
export const eodPrints = route({
  path: '/v2/flow/eod',
  summary: 'Largest option prints of a session',
  description:
    'The 100 largest prints by premium, of one underlying or of all. An API key must send session, and symbol or min_premium_usd.',
  scopeGroup: 'analytics.flow',
  params: { min_premium_usd: dollars.optional() },
  name: 'eod-prints',
  operation: 'flow/eod-prints.graphql',
  graphql: '{ eod(symbol: "{symbol}", session: "{session}") { prints { rank } } }',
  example: { params: { symbol: '{symbol}', session: '{session}' }, shown: { params: { right: 'call' } } },
  answer: 'eod',
  variables: {
    bySymbol: ({ symbol }) => symbol !== undefined,
    bySession: ({ session }) => session !== undefined,
    byFrom: ({ from_ms }) => from_ms !== undefined,
    byTo: ({ to_ms }) => to_ms !== undefined,
    byPremium: ({ min_premium_usd }) => min_premium_usd !== undefined,
    byRight: ({ right }) => right !== undefined,
    byExpiry: ({ expiry }) => expiry !== undefined,
  },
  aboutSessions: true,
  errors: [400, 403, 404, 502, 503],
});
