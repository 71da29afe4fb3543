import { servedChain } from '../resolvers/chain/chain.ts';
import { followChain } from '../resolvers/chain/live-chain.ts';
import { followCrossSection } from '../resolvers/flow/live-cross-section.ts';
import { followLargeTrades } from '../resolvers/flow/live-large-trades.ts';
import { checkTop } from '../resolvers/gex/gex.ts';
import { followedCapture, followGex } from '../resolvers/gex/live-gex.ts';
import { followBars } from '../resolvers/market/live-bars.ts';
import { followQuotes } from '../resolvers/market/live-quotes.ts';
import { maxQuotes } from '../resolvers/market/quotes.ts';
import { builder } from './builder.ts';
import { ChainType } from './chain/chain.ts';
import { contractsOfExpiry, costs, itemsAsked } from './cost.ts';
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

builder.subscriptionField('quotes', (t) =>
  t.field({
    type: QuoteType,
    description:
      'Quotes of several symbols: the current quote of each, then every change. A slow client gets the latest quote of each. A symbol the caller may not read is an empty row; if the caller may read none, the subscription fails.',
    args: {
      symbols: t.arg({ type: ['Ticker'], required: true, description: `Tickers in any case, at most ${maxQuotes}.` }),
    },
    extensions: {
      scopeGroup: 'market.live',
      ...costs<{ symbols: readonly string[] }>({
        once: 2.5,
        each: 0.1,
        // Each symbol's quote is sent immediately.
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
      'Bars of a stock: the latest bar, then every new or changed bar, including the one in progress. A slow client gets the latest state of each bar.',
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
    },
    extensions: {
      scopeGroup: 'analytics.gex',
      ...costs<{ topStrikes?: number | null }>({ once: 2.5, sizes: ({ topStrikes }) => strikeSizes(topStrikes) }),
    },
    subscribe(_root, { symbol, topStrikes }, context) {
      checkTop(topStrikes, 'topStrikes');
      return followGex(context, symbol);
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
    },
    extensions: {
      scopeGroup: 'market.live',
      ...costs<{ expiry?: string | null }>({
        once: 2.5,
        sizes: ({ expiry }) => (expiry == null ? {} : { contracts: contractsOfExpiry }),
      }),
    },
    subscribe: (_root, { symbol }, context) => followChain(context, symbol),
    resolve: (event, args, context) => servedChain(context, args.symbol, event.value, args),
  }),
);

builder.subscriptionField('crossSection', (t) =>
  t.field({
    type: CrossSectionType,
    description:
      'Cumulative option flow of an underlying by strike and by expiration: the latest snapshot, then every new one. A slow client gets the latest snapshot.',
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
      'Large trades as they are detected. If a late print changes a trade, it is sent again with the same eventId. An API key must send symbol or minPremiumUsd. A client with more than 1,000 queued events is disconnected.',
    args: {
      symbol: t.arg({ type: 'Ticker', description: 'Only this underlying. Default: all.' }),
      minPremiumUsd: t.arg.float({ description: 'Minimum total premium, dollars. Default: no minimum.' }),
    },
    extensions: { scopeGroup: 'analytics.flow', ...costs({ once: 2.5 }) },
    subscribe: (_root, args, context) => followLargeTrades(context, args),
    resolve: (event) => event.value,
  }),
);
