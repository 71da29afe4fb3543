import { tickers } from '../contract/params.ts';
import { route } from '../contract/route.ts';

// Spec 4.2.
export const quotes = route({
  path: '/v2/quotes',
  summary: 'Quotes',
  description:
    'Latest quotes, one row a symbol in the order asked. What has no recent price is a row of nulls; what the plan cannot read is one too, and listed in meta.restricted.',
  scopeGroup: 'market.live',
  params: { symbols: tickers(180) },
  operation: 'quotes.graphql',
  answer: 'quotes',
  errors: [400, 502, 503],
});
