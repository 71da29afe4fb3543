import { flipStatusOf, inShares, priorCloseOf, strikeRows } from '../../resolvers/gex/gex.ts';
import { type GexGrid, type GexGridMeta, gexGrid } from '../../resolvers/gex/grid.ts';
import { builder } from '../builder.ts';
import { instantArgs } from '../instant-args.ts';
import { metaOf } from '../meta-of.ts';
import { captureNote, delayedSourceTime, QuoteTimeInterface } from '../quote-time.ts';
import { FlipStatusEnum, flipStatusText, GexStrikeType } from './capture.ts';
import { strikeSizes } from './cost.ts';
import { SymbolGexType } from './gex.ts';

const GexGridMetaType = metaOf<GexGridMeta>('GexGridMeta', 'prices', 'Metadata of a grid.', (t) => ({
  flipStatus: t.field({
    type: FlipStatusEnum,
    nullable: true,
    description: flipStatusText,
    scope: 'parent',
    price: { once: 0.2, each: 0.005 },
    resolve: ({ capture }, _args, context) => capture && flipStatusOf(context, capture),
  }),
  sourceTime: t.expose('sourceTime', { type: 'EpochMs', nullable: true, description: delayedSourceTime }),
  date: t.expose('date', { type: 'SessionDate', description: 'Session of the capture, or the requested date.' }),
  underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
  strikeCount: t.exposeInt('strikeCount', { description: 'Number of strikes in the answer.' }),
  note: t.exposeString('note', { nullable: true, description: captureNote }),
  expiredFiltered: t.exposeBoolean('expiredFiltered', {
    nullable: true,
    description: 'True if settled expiries were omitted from a live grid; null otherwise.',
  }),
  dte: t.exposeInt('dte', { nullable: true, description: 'Requested days to expiry; null when not sent.' }),
  dteExpiry: t.expose('dteExpiry', {
    type: 'SessionDate',
    nullable: true,
    description: 'Expiry date selected by dte; null when dte was not sent.',
  }),
}));

const GexGridType = builder.objectRef<GexGrid>('GexGrid').implement({
  description:
    'One capture by strike, over the requested expiries. Totals include all strikes; top does not change them.',
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    capturedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if there is no capture.',
      resolve: ({ capture }) => capture?.capturedAt ?? null,
    }),
    spot: t.float({
      nullable: true,
      description: 'Price of the underlying, dollars; null when unknown.',
      resolve: ({ capture }) => capture?.spot ?? null,
    }),
    priorCloseSpot: t.float({
      nullable: true,
      description: 'Prior close of the underlying, dollars; null when unknown.',
      scope: 'parent',
      price: { once: 0.2, each: 0.005 },
      resolve: ({ capture }, _args, context) => capture && priorCloseOf(context, capture),
    }),
    netGex: t.float({
      nullable: true,
      description: 'Sum of gex, dollars per $1 move; null if there is no capture.',
      resolve: ({ capture }) => capture?.netGex ?? null,
    }),
    netGexShares: t.float({
      nullable: true,
      description: 'netGex in shares per $1 move; null if no price is known.',
      resolve: ({ capture }) => capture && inShares(capture, capture.netGex),
    }),
    flipPoint: t.float({
      nullable: true,
      description: 'Price at which the cumulative net gex curve crosses zero, dollars; null if it does not.',
      resolve: ({ capture }) => capture?.flipPoint ?? null,
    }),
    maxAbsGex: t.exposeFloat('maxAbsGex', {
      nullable: true,
      description: 'Largest |gex| of a row, dollars per $1 move; null if there is no capture.',
    }),
    maxAbsGexShares: t.float({
      nullable: true,
      description: 'maxAbsGex in shares per $1 move; null if no price is known.',
      resolve: ({ capture, maxAbsGex }) => capture && inShares(capture, maxAbsGex),
    }),
    adhoc: t.exposeBoolean('adhoc', {
      description: 'True if the totals were computed for the requested expiries instead of read from the capture.',
    }),
    strikes: t.field({
      type: [GexStrikeType],
      size: { rows: 'strikes' },
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
    scope: 'analytics.gex',
    price: {
      once: 2.5,
      each: 0.15,
      sizes: ({ top, byExpiry }) => strikeSizes(top, byExpiry),
    },
    description: `The latest capture by strike: of the current session, or the last one until the next begins, without expiries that have settled; an older one, or with at, as stored.`,
    args: {
      ...instantArgs(
        'Return the last capture at or before this time instead of the live one. For a bare date: the last capture of that date.',
      ),
      expiries: t.arg({ type: ['SessionDate'], description: 'Only these expiries.' }),
      dte: t.arg.int({
        description:
          'Only 0 is accepted: the expiry that ends in the session of the capture. Cannot be combined with expiries.',
      }),
      top: t.arg.int({ description: 'Keep the N strikes with the largest |net gex|. Default: all.' }),
      byExpiry: t.arg.boolean({ defaultValue: false, description: 'Rows by strike and expiry instead of net rows.' }),
    },
    resolve: ({ symbol }, args, context) => gexGrid(context, symbol, args),
  }),
);
