import { readEventId } from '../../core/domain/flow/event-id.ts';
import type { FlowEvent, FlowEventKind, FlowLeg, LargeTrade, LargeTradesTotal } from '../../core/domain/flow/flow.ts';
import {
  flowEvent,
  type LargeTradesMeta,
  type LargeTradesPage,
  largeTradeLimits,
  largeTrades,
  largeTradesOf,
  largeTradesOfContract,
} from '../../resolvers/flow/large-trades.ts';
import { builder } from '../builder.ts';
import { OptionContractType, OptionRightEnum } from '../chain/contract.ts';
import { type FieldCost, itemsAsked } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { marketField } from '../market/as-of.ts';
import { metaOf } from '../meta-of.ts';
import { node } from '../node.ts';
import { FlowCoverageType, FlowSideEnum, SymbolFlowType } from './flow.ts';

const FlowEventKindEnum = builder.enumType('FlowEventKind', {
  description: 'One print, one order swept across several exchanges, or several contracts traded as one.',
  values: enumValues<FlowEventKind>({
    single_block: 'One print.',
    sweep: 'One order executed on several exchanges within half a second.',
    multi_leg: 'Several contracts of one underlying traded as one order, or a print tied to stock.',
  }),
});

/** A leg; its edge to the market around it is in `print-context.ts`, as is that of an event. */
export const FlowLegType = builder.objectRef<FlowLeg>('FlowLeg').implement({
  description: "One contract's part of a large trade.",
  fields: (t) => ({
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    price: t.exposeFloat('price', { description: 'Dollars a share.' }),
    size: t.exposeInt('size', { description: 'Contracts.' }),
    premiumUsd: t.exposeFloat('premiumUsd', { description: 'Price × size × multiplier, dollars.' }),
    exchange: t.exposeInt('exchange', { description: "The tape's exchange id." }),
    conditions: t.exposeIntList('conditions', {
      size: { rows: 'conditions' },
      description: "The tape's condition ids.",
    }),
    eventTsMs: t.expose('eventTsMs', { type: 'EpochMs', description: 'Time of the print, epoch ms.' }),
    sequence: t.expose('sequence', { type: 'Long', description: 'Sequence number of the print on the tape.' }),
    side: t.expose('side', { type: FlowSideEnum, description: 'Side of the print.' }),
    multiLeg: t.exposeBoolean('multiLeg', { description: 'True if the tape marks it as part of a multi-leg trade.' }),
  }),
});

/** A detected large trade. */
export const FlowEventType = builder.objectRef<FlowEvent>('FlowEvent').implement({
  description: 'A detected large trade.',
  fields: (t) => ({
    eventId: t.exposeString('eventId', {
      description:
        '<kind>:<contract>:<epoch ms>:<sequence of the first leg>. Reading the tape again gives the same id.',
    }),
    eventKind: t.expose('eventKind', { type: FlowEventKindEnum, description: 'Block, sweep or multi-leg.' }),
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Underlying.' }),
    eventTsMs: t.expose('eventTsMs', { type: 'EpochMs', description: 'Time of the first leg, epoch ms.' }),
    legs: t.expose('legs', {
      type: [FlowLegType],
      size: { rows: 'legs' },
      description: 'Legs by time, then sequence. A single block has one.',
    }),
    totalSize: t.expose('totalSize', { type: 'Long', description: 'Contracts over all legs.' }),
    premiumUsd: t.exposeFloat('premiumUsd', { description: 'Premium over all legs, dollars.' }),
    priceLow: t.exposeFloat('priceLow', { description: 'Lowest leg price, dollars a share.' }),
    priceHigh: t.exposeFloat('priceHigh', { description: 'Highest leg price, dollars a share.' }),
    side: t.expose('side', { type: FlowSideEnum, description: 'Side shared by all legs.' }),
    multiLeg: t.exposeBoolean('multiLeg', { description: 'True for a multi-leg trade.' }),
  }),
});

/** Points of reading one event: those of a page of one. */
const eventPoints = 2.5 + 0.1 + 0.025;

node(
  FlowEventType,
  ({ eventId }) => eventId,
  (eventId) => {
    const id = readEventId(eventId);
    return id && { points: eventPoints, read: (context) => flowEvent(context, id) };
  },
  'analytics.flow',
);

const BigTradeKindEnum = builder.enumType('LargeTradeUpdateKind', {
  description: 'Kind of a large-trade update.',
  values: enumValues<'big_trade'>({ big_trade: 'A large trade was detected.' }),
});

const LargeTradeUpdateType = builder.objectRef<FlowEvent>('LargeTradeUpdate').implement({
  description: 'An update of the large-trade feed.',
  fields: (t) => ({
    kind: t.field({
      type: BigTradeKindEnum,
      description: 'Always big_trade.',
      resolve: () => 'big_trade' as const,
    }),
    event: t.field({ type: FlowEventType, description: 'The trade.', resolve: (event) => event }),
  }),
});

/** A large trade, in pages and live. */
export const LargeTradeType = builder.objectRef<LargeTrade>('LargeTrade').implement({
  description: 'A large trade in the feed of its underlying.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Underlying.' }),
    seq: t.expose('seq', { type: 'Long', description: 'Sequence number; increases with every event of the feed.' }),
    coverage: t.field({
      type: FlowCoverageType,
      description: "Observed part of the trade's session.",
      resolve: ({ symbol, coverage }) => ({ ...coverage, symbol }),
    }),
    update: t.field({ type: LargeTradeUpdateType, description: 'The trade.', resolve: ({ event }) => event }),
  }),
});

const LargeTradesTotalType = builder.objectRef<LargeTradesTotal>('LargeTradesTotal').implement({
  description: 'The large trades that pass the filter, on all pages.',
  fields: (t) => ({
    count: t.expose('count', { type: 'Long', description: 'Number of large trades.' }),
    premiumUsd: t.exposeFloat('premiumUsd', { description: 'Their premium, dollars.' }),
  }),
});

const LargeTradesMetaType = metaOf<LargeTradesMeta>('LargeTradesMeta', 'market', 'Metadata of large trades.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of events in the answer.' }),
  limit: t.exposeInt('limit', { description: 'Maximum number of events, after clamping.' }),
  retention: t.exposeString('retention', {
    description: 'intraday_24h: the live feed of about a day. stored_session: the session that was requested.',
  }),
  limitClamped: t.exposeBoolean('limitClamped', {
    nullable: true,
    description: 'True if a larger limit was requested; null otherwise.',
  }),
  cursor: t.exposeString('cursor', {
    nullable: true,
    description: 'Cursor of the next page. Null on the last page, and for large trades of all underlyings.',
  }),
  total: t.field({
    type: LargeTradesTotalType,
    nullable: true,
    price: { once: 2.5, each: 0.05 },
    description: 'Totals of all pages. Null for large trades of all underlyings.',
    resolve: ({ total }) => total(),
  }),
}));

const LargeTradesPageType = builder.objectRef<LargeTradesPage>('LargeTradesPage').implement({
  description: 'Detected large trades, newest first.',
  fields: (t) => ({
    events: t.expose('events', {
      type: [LargeTradeType],
      size: { rows: 'page' },
      description: 'Newest first; empty if nothing qualifies.',
    }),
    meta: t.expose('meta', { type: LargeTradesMetaType, description: 'Metadata of the answer.' }),
  }),
});

const filterArgs = builder.args((arg) => ({
  session: arg.field({
    type: 'SessionDate',
    description:
      'Only this session. Default: the live feed since the same time of day on the previous trading day; on a day without trading, at least the whole last session.',
  }),
  minPremiumUsd: arg.float({ description: 'Minimum total premium, dollars. Applied before limit.' }),
  limit: arg.int({
    description: `Number of events. Default ${largeTradeLimits.default}, at most ${largeTradeLimits.max} (${largeTradeLimits.keyMax} with an API key); a larger value is clamped and reported.`,
  }),
}));

interface LimitArgs {
  limit?: number | null | undefined;
}

const pageCost: FieldCost<LimitArgs> = {
  once: 2.5,
  each: ({ page }) => 0.25 + 0.025 * page,
  sizes: ({ limit }, { kind }) => ({
    page: itemsAsked(limit, largeTradeLimits[kind === 'key' ? 'keyMax' : 'max'], largeTradeLimits.default),
  }),
};
const served = { type: LargeTradesPageType, nullable: true, price: pageCost } as const;

const pageArgs = builder.args((arg) => ({
  ...filterArgs,
  kind: arg.field({ type: FlowEventKindEnum, description: 'Only this kind.' }),
  side: arg.field({ type: FlowSideEnum, description: 'Only this side.' }),
  cursor: arg.string({ description: 'Cursor of the previous page, with the other arguments unchanged.' }),
}));

builder.objectField(OptionContractType, 'largeTrades', (t) =>
  t.field({
    ...served,
    scope: 'analytics.flow',
    description: 'Detected large trades of this contract, alone or with other legs, newest first.',
    args: pageArgs,
    resolve: (contract, args, context) => largeTradesOfContract(context, contract, args),
  }),
);

builder.objectField(SymbolFlowType, 'largeTrades', (t) =>
  t.field({
    ...served,
    scope: 'analytics.flow',
    description: 'Detected large trades of this underlying, newest first.',
    args: {
      ...pageArgs,
      right: t.arg({ type: OptionRightEnum, description: 'Only trades with a leg of this right.' }),
      expiry: t.arg({
        type: 'SessionDate',
        description: 'Only trades with a leg of this expiration; with right, the same leg must match both.',
      }),
    },
    resolve: ({ symbol }, args, context) => largeTradesOf(context, symbol, args),
  }),
);

marketField('largeTrades', (t) =>
  t.field({
    ...served,
    scope: 'analytics.flow',
    // Over all underlyings, each event may be in another feed.
    price: { ...pageCost, each: ({ page }) => 0.18 * page },
    description:
      'Detected large trades of all underlyings, newest first. An API key must send symbol or minPremiumUsd.',
    args: {
      symbol: t.arg({ type: 'Ticker', description: 'Only this underlying. Default: all.' }),
      ...filterArgs,
    },
    resolve: (_root, args, context) => largeTrades(context, args),
  }),
);
