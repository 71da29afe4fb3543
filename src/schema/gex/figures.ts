import { conventionTexts } from '../../core/domain/gex/convention.ts';
import {
  type GexFigures,
  type GexFiguresMeta,
  gexFigures,
  largestValues,
  type StrikeValue,
} from '../../resolvers/chain/gex-figures.ts';
import { builder } from '../builder.ts';
import { instantArgs } from '../instant-args.ts';
import { metaOf } from '../meta-of.ts';
import { delayedSourceTime, QuoteTimeInterface } from '../quote-time.ts';
import { FlipStatusEnum } from './capture.ts';
import { AppliedConventionType, GexConventionInput } from './convention.ts';
import { strikeSizes } from './cost.ts';
import { SymbolGexType } from './gex.ts';

const StrikeValueType = builder.objectRef<StrikeValue>('GexStrikeValue').implement({
  description: 'Exposure at one strike, over the expiries of the convention.',
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    value: t.exposeFloat('value', {
      description: 'Exposure, in the unit of the figures: dollars per $1 or per percent of move, or shares.',
    }),
  }),
});

/** Metadata; option flow adds its coverage in its own file. */
export const GexFiguresMetaType = metaOf<GexFiguresMeta>(
  'GexFiguresMeta',
  'prices',
  'Metadata of figures in a convention.',
  (t) => ({
    sourceTime: t.expose('sourceTime', { type: 'EpochMs', nullable: true, description: delayedSourceTime }),
    flipStatus: t.expose('flipStatus', {
      type: FlipStatusEnum,
      nullable: true,
      description: 'Reliability of the flip. Null if there are no figures, except for no_strikes.',
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why net is null; or the date of an old capture. Null if net is of the last session.',
    }),
  }),
);

const GexFiguresType = builder.objectRef<GexFigures>('GexFigures').implement({
  description:
    'Dealer gamma of one capture in a convention. In the convention of captures these are the figures of GexCapture.',
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    sessionDate: t.expose('sessionDate', {
      type: 'SessionDate',
      nullable: true,
      description: 'Exchange session of the capture; null if there is none.',
    }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if there is no capture.',
    }),
    price: t.exposeFloat('price', {
      nullable: true,
      description:
        'Price of the underlying in the figures, dollars: the spot, else the prior close. Null if there is no capture.',
    }),
    convention: t.expose('convention', {
      type: AppliedConventionType,
      description: 'The convention that the figures are in.',
    }),
    unit: t.string({
      size: { bytes: 80 },
      description: 'The unit of net and of the strikes, in words.',
      resolve: ({ convention }) => conventionTexts.unit[convention.unit],
    }),
    net: t.float({
      nullable: true,
      description: 'Sum over all strikes; null for the reason that meta gives.',
      resolve: ({ figures }) => figures?.net ?? null,
    }),
    flip: t.float({
      nullable: true,
      description: 'Price at which the exposure changes sign, dollars; null if it does not, or if net is null.',
      resolve: ({ figures }) => figures?.flip ?? null,
    }),
    callWall: t.field({
      type: 'StrikeThousandths',
      nullable: true,
      description: 'Call wall, thousandths of a dollar; null if no strike has one, or if net is null.',
      resolve: ({ figures }) => figures?.callWall ?? null,
    }),
    putWall: t.field({
      type: 'StrikeThousandths',
      nullable: true,
      description: 'Put wall, thousandths of a dollar; null if no strike has one, or if net is null.',
      resolve: ({ figures }) => figures?.putWall ?? null,
    }),
    maxPain: t.field({
      type: 'StrikeThousandths',
      nullable: true,
      description:
        'Strike at which holders of the open interest would receive the least if all expiries of the convention settled there, thousandths of a dollar; null without open interest.',
      resolve: ({ figures }) => figures?.maxPain ?? null,
    }),
    expiries: t.field({
      type: ['SessionDate'],
      size: { rows: 'expiries' },
      description: 'Live expiries that are counted, ascending.',
      resolve: ({ figures }) => figures?.expiries ?? [],
    }),
    coverage: t.float({
      nullable: true,
      description: 'Fraction of the counted contracts with a known gamma, 0 to 1; null if there are no strikes.',
      resolve: ({ figures }) => figures?.coverage ?? null,
    }),
    contractCount: t.int({
      description: 'Number of option contracts in the sums.',
      resolve: ({ figures }) => figures?.contractCount ?? 0,
    }),
    strikes: t.field({
      type: [StrikeValueType],
      args: { top: t.arg.int({ description: 'Keep the N strikes with the largest |value|. Default: all.' }) },
      price: { rows: 'strikes', sizes: ({ top }) => strikeSizes(top) },
      description: 'Rows ascending by strike; they add up to net. Empty if net is null.',
      resolve: ({ figures }, { top }) => largestValues(figures?.strikes ?? [], top ?? null),
    }),
    meta: t.expose('meta', { type: GexFiguresMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolGexType, 'figures', (t) =>
  t.field({
    type: GexFiguresType,
    nullable: true,
    // Each convention sums the chain again; a caller can ask for any number of them.
    scope: 'analytics.gex',
    price: { once: 2, each: 20 },
    description:
      'Net exposure, flip, walls, max pain and strikes of the latest capture in a convention, or of the last capture at or before a time. invalid_params for choices that exclude each other.',
    args: {
      convention: t.arg({
        type: GexConventionInput,
        description: 'The convention. Default: that of captures.',
      }),
      ...instantArgs(
        'The last capture at or before this time. For a bare date: the last capture of its session, or of the session before if it does not trade.',
      ),
    },
    resolve: ({ symbol }, args, context) => gexFigures(context, symbol, args),
  }),
);
