import { exchangeTimeZone } from '../../domain/market-time.ts';
import { inShares, strikeRows } from '../../resolvers/gex/gex.ts';
import { type GexGrid, type GexGridMeta, gexGrid } from '../../resolvers/gex/grid.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { ResponseMetaInterface } from '../response-meta.ts';
import { strikeSizes } from './cost.ts';
import { GexStrikeType, SymbolGexType } from './gex.ts';

const GexGridMetaType = builder.objectRef<GexGridMeta>('GexGridMeta').implement({
  description: 'Metadata of a grid.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Session of the capture, or the date asked for.' }),
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    strikeCount: t.exposeInt('strikeCount', { description: 'Strikes in the answer.' }),
    expiredFiltered: t.exposeBoolean('expiredFiltered', {
      nullable: true,
      description: 'True when expiries that have settled were left out of a live grid; null otherwise.',
    }),
    dte: t.exposeInt('dte', { nullable: true, description: 'Days to expiry asked for; null when not sent.' }),
    dteExpiry: t.expose('dteExpiry', {
      type: 'SessionDate',
      nullable: true,
      description: 'The expiry that dte stands for; null when dte was not sent.',
    }),
  }),
});

const GexGridType = builder.objectRef<GexGrid>('GexGrid').implement({
  description: 'One capture by strike, over the expiries asked for. Totals are over all its strikes, before top.',
  fields: (t) => ({
    capturedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null when nothing was.',
      resolve: ({ capture }) => capture?.capturedAt ?? null,
    }),
    spot: t.float({
      nullable: true,
      description: "The underlying's price, dollars; null when unknown.",
      resolve: ({ capture }) => capture?.spot ?? null,
    }),
    priorCloseSpot: t.float({
      nullable: true,
      description: "The underlying's close of the session before, dollars; null when unknown.",
      resolve: ({ capture }) => capture?.priorCloseSpot ?? null,
    }),
    netGex: t.float({
      nullable: true,
      description: 'Sum of gex, dollars per $1 move; null when nothing was captured.',
      resolve: ({ capture }) => capture?.netGex ?? null,
    }),
    netGexShares: t.float({
      nullable: true,
      description: 'netGex in shares per $1 move; null when no price is known.',
      resolve: ({ capture }) => capture && inShares(capture, capture.netGex),
    }),
    flipPoint: t.float({
      nullable: true,
      description: 'Price, dollars, at which the cumulative net curve crosses zero; null when it does not.',
      resolve: ({ capture }) => capture?.flipPoint ?? null,
    }),
    maxAbsGex: t.exposeFloat('maxAbsGex', {
      nullable: true,
      description: 'Largest |gex| of a row, dollars per $1 move; null when nothing was captured.',
    }),
    maxAbsGexShares: t.float({
      nullable: true,
      description: 'maxAbsGex in shares per $1 move; null when no price is known.',
      resolve: ({ capture, maxAbsGex }) => capture && inShares(capture, maxAbsGex),
    }),
    adhoc: t.exposeBoolean('adhoc', {
      description: 'True when the totals were computed for the expiries asked for, not at the capture.',
    }),
    strikes: t.field({
      type: [GexStrikeType],
      extensions: costs({ rows: 'strikes' }),
      description: 'Rows ascending by strike (then expiry).',
      resolve: ({ capture }) => (capture ? strikeRows(capture) : []),
    }),
    meta: t.expose('meta', { type: GexGridMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolGexType, 'grid', (t) =>
  t.field({
    type: GexGridType,
    nullable: true,
    extensions: {
      scopeGroup: 'analytics.gex',
      ...costs<{ top?: number | null; byExpiry?: boolean | null }>({
        once: 2.5,
        each: 0.15,
        sizes: ({ top, byExpiry }) => strikeSizes(top, byExpiry),
      }),
    },
    description: 'The latest capture by strike, without expiries that have settled; or one of the past as it was.',
    args: {
      at: t.arg({
        type: 'PointInTime',
        description: 'The last capture at or before this time instead of live; of a bare date, its last.',
      }),
      tz: t.arg({ type: 'TimeZone', defaultValue: exchangeTimeZone, description: 'Time zone of a local time in at.' }),
      expiries: t.arg({ type: ['SessionDate'], description: 'Only these expiries.' }),
      dte: t.arg.int({ description: 'Only 0: the expiry of the day. Not together with expiries.' }),
      top: t.arg.int({ description: 'Keep the strikes with the largest |net gex|, so many; all by default.' }),
      byExpiry: t.arg.boolean({ defaultValue: false, description: 'Rows by strike and expiry instead of net rows.' }),
    },
    resolve: ({ symbol }, args, context) => gexGrid(context, symbol, args),
  }),
);
