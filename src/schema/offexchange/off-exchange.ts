import { exchangeTimeZone } from '../../domain/market-time.ts';
import {
  type ActivityRow,
  type CompositionRow,
  type ConcentrationRow,
  disclosureThreshold,
  type ProfileRow,
} from '../../domain/offexchange/off-exchange.ts';
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
import { byTicker, node } from '../node.ts';
import { ResponseMetaInterface } from '../response-meta.ts';

const ActivityRowType = builder.objectRef<ActivityRow>('OffExchangeActivityRow').implement({
  description: 'Off-exchange total of a session.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session.' }),
    offExchVolume: t.exposeFloat('offExchVolume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Number of executions.' }),
    avgSize: t.exposeFloat('avgSize', { description: 'Average shares per execution.' }),
    vwap: t.exposeFloat('vwap', { description: 'Volume-weighted average price, dollars.' }),
    offExchPct: t.exposeFloat('offExchPct', {
      nullable: true,
      description: 'Fraction of consolidatedVolume: 0.434 = 43.4 %; null when that is unknown.',
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
  description: 'Off-exchange trading of one kind in a session. The kinds of a session add up to its activity.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session.' }),
    category: t.exposeString('category', {
      description: 'Kind of execution, such as regular_way, average_price or derivatively_priced.',
    }),
    volume: t.exposeFloat('volume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Number of executions.' }),
    shareOfOffExchNotional: t.exposeFloat('shareOfOffExchNotional', {
      description: "Fraction of the session's off-exchange dollars: 0.013 = 1.3 %.",
    }),
  }),
});

const ConcentrationRowType = builder.objectRef<ConcentrationRow>('OffExchangeConcentrationRow').implement({
  description: 'A price bucket with concentrated off-exchange trading over the sessions up to a date.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Last session of the window.' }),
    bucketMidpoint: t.exposeFloat('bucketMidpoint', { description: 'Dollars.' }),
    bucketWidth: t.exposeFloat('bucketWidth', { description: 'Dollars; the bucket is midpoint ± width / 2.' }),
    volume: t.exposeFloat('volume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Number of executions.' }),
    distinctSessions: t.exposeInt('distinctSessions', {
      description: 'Number of sessions in which the bucket traded.',
    }),
    rankScore: t.exposeFloat('rankScore', { description: 'Share of dollars × share of sessions × 100.' }),
    rank: t.exposeInt('rank', { description: '1 = highest score.' }),
    bucketCount: t.exposeInt('bucketCount', { description: 'Number of buckets published.' }),
    distanceBps: t.exposeFloat('distanceBps', {
      nullable: true,
      description:
        "Distance from the last session's reference price, basis points; negative below it. Null without a reference price.",
    }),
    lookbackSessions: t.exposeInt('lookbackSessions', { description: 'Number of sessions in the window.' }),
  }),
});

const ProfileRowType = builder.objectRef<ProfileRow>('OffExchangeProfileRow').implement({
  description: 'Off-exchange trading of a session at one price.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session.' }),
    priceThousandths: t.expose('priceThousandths', { type: 'Long', description: 'Price, thousandths of a dollar.' }),
    volume: t.exposeFloat('volume', { description: 'Shares.' }),
    notional: t.exposeFloat('notional', { description: 'Dollars.' }),
    tradeCount: t.expose('tradeCount', { type: 'Long', description: 'Number of executions.' }),
  }),
});

const OffExchangeMetaType = builder.objectRef<OffExchangeMeta>('OffExchangeMeta').implement({
  description: 'Metadata of a page of off-exchange rows.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    synthetic: t.exposeBoolean('synthetic', {
      description:
        'Always true: rows are aggregates of the service, without prints, print ids, times or condition codes.',
    }),
    suppressedCount: t.exposeInt('suppressedCount', {
      description: 'Number of rows in the range withheld under the disclosure threshold.',
    }),
    session: t.expose('session', {
      type: 'SessionDate',
      nullable: true,
      description: 'Last stored session in the range; null if there is none.',
    }),
    latestSession: t.expose('latestSession', {
      type: 'SessionDate',
      nullable: true,
      description: 'Last session stored for the symbol; null if there is none.',
    }),
    asOf: t.expose('asOf', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the latest figures in the range were computed, epoch ms; null if there are none.',
    }),
    historySessions: t.exposeInt('historySessions', { description: 'Number of sessions stored for the symbol.' }),
    count: t.exposeInt('count', { description: 'Number of rows on this page.' }),
    cursor: t.exposeString('cursor', {
      nullable: true,
      description: 'Cursor of the next page; null on the last page.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'Why there are no rows; null if there are any.' }),
    disclosureK: t.int({
      description: 'Minimum number of executions for a row to be published.',
      resolve: () => disclosureThreshold,
    }),
  }),
});

/** A symbol's off-exchange tables. */
const SymbolOffExchangeType = builder.objectRef<SymbolNode>('SymbolOffExchange').implement({
  description:
    'Off-exchange trading of a stock by session. A session is available from the next morning. Requires the basic tier and a non-professional declaration.',
});

node(
  SymbolOffExchangeType,
  ({ symbol }) => symbol,
  byTicker((_context, symbol) => ({ symbol })),
);

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
    description: 'First session, inclusive. Default without from and to: the latest session.',
  }),
  to: arg.field({ type: 'PointInTime', description: 'Last session, inclusive.' }),
  tz: arg.field({
    type: 'TimeZone',
    defaultValue: exchangeTimeZone,
    description: 'Time zone of local times in from and to. A bare date is the session itself.',
  }),
  limit: arg.int({
    description: `Rows per page. Default ${offExchangeLimits.default}, at most ${offExchangeLimits.max}; a larger value is clamped and reported in meta.caps.applied.`,
  }),
  cursor: arg.string({ description: 'meta.cursor of the previous page.' }),
}));

/** Adds a table to `SymbolOffExchange`: the page type of its rows and the field. */
function table<T extends OffExchangeTable>(name: T, pageName: string, rowType: object, description: string): void {
  const page = builder.objectRef<OffExchangePage<T>>(pageName).implement({
    description: `A page of rows: ${description[0]!.toLowerCase()}${description.slice(1)}`,
    fields: (t) => ({
      rows: t.field({
        type: [rowType as typeof ActivityRowType],
        extensions: costs({ rows: 'page' }),
        description: 'Rows ascending by session, then by rank, category or price.',
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
  'Price buckets with the most off-exchange trading, by rank.',
);
table('profile', 'OffExchangeProfilePage', ProfileRowType, 'Off-exchange trading by session and price.');
