import { sessionDate, thousandths } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.14. Translates only: the resolver handles caching and settled expiries.
export const chainExpirations = route({
  path: '/v2/chain/:symbol/expirations',
  summary: 'Option expirations',
  description:
    'Unsettled expiry dates of the latest option chain, or of the chain stored for a time. expiry, strike_gte and strike_lte are accepted but do not filter the list.',
  scopeGroup: 'market.reference',
  params: {
    expiry: sessionDate.optional(),
    strike_gte: thousandths.optional(),
    strike_lte: thousandths.optional(),
  },
  name: 'chain-expirations',
  operation: 'chain/expirations.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { expirations { dates } } }',
  instant: 'own at',
  answer: 'symbol.expirations',
  errors: [400, 502, 503],
});
