import { route } from '../../contract/route.ts';

// Contract notes 3. Translates only: the resolver selects the contracts, finds the money and checks entitlement.
export const volTerm = route({
  path: '/v2/options/:symbol/vol/term',
  summary: 'Volatility term structure',
  description:
    'At-the-money implied volatility by expiry, as of the last solved minute or the latest option chain, whichever is newer. If there is neither: nulls, an empty list and meta.note.',
  scopeGroup: 'analytics.vol',
  name: 'vol-term',
  operation: 'chain/vol-term.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { volatility { term { expiries { atmIv } } } } }',
  answer: 'symbol.volatility.term',
  errors: [400, 403, 502, 503],
});

export const volSurface = route({
  path: '/v2/options/:symbol/vol/surface',
  summary: 'Volatility surface',
  description:
    'Implied volatility by contract, as of the last solved minute or the latest option chain, whichever is newer. moneyness is the strike divided by the price of the underlying; mark is the option price used by the solve. If there is neither: nulls, empty lists and meta.note.',
  scopeGroup: 'analytics.vol',
  name: 'vol-surface',
  operation: 'chain/vol-surface.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { volatility { surface { points { iv } } } } }',
  answer: 'symbol.volatility.surface',
  table: 'expiries',
  errors: [400, 403, 502, 503],
});
