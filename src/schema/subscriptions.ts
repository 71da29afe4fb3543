import { checkTop, servedCaptures } from '../resolvers/gex/gex.ts';
import { followBars } from '../resolvers/live/bars.ts';
import { followCrossSection } from '../resolvers/live/cross-section.ts';
import { followGex } from '../resolvers/live/gex.ts';
import { followLargeTrades } from '../resolvers/live/large-trades.ts';
import { followQuotes } from '../resolvers/live/quotes.ts';
import { maxQuotes } from '../resolvers/market/quotes.ts';
import { builder } from './builder.ts';
import { costs, itemsAsked } from './cost.ts';
import { CrossSectionType } from './flow/cross-section.ts';
import { LargeTradeType } from './flow/large-trades.ts';
import { strikeSizes } from './gex/cost.ts';
import { GexCaptureType } from './gex/gex.ts';
import { QuoteType } from './market/quotes.ts';
import { StockBarType } from './market/stock-bars.ts';

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
    extensions: {
      scopeGroup: 'market.live',
      ...costs<{ symbols: readonly string[] }>({
        once: 2.5,
        each: 0.1,
        // Each symbol's quote is sent at once.
        times: ({ symbols }) => itemsAsked(symbols.length, maxQuotes),
      }),
    },
    subscribe: (_root, { symbols }, context) => followQuotes(context, symbols),
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('bars', (t) =>
  t.field({
    type: StockBarType,
    description:
      'Bars of a stock: the newest, then each as it is made or changes, the one in progress included. A slow reader gets the latest state of each.',
    args: {
      symbol: t.arg({ type: 'Ticker', required: true, description: 'Ticker.' }),
      timeframe: t.arg({ type: 'Timeframe', defaultValue: '1m', description: 'Length of a bar.' }),
    },
    extensions: { scopeGroup: 'market.bars', ...costs({ once: 2.5 }) },
    subscribe: (_root, { symbol, timeframe }, context) => followBars(context, symbol, timeframe ?? '1m'),
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('gexCaptured', (t) =>
  t.field({
    type: GexCaptureType,
    description:
      'Dealer gamma of an underlying: the latest capture, then each as it is made. A reader for whom more than 1,000 wait is disconnected.',
    args: {
      symbol: t.arg({ type: 'Ticker', required: true, description: 'Underlying.' }),
      topStrikes: t.arg.int({
        description: 'Keep the strikes with the largest |net gex|, so many; all by default. Totals are over all.',
      }),
    },
    extensions: {
      scopeGroup: 'analytics.gex',
      ...costs<{ topStrikes?: number | null }>({ once: 2.5, sizes: ({ topStrikes }) => strikeSizes(topStrikes) }),
    },
    subscribe(_root, { symbol, topStrikes }, context) {
      checkTop(topStrikes, 'topStrikes');
      return followGex(context, symbol);
    },
    resolve: (event, { topStrikes }) => servedCaptures([event.value], false, topStrikes ?? null)[0]!,
  }),
);

builder.subscriptionField('crossSection', (t) =>
  t.field({
    type: CrossSectionType,
    description:
      "An underlying's cumulative option flow by strike and by expiration: the latest snapshot, then each that follows. A slow reader gets the latest.",
    args: { symbol: t.arg({ type: 'Ticker', required: true, description: 'Underlying.' }) },
    extensions: { scopeGroup: 'analytics.flow', ...costs({ once: 2.5 }) },
    subscribe: (_root, { symbol }, context) => followCrossSection(context, symbol),
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('largeTrades', (t) =>
  t.field({
    type: LargeTradeType,
    description:
      'Large trades as they are detected, from now on; one that a late print changes is told again under its eventId. An API key must send symbol or minPremiumUsd. A reader for whom more than 1,000 wait is disconnected.',
    args: {
      symbol: t.arg({ type: 'Ticker', description: 'Underlying; all when absent.' }),
      minPremiumUsd: t.arg.float({ description: 'Least total premium, dollars; any when absent.' }),
    },
    extensions: { scopeGroup: 'analytics.flow', ...costs({ once: 2.5 }) },
    subscribe: (_root, args, context) => followLargeTrades(context, args),
    resolve: (event) => event.value,
  }),
);
