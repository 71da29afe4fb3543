import { tickers } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.2.
export const quotes = route({
  path: '/v2/quotes',
  summary: 'Quotes',
  description:
    'Latest quotes, one row per symbol in the order of the request, under the name that was requested. A symbol without a recent price is a row of nulls. A symbol the account may not read is one too, and is listed in meta.restricted.',
  scopeGroup: 'market.live',
  symbolRule: 'row',
  params: { symbols: tickers(180) },
  name: 'quotes',
  operation: 'market/quotes.graphql',
  graphql: '{ quotes(symbols: ["{symbol}"]) { rows { spot } meta { restricted } } }',
  example: { params: { symbols: '{symbol}' }, shown: { params: { symbols: 'SPY,QQQ' } } },
  answer: 'quotes',
  variables: {
    symbols: ({ symbols }) => symbols.map(({ symbol }) => symbol),
    asked: ({ symbols }) => symbols.map(({ asked }) => asked),
  },
  errors: [400, 502, 503],
});
