import type { BarColumns, StockBar } from '../../core/domain/market/bar.ts';
import { barNumbers, stockBarNumbers } from '../../core/domain/market/bar-columns.ts';
import { maxSessions, sessionDates } from '../../resolvers/market/session-dates.ts';
import { lastSession } from '../../resolvers/market/sessions.ts';
import {
  type BarAdjustment,
  barLimits,
  barsAsked,
  priorClose,
  type StockBarsMeta,
  type StockBarsPage,
  stockBarRows,
  stockBars,
} from '../../resolvers/market/stock-bars.ts';
import { builder } from '../builder.ts';
import { columnFields, columnLists } from '../column-fields.ts';
import { enumValues } from '../enum-values.ts';
import { zoneOf } from '../instant-args.ts';
import { metaOf } from '../meta-of.ts';
import { mostSplits, SplitType } from './corporate.ts';
import { SymbolType } from './symbol.ts';

const BarAdjustmentEnum = builder.enumType('BarAdjustment', {
  description: 'Adjustment of bars for splits.',
  values: enumValues<BarAdjustment>({
    raw: 'Prices and volumes as printed.',
    split: 'Prices divided and volumes multiplied by the splits between the bar and now.',
  }),
});

/** A bar, in pages and live. */
export const StockBarType = builder.objectRef<StockBar>('StockBar').implement({
  description: 'One OHLCV bar of a stock.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    timeframe: t.expose('timeframe', { type: 'Timeframe', description: 'Length of the bar.' }),
    ...columnFields(t, stockBarNumbers),
  }),
});

/** Bars as columns, shared by stock and option bars. */
export const BarColumnsType = builder.objectRef<BarColumns>('BarColumns').implement({
  description:
    'The same bars as columns: one array per measure, all of the same length, ascending by time. Smaller than rows; meant for charts.',
  fields: (t) => columnLists(t, barNumbers, { rows: 'page' }),
});

const StockBarsMetaType = metaOf<StockBarsMeta>(
  'StockBarsMeta',
  'market',
  'Metadata of a page of stock bars.',
  (t) => ({
    rowCount: t.exposeInt('rowCount', { description: 'Number of bars on this page.' }),
    completeThrough: t.expose('completeThrough', {
      type: 'EpochMs',
      nullable: true,
      description:
        'Start of the last complete bar in range, epoch ms. Later bars can still change. Null if there is none.',
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Reason for which the range can hold no bar, or that an index has no volume; null if neither.',
    }),
    adjusted: t.exposeBoolean('adjusted', {
      nullable: true,
      description:
        'True if the bars are adjusted for splits. Null if they are as printed and no split is in the range.',
    }),
    splits: t.field({
      type: [SplitType],
      nullable: true,
      description: 'The splits in the range; null if there are none.',
      size: { rows: mostSplits },
      resolve: ({ splits }) => splits,
    }),
    cursor: t.exposeString('cursor', {
      nullable: true,
      description: 'Cursor of the next page; null on the last page.',
    }),
  }),
);

/** A page of bars, of a symbol and around prints. */
export const StockBarsPageType = builder.objectRef<StockBarsPage>('StockBarsPage').implement({
  description: 'A page of stock bars, as rows and as columns.',
  fields: (t) => ({
    rows: t.field({
      type: [StockBarType],
      size: { rows: 'page' },
      description: 'Bars ascending by time.',
      resolve: stockBarRows,
    }),
    columns: t.field({ type: BarColumnsType, description: 'The same bars as columns.', resolve: (page) => page.bars }),
    priorClose: t.float({
      nullable: true,
      description: 'Close of the session before the first bar, dollars, adjusted as the bars are; null when unknown.',
      scope: 'parent',
      price: { once: 0.8, each: 0.08 },
      resolve: (page, _args, context) => priorClose(context, page),
    }),
    meta: t.field({ type: StockBarsMetaType, description: 'Metadata of the page.', resolve: (page) => page.meta }),
  }),
});

builder.objectField(SymbolType, 'lastSession', (t) =>
  t.field({
    type: 'SessionDate',
    nullable: true,
    description: 'Latest session with a stored daily bar, however long ago; null if there is none.',
    scope: 'market.bars',
    price: { once: 0.2, each: 0.02 },
    resolve: ({ symbol }, _args, context) => lastSession(context, symbol),
  }),
);

builder.objectField(SymbolType, 'sessionDates', (t) =>
  t.field({
    type: ['SessionDate'],
    nullable: true,
    description: `Sessions with stored minute bars, dealer gamma, option chains, option flow or off-exchange trading, latest first; at most ${maxSessions}.`,
    scope: 'market.bars',
    price: { once: 0.4, each: 0.08, rows: maxSessions },
    resolve: ({ symbol }, _args, context) => sessionDates(context, symbol),
  }),
);

builder.objectField(SymbolType, 'bars', (t) =>
  t.field({
    type: StockBarsPageType,
    nullable: true,
    description:
      'OHLCV bars in [from, to). An API key reads at most 1,000 bars per page and a span limited by timeframe. A larger request is clamped and reported in meta.caps.applied.',
    args: {
      from: t.arg({ type: 'PointInTime', required: true, description: 'Start, inclusive.' }),
      to: t.arg({ type: 'PointInTime', required: true, description: 'End, exclusive.' }),
      tz: t.arg(zoneOf('local times in from and to')),
      timeframe: t.arg({ type: 'Timeframe', defaultValue: '1m', description: 'Length of a bar.' }),
      limit: t.arg.int({
        description: `Bars per page. Default ${barLimits.default}, at most ${barLimits.max}; ${barLimits.keyMax} with an API key.`,
      }),
      cursor: t.arg.string({ description: 'meta.cursor of the previous page.' }),
      source: t.arg.string({ description: 'Kind of bars. Only trade is supported.' }),
      adjust: t.arg({
        type: BarAdjustmentEnum,
        defaultValue: 'raw',
        description: 'Prices as printed (raw), or in shares of now (split).',
      }),
    },
    scope: 'market.bars',
    price: {
      once: 1.2,
      each: ({ page }) => 0.1 + 0.0002 * page,
      sizes: (args, { kind }) => ({ page: barsAsked(args, kind) }),
    },
    resolve: (node, args, context) => stockBars(context, node.symbol, args),
  }),
);
