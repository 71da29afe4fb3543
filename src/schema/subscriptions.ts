import { followLargeTrades } from '../resolvers/live-large-trades.ts';
import { followQuotes } from '../resolvers/live-quotes.ts';
import { maxQuotes } from '../resolvers/quotes.ts';
import { builder } from './builder.ts';
import { LargeTradeType } from './large-trades.ts';
import { QuoteType } from './quotes.ts';

builder.subscriptionType({
  description:
    'Everything that is told as it happens, by the rules of the queries of the same names. A stream that is ended from this side says why in a last error: extensions.reason is shutdown, too_slow, not_entitled or failed.',
});

builder.subscriptionField('quotes', (t) =>
  t.field({
    type: QuoteType,
    description:
      'Quotes of several symbols: each as it stands, then whenever it changes. A slow reader gets the latest of each. What may not be read is an empty row; when that is all of them, the subscription is refused.',
    args: {
      symbols: t.arg({ type: ['Ticker'], required: true, description: `Tickers in any case, at most ${maxQuotes}.` }),
    },
    complexity: ({ symbols }) => ({ field: Math.max(1, Math.min(symbols.length, maxQuotes)) }),
    extensions: { scopeGroup: 'market.live' },
    subscribe: (_root, { symbols }, context) => followQuotes(context, symbols),
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('largeTrades', (t) =>
  t.field({
    type: LargeTradeType,
    description:
      'Large trades as they are detected, from now on; one that a late print changes is told again under its eventId. A reader for whom more than 1,000 wait is disconnected.',
    args: {
      symbol: t.arg({ type: 'Ticker', description: 'Underlying; all when absent.' }),
      minPremiumUsd: t.arg.float({ description: 'Least total premium, dollars; any when absent.' }),
    },
    complexity: 1,
    extensions: { scopeGroup: 'analytics.flow' },
    subscribe: (_root, args, context) => followLargeTrades(context, args),
    resolve: (event) => event.value,
  }),
);
