import { parseStart } from '../resolvers/as-of.ts';
import { followedChain } from '../resolvers/chain/chain.ts';
import { chainFollowing } from '../resolvers/chain/live-chain.ts';
import { crossSectionFollowing } from '../resolvers/flow/cross-section.ts';
import { largeTradesFollowing } from '../resolvers/flow/large-trades.ts';
import { checkTop } from '../resolvers/gex/gex.ts';
import { followedCapture, gexFollowing } from '../resolvers/gex/live-gex.ts';
import { maxQuotes, quotesFollowing } from '../resolvers/market/quotes.ts';
import { barsFollowing } from '../resolvers/market/stock-bars.ts';
import { builder } from './builder.ts';
import { ChainType } from './chain/chain.ts';
import { contractsOfExpiry, itemsAsked } from './cost.ts';
import { CrossSectionType } from './flow/cross-section.ts';
import { LargeTradeType } from './flow/large-trades.ts';
import { GexCaptureType } from './gex/capture.ts';
import { strikeSizes } from './gex/cost.ts';
import { QuoteType } from './market/quotes.ts';
import { StockBarType } from './market/stock-bars.ts';

builder.subscriptionType({
  description:
    'Live events, under the same rules as the queries of the same names. If the server ends a stream, the last error gives the reason in extensions.reason: shutdown, too_slow, not_entitled or failed.',
});

type Types = typeof builder.$inferSchemaTypes;

/** Arguments of a client that was disconnected. */
function sinceArgs(t: PothosSchemaTypes.SubscriptionFieldBuilder<Types, object>, sent: string) {
  return {
    since: t.arg({
      type: 'PointInTime',
      description: `Time of the last event received before a disconnect. ${sent} A time before the stored data is invalid_params, which names the earliest. Default: the current state.`,
    }),
    tz: t.arg({ type: 'TimeZone', description: 'Time zone of since. Default: America/New_York.' }),
  };
}

builder.subscriptionField('quotes', (t) =>
  t.field({
    type: QuoteType,
    description:
      'Quotes of several symbols: the current quote of each, then every change. A slow client gets the latest quote of each. A symbol the caller may not read is an empty row; if the caller may read none, the subscription fails.',
    args: {
      symbols: t.arg({ type: ['Ticker'], required: true, description: `Tickers in any case, at most ${maxQuotes}.` }),
      ...sinceArgs(t, 'The current quotes are sent first, as without it.'),
    },
    scope: 'market.live',
    price: {
      once: 2.5,
      each: 0.1,
      // Each symbol's quote is sent immediately.
      times: ({ symbols }) => itemsAsked(symbols.length, maxQuotes),
    },
    async subscribe(_root, { symbols, since, tz }, context) {
      if (since != null) parseStart(since, tz, 'since', context);
      return context.live.quotes.follow(await quotesFollowing(context, symbols));
    },
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('bars', (t) =>
  t.field({
    type: StockBarType,
    description:
      'Bars of a stock: the latest bar, then every new or changed bar, including the one in progress. A slow client gets the latest state of each bar.',
    args: {
      symbol: t.arg({ type: 'Ticker', required: true, description: 'Ticker.' }),
      timeframe: t.arg({ type: 'Timeframe', defaultValue: '1m', description: 'Length of a bar.' }),
      ...sinceArgs(t, 'Bars that had not ended then are sent first.'),
    },
    scope: 'market.bars',
    price: { once: 2.5 },
    async subscribe(_root, { symbol, timeframe, ...since }, context) {
      const series = { symbol, timeframe: timeframe ?? '1m' };
      return context.live.bars.follow(await barsFollowing(context, series, since));
    },
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('gexCaptured', (t) =>
  t.field({
    type: GexCaptureType,
    description:
      'Dealer gamma of an underlying: the latest capture, then every new one. A client with more than 1,000 queued events is disconnected.',
    args: {
      symbol: t.arg({ type: 'Ticker', required: true, description: 'Underlying.' }),
      topStrikes: t.arg.int({
        description: 'Keep the N strikes with the largest |net gex|. Default: all. Totals always include all strikes.',
      }),
      expiries: t.arg({
        type: ['SessionDate'],
        description:
          'Only these expiries: strikes, netGex and flipPoint are over them. The other figures are over all. Default: all.',
      }),
      ...sinceArgs(t, 'Captures after it are sent first.'),
    },
    scope: 'analytics.gex',
    price: { once: 2.5, sizes: ({ topStrikes }) => strikeSizes(topStrikes) },
    async subscribe(_root, { symbol, topStrikes, ...since }, context) {
      checkTop(topStrikes, 'topStrikes');
      return context.live.gex.follow(await gexFollowing(context, symbol, since));
    },
    resolve: (event, args, context) => followedCapture(context, event.value, args),
  }),
);

builder.subscriptionField('chainCaptured', (t) =>
  t.field({
    type: ChainType,
    description:
      'The option chain of an underlying: the latest capture, then every new one. A slow client gets the latest capture.',
    args: {
      symbol: t.arg({ type: 'Ticker', required: true, description: 'Underlying.' }),
      expiry: t.arg({ type: 'SessionDate', description: 'Only this expiry.' }),
      strikeGte: t.arg({ type: 'StrikeThousandths', description: 'Lowest strike, inclusive.' }),
      strikeLte: t.arg({ type: 'StrikeThousandths', description: 'Highest strike, inclusive.' }),
      ...sinceArgs(t, 'The latest capture is sent first if it is later.'),
    },
    scope: 'market.live',
    price: {
      once: 2.5,
      sizes: ({ expiry }) => (expiry == null ? {} : { contracts: contractsOfExpiry }),
    },
    async subscribe(_root, { symbol, ...since }, context) {
      return context.live.chains.follow(await chainFollowing(context, symbol, since));
    },
    resolve: (event, args, context) => followedChain(context, args.symbol, event.value, args),
  }),
);

builder.subscriptionField('crossSection', (t) =>
  t.field({
    type: CrossSectionType,
    description:
      'Cumulative option flow of an underlying by strike and by expiration: the latest snapshot, then every new one. A slow client gets the latest snapshot.',
    args: {
      symbol: t.arg({ type: 'Ticker', required: true, description: 'Underlying.' }),
      ...sinceArgs(t, 'The latest snapshot is sent first if it is later.'),
    },
    scope: 'analytics.flow',
    price: { once: 2.5 },
    async subscribe(_root, { symbol, ...since }, context) {
      return context.live.crossSections.follow(await crossSectionFollowing(context, symbol, since));
    },
    resolve: (event) => event.value,
  }),
);

builder.subscriptionField('largeTrades', (t) =>
  t.field({
    type: LargeTradeType,
    description:
      'Large trades as they are detected. If a late print changes a trade, it is sent again with the same eventId. An API key must send symbol or minPremiumUsd. A client with more than 1,000 queued events is disconnected.',
    args: {
      symbol: t.arg({ type: 'Ticker', description: 'Only this underlying. Default: all.' }),
      minPremiumUsd: t.arg.float({ description: 'Minimum total premium, dollars. Default: no minimum.' }),
      ...sinceArgs(t, 'Large trades after it, at most 5 days old, are sent first.'),
    },
    scope: 'analytics.flow',
    price: { once: 2.5 },
    async subscribe(_root, { symbol, minPremiumUsd, ...since }, context) {
      const filter = { symbol, minPremiumUsd };
      return context.live.largeTrades.follow(await largeTradesFollowing(context, filter, since));
    },
    resolve: (event) => event.value,
  }),
);
