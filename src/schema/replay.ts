import { contextAtTime } from '../resolvers/as-of.ts';
import { followedChain } from '../resolvers/chain/chain.ts';
import type { RequestContext } from '../resolvers/context.ts';
import { followedCapture } from '../resolvers/gex/live-gex.ts';
import { coverageAsOf } from '../resolvers/publication.ts';
import {
  type ReplayedEvent,
  type ReplayKind,
  type ReplayValues,
  replay,
  replaySpeeds,
  topicPoints,
} from '../resolvers/replay.ts';
import { builder } from './builder.ts';
import { ChainType } from './chain/chain.ts';
import { contractsOfExpiry, itemsAsked } from './cost.ts';
import { enumValues } from './enum-values.ts';
import { CrossSectionType } from './flow/cross-section.ts';
import { LargeTradeType } from './flow/large-trades.ts';
import { GexCaptureType } from './gex/capture.ts';
import { strikeSizes } from './gex/cost.ts';
import { QuoteType } from './market/quotes.ts';
import { StockBarType } from './market/stock-bars.ts';

/** An event, and the context of its instant. */
interface ReplayedHere extends ReplayedEvent {
  context: RequestContext;
}

const kinds = {
  quotes: 'The quote of a symbol.',
  bars: 'A bar of a symbol.',
  gex: 'A GEX capture.',
  chain: 'An option chain.',
  large_trades: 'A large trade.',
  cross_section: 'The cumulative option flow of an underlying.',
} as const;

const TopicKindEnum = builder.enumType('ReplayTopicKind', {
  description: 'Kind of a topic.',
  values: enumValues<ReplayKind>(kinds),
});

const EventKindEnum = builder.enumType('ReplayEventKind', {
  description: 'Kind of an event: that of its topic, or the end of the replay.',
  values: enumValues<ReplayKind | 'end'>({ ...kinds, end: 'The end: nothing follows.' }),
});

const TopicInput = builder.inputType('ReplayTopic', {
  description: 'A topic: a subscription and its arguments.',
  fields: (t) => ({
    kind: t.field({ type: TopicKindEnum, required: true, description: 'Subscription of the topic.' }),
    symbol: t.field({ type: 'Ticker', description: 'Symbol. Only large trades have a default: all.' }),
    timeframe: t.field({ type: 'Timeframe', description: 'Length of bars. Default: 1m.' }),
    topStrikes: t.int({ description: 'Keep the N strikes of a GEX capture with the largest |net gex|. Default: all.' }),
    minPremiumUsd: t.float({ description: 'Minimum premium of large trades, dollars. Default: no minimum.' }),
  }),
});

/** The value of an event of a kind; null for other kinds. */
const valueIn = <K extends ReplayKind>({ event }: ReplayedHere, kind: K) =>
  event?.kind === kind ? (event.value as ReplayValues[K]) : null;

const ReplayEventType = builder.objectRef<ReplayedHere>('ReplayEvent').implement({
  description: 'An event of a replay. The field of its kind is set, the others are null.',
  fields: (t) => ({
    at: t.field({
      type: 'EpochMs',
      description: 'The end of the second in which it happened, epoch ms.',
      resolve: ({ atMs }) => atMs,
    }),
    kind: t.field({
      type: EventKindEnum,
      description: 'Kind of the event.',
      resolve: ({ event }) => event?.kind ?? 'end',
    }),
    quote: t.field({
      type: QuoteType,
      nullable: true,
      description: 'A quote, as of its instant.',
      scope: 'market.live',
      price: { each: 0.02 },
      resolve: (event) => valueIn(event, 'quotes'),
    }),
    bar: t.field({
      type: StockBarType,
      nullable: true,
      description: 'A bar, as built up to then.',
      scope: 'market.bars',
      price: { each: 0.02 },
      resolve: (event) => valueIn(event, 'bars'),
    }),
    gexCapture: t.field({
      type: GexCaptureType,
      nullable: true,
      description: 'A GEX capture.',
      args: {
        topStrikes: t.arg.int({
          description: 'Keep the N strikes with the largest |net gex|. Default: that of its topic.',
        }),
        expiries: t.arg({ type: ['SessionDate'], description: 'Only these expiries. Default: all.' }),
      },
      scope: 'analytics.gex',
      price: { each: 0.3, sizes: ({ topStrikes }) => strikeSizes(topStrikes) },
      resolve(event, { topStrikes, expiries }, context) {
        const capture = valueIn(event, 'gex');
        const top = topStrikes ?? event.event?.topStrikes;
        return capture && followedCapture(context, capture, { topStrikes: top, expiries });
      },
    }),
    chain: t.field({
      type: ChainType,
      nullable: true,
      description: 'An option chain.',
      args: {
        expiry: t.arg({ type: 'SessionDate', description: 'Only this expiry.' }),
        strikeGte: t.arg({ type: 'StrikeThousandths', description: 'Lowest strike, inclusive.' }),
        strikeLte: t.arg({ type: 'StrikeThousandths', description: 'Highest strike, inclusive.' }),
      },
      scope: 'market.live',
      price: {
        each: 0.3,
        sizes: ({ expiry }) => (expiry == null ? {} : { contracts: contractsOfExpiry }),
      },
      resolve(event, args, context) {
        const capture = valueIn(event, 'chain');
        return capture && followedChain(context, capture.underlying, capture, args);
      },
    }),
    largeTrade: t.field({
      type: LargeTradeType,
      nullable: true,
      description: 'A large trade, sent with its last leg.',
      scope: 'analytics.flow',
      price: { each: 0.02 },
      resolve(event, _args, context) {
        const trade = valueIn(event, 'large_trades');
        return trade && { ...trade, coverage: coverageAsOf(context, trade.coverage) };
      },
    }),
    crossSection: t.field({
      type: CrossSectionType,
      nullable: true,
      description: 'Cumulative option flow.',
      scope: 'analytics.flow',
      price: { each: 0.02 },
      resolve(event, _args, context) {
        const section = valueIn(event, 'cross_section');
        return section && { ...section, coverage: coverageAsOf(context, section.coverage) };
      },
    }),
  }),
});

/** Maximum number of topics that are paid for one by one. */
const mostPaid = 230;

builder.subscriptionField('replay', (t) =>
  t.field({
    type: ReplayEventType,
    description:
      'Sends past events as the live subscriptions would have sent them, at a chosen speed: the state at from, then every change up to and including to, at the end of the second in which it happened. Data is as in asOf. The last event is of kind end. A client that reads slowly delays its replay.',
    args: {
      topics: t.arg({
        type: [TopicInput],
        required: true,
        description:
          'At most 50 topics, in addition to quotes. Events of one second are sent in their order, quotes first.',
      }),
      from: t.arg({
        type: 'PointInTime',
        required: true,
        description: 'Start; a date means its start in tz. A future time is invalid_params.',
      }),
      to: t.arg({
        type: 'PointInTime',
        description: 'End, at most 31 days after from; a date means its start in tz. Default, and latest: now.',
      }),
      tz: t.arg({ type: 'TimeZone', description: 'Time zone of from and to. Default: America/New_York.' }),
      speed: t.arg.float({
        defaultValue: 1,
        description: `Seconds of the past per second, from ${replaySpeeds.slowest} to ${replaySpeeds.fastest}. At most 500 states of topics are read per second. 20 of them cost a request, beside what is selected of their events; a replay waits while the minute is spent.`,
      }),
    },
    scope: 'market.live',
    price: {
      once: 2.5,
      each: topicPoints,
      times: ({ topics }) => itemsAsked(topics.length, mostPaid),
    },
    extensions: { contextBelow: ({ context }: ReplayedHere) => context },
    subscribe: (_root, args, context) => replay(context, args),
    resolve: ({ value }: { value: ReplayedEvent }, _args, context): ReplayedHere => ({
      ...value,
      context: contextAtTime(context, value.atMs),
    }),
  }),
);
