import type { GexDifference, GexExpiryMoves, GexMoves, GexStrikeMoves } from '../../core/domain/gex/gex.ts';
import {
  type DiffGap,
  type GexDiff,
  type GexDiffMeta,
  gexDiff,
  largestStrikes,
  type Moved,
} from '../../resolvers/chain/gex-diff.ts';
import { flipStatusOf, type ServedGexCapture } from '../../resolvers/gex/gex.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { comparedArgs } from '../instant-args.ts';
import { metaOf } from '../meta-of.ts';
import { capturePoint, FlipStatusEnum, flipStatusText, GexCaptureType } from './capture.ts';
import { capturePoints, strikeSizes } from './cost.ts';
import { SymbolGexType } from './gex.ts';

const dollars = 'dollars of dealer hedging per $1 move';

const GexMovesInterface = builder.interfaceRef<GexMoves>('GexMoves').implement({
  description:
    'Change between two captures. spot, time, volatility, openInterest, listing and residual add up to gex: the factors move to their new values one after the other, in this order, and each part is the change at its step.',
  fields: (t) => ({
    gex: t.exposeFloat('gex', { description: `Change of gex, ${dollars}.` }),
    spot: t.exposeFloat('spot', {
      description: `Part of gex from the price of the underlying, with which forwards move; ${dollars}.`,
    }),
    time: t.exposeFloat('time', { description: `Part of gex from the time to expiry that passed, ${dollars}.` }),
    volatility: t.exposeFloat('volatility', {
      description: `Part of gex from implied volatilities, and from rates, dividends and forwards; ${dollars}.`,
    }),
    openInterest: t.exposeFloat('openInterest', { description: `Part of gex from open interest, ${dollars}.` }),
    listing: t.exposeFloat('listing', {
      description: `Part of gex from contracts that one of the captures lacks: listed, expired or delisted; ${dollars}.`,
    }),
    residual: t.exposeFloat('residual', {
      description: `Part of gex that no other part explains: gammas that are the source's own, or were not known in one of the captures; ${dollars}.`,
    }),
    callOi: t.expose('callOi', {
      type: 'Long',
      nullable: true,
      description: 'Change of the open interest of calls, contracts; null if it is known in neither capture.',
    }),
    putOi: t.expose('putOi', {
      type: 'Long',
      nullable: true,
      description: 'Change of the open interest of puts, contracts; null if it is known in neither capture.',
    }),
    volume: t.expose('volume', {
      type: 'Long',
      nullable: true,
      description:
        "Volume of the later capture's session so far less that of the earlier one's, contracts; within a session the contracts traded in between. Null if it is known in neither capture.",
    }),
  }),
});

const GexStrikeChangeType = builder.objectRef<GexStrikeMoves>('GexStrikeChange').implement({
  description: 'Change at one strike, over all expiries.',
  interfaces: [GexMovesInterface],
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
  }),
});

const GexExpiryChangeType = builder.objectRef<GexExpiryMoves>('GexExpiryChange').implement({
  description: 'Change of one expiry, over all strikes.',
  interfaces: [GexMovesInterface],
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
  }),
});

const GexChangeType = builder.objectRef<GexDifference>('GexChange').implement({
  description: 'Change of gex between two captures with its causes: in all, by strike and by expiry.',
  interfaces: [GexMovesInterface],
  fields: (t) => ({
    contractsAdded: t.exposeInt('contractsAdded', {
      description: 'Number of contracts that only the later capture has.',
    }),
    contractsRemoved: t.exposeInt('contractsRemoved', {
      description: 'Number of contracts that only the earlier capture has, expired ones among them.',
    }),
    strikes: t.field({
      type: [GexStrikeChangeType],
      description: 'Rows ascending by strike; every strike that either capture lists. They add up to the total.',
      args: { top: t.arg.int({ description: 'Keep the N strikes with the largest |gex|. Default: all.' }) },
      price: {
        rows: 'strikes',
        sizes: ({ top }) => strikeSizes(top),
      },
      resolve: ({ strikes }, { top }) => largestStrikes(strikes, top ?? null),
    }),
    expiries: t.expose('expiries', {
      type: [GexExpiryChangeType],
      size: { rows: 'expiries' },
      description: 'Rows ascending by expiry; every expiry that either capture lists. They add up to the total.',
    }),
  }),
});

const FigureMoveType = builder.objectRef<Moved>('FigureMove').implement({
  description: 'A figure of two captures.',
  fields: (t) => ({
    from: t.exposeFloat('from', {
      nullable: true,
      description: 'In the earlier capture, dollars (net gex: per $1 move); null if it has none.',
    }),
    to: t.exposeFloat('to', {
      nullable: true,
      description: 'In the later capture, dollars (net gex: per $1 move); null if it has none.',
    }),
    moved: t.exposeFloat('moved', {
      nullable: true,
      description: 'to less from, dollars (net gex: per $1 move); null if one of them is null.',
    }),
  }),
});

const StrikeMoveType = builder.objectRef<Moved>('StrikeMove').implement({
  description: 'A strike of two captures, thousandths of a dollar.',
  fields: (t) => ({
    from: t.expose('from', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'In the earlier capture; null if it has none.',
    }),
    to: t.expose('to', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'In the later capture; null if it has none.',
    }),
    moved: t.expose('moved', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'to less from; null if one of them is null.',
    }),
  }),
});

const FlipStatusMoveType = builder
  .objectRef<{ from: ServedGexCapture | null; to: ServedGexCapture | null }>('FlipStatusMove')
  .implement({
    description: 'Reliability of the flip points of two captures.',
    fields: (t) => {
      const status = (name: 'from' | 'to') =>
        t.field({
          type: FlipStatusEnum,
          nullable: true,
          description: flipStatusText,
          scope: 'parent',
          price: { once: 0.2, each: 0.005 },
          resolve: ({ [name]: capture }, _args, context) => capture && flipStatusOf(context, capture),
        });
      return { from: status('from'), to: status('to') };
    },
  });

const DiffGapEnum = builder.enumType('GexDiffReason', {
  description: 'Reason why a difference has no change. The first value that holds applies.',
  values: enumValues<DiffGap>({
    no_from: 'There is no capture by the earlier time.',
    no_to: 'There is no capture by the later time.',
    no_inputs:
      'The chain or the pricing inputs of a capture are not stored, because an older version stored the capture.',
  }),
});

/** Cost of what a difference is computed from: both chains are read, and their contracts re-priced. */
const comparing = { once: 5, each: 120 };

const GexDiffMetaType = metaOf<GexDiffMeta>('GexDiffMeta', 'prices', 'Metadata of a difference.', (t) => ({
  flipStatus: t.field({
    type: FlipStatusMoveType,
    description: 'Reliability of the flip point of each capture.',
    resolve: ({ from, to }) => ({ from, to }),
  }),
  reason: t.field({
    type: DiffGapEnum,
    nullable: true,
    price: { each: 0.5 },
    description: 'Why change is null; null if it is not.',
    resolve: ({ reason }) => reason(),
  }),
}));

const GexDiffType = builder.objectRef<GexDiff>('GexDiff').implement({
  description: 'Dealer gamma exposure in two captures, and the causes of its change.',
  fields: (t) => {
    const figure = (name: 'netGex' | 'flipPoint' | 'zeroGamma', description: string) =>
      t.expose(name, { type: FigureMoveType, description });
    const wall = (name: 'callWall' | 'putWall', description: string) =>
      t.expose(name, { type: StrikeMoveType, description });
    return {
      symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
      from: t.expose('from', {
        type: GexCaptureType,
        nullable: true,
        description: 'The earlier capture; null if there is none.',
      }),
      to: t.expose('to', {
        type: GexCaptureType,
        nullable: true,
        description: 'The later capture; null if there is none.',
      }),
      netGex: figure('netGex', 'Net gex, dollars per $1 move.'),
      flipPoint: figure('flipPoint', 'Price at which the cumulative net gex curve crosses zero, dollars.'),
      zeroGamma: figure('zeroGamma', 'Price at which re-priced net gamma changes sign, dollars.'),
      callWall: wall('callWall', 'Strike with the largest positive net gex.'),
      putWall: wall('putWall', 'Strike with the most negative net gex.'),
      change: t.field({
        type: GexChangeType,
        nullable: true,
        price: comparing,
        description: 'Change of gex and its causes; null for the reason that meta gives.',
        resolve: ({ change }) => change(),
      }),
      meta: t.expose('meta', { type: GexDiffMetaType, description: 'Metadata of the answer.' }),
    };
  },
});

const point = (which: string) =>
  `The ${which} capture: its id, or a time or date. Times mean the last capture at or before them, a bare date that session's last.`;

builder.objectField(SymbolGexType, 'diff', (t) =>
  t.field({
    type: GexDiffType,
    nullable: true,
    scope: 'analytics.gex',
    price: {
      once: 2 * capturePoints.once,
      each: 2 * capturePoints.each,
      sizes: () => strikeSizes(null),
    },
    description:
      'Change of gex between two captures: of net gex, flip point, zero gamma and walls, and its causes by strike and expiry. invalid_params if from is after to.',
    args: {
      ...comparedArgs(point('earlier'), point('later')),
    },
    resolve: ({ symbol }, { from, to, tz }, context) =>
      gexDiff(context, symbol, { from: capturePoint(from), to: capturePoint(to), tz }),
  }),
);
