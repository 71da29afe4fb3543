import type { Columns } from '../../core/domain/columns.ts';
import {
  disclosureThreshold,
  type OffExchangeTable,
  offExchangeLimits,
} from '../../core/domain/offexchange/off-exchange.ts';
import { offExchangeColumns } from '../../core/domain/offexchange/off-exchange-columns.ts';
import { fromThousandths } from '../../core/domain/units.ts';
import {
  type NearestLevel,
  type NearestStrike,
  nearestLevel,
  nearestStrike,
  type OffExchangeMeta,
  type OffExchangePage,
  offExchangePage,
  type StoredRow,
} from '../../resolvers/offexchange.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { itemsAsked } from '../cost.ts';
import { GexStrikeType } from '../gex/capture.ts';
import { zoneOf } from '../instant-args.ts';
import { type SymbolNode, SymbolType } from '../market/symbol.ts';
import { metaOf } from '../meta-of.ts';
import { byTicker, node } from '../node.ts';

const OffExchangeMetaType = metaOf<OffExchangeMeta>(
  'OffExchangeMeta',
  'market',
  'Metadata of a page of off-exchange rows.',
  (t) => ({
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
);

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
  tz: arg.field(zoneOf('local times in from and to. A bare date is the session itself')),
  limit: arg.int({
    description: `Rows per page. Default ${offExchangeLimits.default}, at most ${offExchangeLimits.max}; a larger value is clamped and reported in meta.caps.applied.`,
  }),
  cursor: arg.string({ description: 'meta.cursor of the previous page.' }),
}));

/** Adds a table to `SymbolOffExchange`: the field, and the types of a page and of its rows, which it returns. */
function table<T extends OffExchangeTable>(name: T, rowDescription: string, description: string) {
  const typeName = `OffExchange${name[0]!.toUpperCase()}${name.slice(1)}`;
  const row = builder.objectRef<StoredRow<T>>(`${typeName}Row`).implement({
    description: rowDescription,
    fields: (t) => columnFields(t, offExchangeColumns[name] as Columns),
  });
  const page = builder.objectRef<OffExchangePage<T>>(`${typeName}Page`).implement({
    description: `A page of rows: ${description[0]!.toLowerCase()}${description.slice(1)}`,
    fields: (t) => ({
      rows: t.field({
        type: [row],
        size: { rows: 'page' },
        description: 'Rows ascending by session, then by rank, category or price.',
        resolve: ({ rows }) => rows,
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
      scope: 'analytics.offexchange',
      price: {
        once: 2.5,
        each: ({ page }) => 0.1 + 0.002 * page,
        sizes: ({ limit }) => ({ page: itemsAsked(limit, offExchangeLimits.max, offExchangeLimits.default) }),
      },
      resolve: ({ symbol }, args, context) => offExchangePage(context, symbol, name, args),
    }),
  );
  return row;
}

table('activity', 'Off-exchange total of a session.', 'Off-exchange totals by session.');
table(
  'composition',
  'Off-exchange trading of one kind in a session. The kinds of a session add up to its activity.',
  'Off-exchange trading by session and kind.',
);
/** A price bucket; its edge to gamma strikes is in `nearest.ts`, as is that of a row of the profile. */
const ConcentrationRowType = table(
  'concentration',
  'A price bucket with concentrated off-exchange trading over the sessions up to a date.',
  'Price buckets with the most off-exchange trading, by rank.',
);

/** A price of a session. */
const ProfileRowType = table(
  'profile',
  'Off-exchange trading of a session at one price.',
  'Off-exchange trading by session and price.',
);

const NearestStrikeType = builder.objectRef<NearestStrike>('NearestStrike').implement({
  description: 'The gamma strike nearest to a price of off-exchange trading.',
  fields: (t) => ({
    strike: t.expose('strike', { type: GexStrikeType, description: 'The net row of the strike.' }),
    distance: t.exposeFloat('distance', {
      description: "Strike minus price, dollars in shares of the capture's session; negative below the price.",
    }),
    distanceBps: t.exposeFloat('distanceBps', { description: 'The same in basis points of the price.' }),
  }),
});

const NearestLevelType = builder.objectRef<NearestLevel>('NearestLevel').implement({
  description: 'The off-exchange price bucket nearest to a gamma strike.',
  fields: (t) => ({
    level: t.expose('level', { type: ConcentrationRowType, description: 'The price bucket.' }),
    distance: t.exposeFloat('distance', {
      description:
        "Midpoint of the bucket minus strike, dollars in shares of the capture's session; negative below the strike.",
    }),
    distanceBps: t.exposeFloat('distanceBps', { description: 'The same in basis points of the strike.' }),
  }),
});

const toStrike = {
  type: NearestStrikeType,
  nullable: true,
  price: { once: 1.5, each: 0.015 },
  description:
    "The nearest strike of the symbol's latest GEX capture; null if there is none. Of two equally near strikes, the lower one. Prices are divided by the splits since.",
} as const;

builder.objectField(ConcentrationRowType, 'nearestStrike', (t) =>
  t.field({
    ...toStrike,
    scope: 'analytics.gex',
    resolve: ({ symbol, date, bucketMidpoint }, _args, context) =>
      nearestStrike(context, { symbol, date, price: bucketMidpoint }),
  }),
);

builder.objectField(ProfileRowType, 'nearestStrike', (t) =>
  t.field({
    ...toStrike,
    scope: 'analytics.gex',
    resolve: ({ symbol, date, priceThousandths }, _args, context) =>
      nearestStrike(context, { symbol, date, price: fromThousandths(priceThousandths) }),
  }),
);

builder.objectField(GexStrikeType, 'nearestLevel', (t) =>
  t.field({
    type: NearestLevelType,
    nullable: true,
    scope: 'analytics.offexchange',
    price: { once: 2.5, each: 0.015 },
    description:
      'The nearest off-exchange price bucket of the last session published by the time of the capture; a session is published at 06:00 New York of the next trading day. Null if there is none. Prices are divided by the splits since.',
    resolve: (row, _args, context) => nearestLevel(context, row),
  }),
);
