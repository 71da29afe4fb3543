import { exchangeTimeZone } from '../../domain/market-time.ts';
import {
  type ActivityRow,
  type CompositionRow,
  type ConcentrationRow,
  disclosureThreshold,
  type ProfileRow,
} from '../../domain/off-exchange.ts';
import {
  type OffExchangeMeta,
  type OffExchangePage,
  type OffExchangeTable,
  offExchangeLimits,
  offExchangePage,
} from '../../resolvers/offexchange/off-exchange.ts';
import { builder } from '../builder.ts';
import { costs, itemsAsked } from '../cost.ts';
import { type SymbolNode, SymbolType } from '../market/symbol.ts';
import { ResponseMetaInterface } from '../response-meta.ts';

const ActivityRowType = builder.objectRef<ActivityRow>('OffExchangeActivityRow').implement({
  description: "A session's off-exchange total.",
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session.' }),
    offExchVolume: t.exposeFloat('offExchVolume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Executions.' }),
    avgSize: t.exposeFloat('avgSize', { description: 'Shares an execution.' }),
    vwap: t.exposeFloat('vwap', { description: 'Volume-weighted average price, dollars.' }),
    offExchPct: t.exposeFloat('offExchPct', {
      nullable: true,
      description: 'Fraction of consolidated volume: 0.434 = 43.4 %; null when that is unknown.',
    }),
    consolidatedVolume: t.exposeFloat('consolidatedVolume', {
      nullable: true,
      description: 'Shares on and off exchange; null when unknown.',
    }),
    consolidatedNotional: t.exposeFloat('consolidatedNotional', {
      nullable: true,
      description: 'Dollars on and off exchange; null when unknown.',
    }),
  }),
});

const CompositionRowType = builder.objectRef<CompositionRow>('OffExchangeCompositionRow').implement({
  description: "A session's off-exchange trading of one kind; the kinds of a session add up to its activity.",
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session.' }),
    category: t.exposeString('category', {
      description: 'Kind of execution, such as regular_way, average_price or derivatively_priced.',
    }),
    volume: t.exposeFloat('volume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Executions.' }),
    shareOfOffExchNotional: t.exposeFloat('shareOfOffExchNotional', {
      description: "Fraction of the session's off-exchange dollars: 0.013 = 1.3 %.",
    }),
  }),
});

const ConcentrationRowType = builder.objectRef<ConcentrationRow>('OffExchangeConcentrationRow').implement({
  description: 'A price bucket in which off-exchange trading gathered over the sessions up to a date.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Last session of the window.' }),
    bucketMidpoint: t.exposeFloat('bucketMidpoint', { description: 'Dollars.' }),
    bucketWidth: t.exposeFloat('bucketWidth', { description: 'Dollars; the bucket is midpoint ± width / 2.' }),
    volume: t.exposeFloat('volume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Executions.' }),
    distinctSessions: t.exposeInt('distinctSessions', { description: 'Sessions in which the bucket traded.' }),
    rankScore: t.exposeFloat('rankScore', { description: 'Share of dollars × share of sessions × 100.' }),
    rank: t.exposeInt('rank', { description: '1 = highest score.' }),
    bucketCount: t.exposeInt('bucketCount', { description: 'Buckets published.' }),
    distanceBps: t.exposeFloat('distanceBps', {
      nullable: true,
      description: "Basis points from the last session's reference price, negative below; null without one.",
    }),
    lookbackSessions: t.exposeInt('lookbackSessions', { description: 'Sessions of the window.' }),
  }),
});

const ProfileRowType = builder.objectRef<ProfileRow>('OffExchangeProfileRow').implement({
  description: "A session's off-exchange trading at one price.",
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session.' }),
    priceThousandths: t.expose('priceThousandths', { type: 'Long', description: 'Price, thousandths of a dollar.' }),
    volume: t.exposeFloat('volume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Executions.' }),
  }),
});

const OffExchangeMetaType = builder.objectRef<OffExchangeMeta>('OffExchangeMeta').implement({
  description: 'Metadata of a page of off-exchange rows.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    synthetic: t.exposeBoolean('synthetic', {
      description: "Always true: the service's own aggregates; no print, print id, instant or condition code.",
    }),
    suppressedCount: t.exposeInt('suppressedCount', {
      description: 'Rows of the range withheld under the disclosure threshold.',
    }),
    session: t.expose('session', {
      type: 'SessionDate',
      nullable: true,
      description: 'Last stored session of the range; null when there is none.',
    }),
    latestSession: t.expose('latestSession', {
      type: 'SessionDate',
      nullable: true,
      description: 'Last session stored of the symbol; null when there is none.',
    }),
    asOf: t.expose('asOf', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the newest figures of the range were computed, epoch ms; null when there are none.',
    }),
    historySessions: t.exposeInt('historySessions', { description: 'Sessions stored of the symbol.' }),
    count: t.exposeInt('count', { description: 'Rows on this page.' }),
    cursor: t.exposeString('cursor', { nullable: true, description: 'Continues with the next page; null at the end.' }),
    note: t.exposeString('note', { nullable: true, description: 'Why there are no rows; null when there are.' }),
    disclosureK: t.int({
      description: 'Executions a row must have to be published.',
      resolve: () => disclosureThreshold,
    }),
  }),
});

/** A symbol's off-exchange tables. */
const SymbolOffExchangeType = builder.objectRef<SymbolNode>('SymbolOffExchange').implement({
  description:
    'Off-exchange trading of a stock, end of day: a session appears the morning after it trades. Needs the basic tier and a non-professional declaration.',
});

builder.objectField(SymbolType, 'offExchange', (t) =>
  t.field({
    type: SymbolOffExchangeType,
    description: 'Off-exchange trading of this stock.',
    resolve: (node) => node,
  }),
);

const pageArgs = builder.args((arg) => ({
  from: arg.field({
    type: 'PointInTime',
    description: 'First session, inclusive. Without from and to: the latest session.',
  }),
  to: arg.field({ type: 'PointInTime', description: 'Last session, inclusive.' }),
  tz: arg.field({
    type: 'TimeZone',
    defaultValue: exchangeTimeZone,
    description: 'Time zone of local times in from and to; a bare date is the session itself.',
  }),
  limit: arg.int({
    description: `Rows a page: ${offExchangeLimits.default} by default, at most ${offExchangeLimits.max}; more is clamped and reported in meta.caps.applied.`,
  }),
  cursor: arg.string({ description: 'meta.cursor of the page before.' }),
}));

/** Adds a table to `SymbolOffExchange`: the page type of its rows and the field. */
function table<T extends OffExchangeTable>(name: T, pageName: string, rowType: object, description: string): void {
  const page = builder.objectRef<OffExchangePage<T>>(pageName).implement({
    description: `A page: ${description}`,
    fields: (t) => ({
      rows: t.field({
        type: [rowType as typeof ActivityRowType],
        extensions: costs({ rows: 'page' }),
        description: 'By session, then rank, category or price, ascending.',
        resolve: ({ rows }) => rows as unknown as ActivityRow[],
      }),
      meta: t.field({ type: OffExchangeMetaType, description: 'Metadata of the page.', resolve: ({ meta }) => meta }),
    }),
  });
  builder.objectField(SymbolOffExchangeType, name, (t) =>
    t.field({
      type: page,
      nullable: true,
      description,
      args: pageArgs,
      extensions: {
        scopeGroup: 'analytics.offexchange',
        ...costs<{ limit?: number | null }>({
          once: 2.5,
          each: ({ page }) => 0.1 + 0.002 * page,
          sizes: ({ limit }) => ({ page: itemsAsked(limit, offExchangeLimits.max, offExchangeLimits.default) }),
        }),
      },
      resolve: ({ symbol }, args, context) => offExchangePage(context, symbol, name, args),
    }),
  );
}

table('activity', 'OffExchangeActivityPage', ActivityRowType, 'Off-exchange totals by session.');
table('composition', 'OffExchangeCompositionPage', CompositionRowType, 'Off-exchange trading by session and kind.');
table(
  'concentration',
  'OffExchangeConcentrationPage',
  ConcentrationRowType,
  'Price buckets in which off-exchange trading gathered, by rank.',
);
table('profile', 'OffExchangeProfilePage', ProfileRowType, 'Off-exchange trading by session and price.');
