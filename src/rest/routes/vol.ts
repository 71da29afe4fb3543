import { ticker } from '../params.ts';
import { route } from '../route.ts';

// Contract notes 3. Translates only: which contracts, what is at the money, and entitlement are the resolver's.
export const volTerm = route({
  path: '/v2/options/:symbol/vol/term',
  summary: 'Volatility term structure',
  description:
    'Implied volatility at the money by expiry, as of the latest option chain. Where no chain was captured: nulls, an empty list and meta.note.',
  scopeGroup: 'analytics.vol',
  params: { symbol: ticker },
  operation: 'vol-term.graphql',
  answer: 'symbol.volatility.term',
  errors: [400, 403, 502, 503],
});

export const volSurface = route({
  path: '/v2/options/:symbol/vol/surface',
  summary: 'Volatility surface',
  description:
    "Implied volatility by contract, as of the latest option chain; moneyness is strike over the underlying's price, mark the mid of the contract's quote. Where no chain was captured: nulls, empty lists and meta.note.",
  scopeGroup: 'analytics.vol',
  params: { symbol: ticker },
  operation: 'vol-surface.graphql',
  answer: 'symbol.volatility.surface',
  errors: [400, 403, 502, 503],
});
