import { flipStatusOf, strikeRows } from '../../resolvers/gex/gex.ts';
import {
  type GexReference,
  type GexReferenceMeta,
  gexReference,
  type ReferenceBasis,
} from '../../resolvers/gex/reference.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { metaOf } from '../meta-of.ts';
import { delayedSourceTime, QuoteTimeInterface } from '../quote-time.ts';
import { FlipStatusEnum, flipStatusText, GexStrikeType } from './capture.ts';
import { strikeSizes } from './cost.ts';
import { SymbolGexType } from './gex.ts';

const ReferenceBasisEnum = builder.enumType('GexReferenceBasis', {
  description:
    "Reference for a session's gamma: the first capture of its regular session (open), or the last capture of the prior session (prev_close).",
  values: enumValues<ReferenceBasis>({
    open: 'The first capture of the regular session.',
    prev_close: 'The last capture of the prior session.',
  }),
});

const GexReferenceMetaType = metaOf<GexReferenceMeta>(
  'GexReferenceMeta',
  'market',
  'Metadata of a reference capture.',
  (t) => ({
    sourceTime: t.expose('sourceTime', { type: 'EpochMs', nullable: true, description: delayedSourceTime }),
    flipStatus: t.field({
      type: FlipStatusEnum,
      nullable: true,
      description: flipStatusText,
      scope: 'parent',
      price: { once: 0.2, each: 0.005 },
      resolve: ({ capture }, _args, context) => capture && flipStatusOf(context, capture),
    }),
    available: t.exposeBoolean('available', { description: 'True if the reference capture exists.' }),
  }),
);

const GexReferenceType = builder.objectRef<GexReference>('GexReference').implement({
  description: "The capture a session's gamma is compared with.",
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    basis: t.expose('basis', { type: ReferenceBasisEnum, description: 'The requested reference.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'The session that is compared with it.' }),
    referenceSessionDate: t.field({
      type: 'SessionDate',
      nullable: true,
      description: 'Session of the capture: the same session, or the prior one. Null if there is no such capture.',
      resolve: ({ capture }) => capture?.sessionDate ?? null,
    }),
    capturedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if there is no such capture.',
      resolve: ({ capture }) => capture?.capturedAt ?? null,
    }),
    spot: t.float({
      nullable: true,
      description: 'Price of the underlying at the capture, dollars; null when unknown.',
      resolve: ({ capture }) => capture?.spot ?? null,
    }),
    impliedSpot: t.float({
      nullable: true,
      description: 'Price of the underlying that the option quotes imply, dollars; null when unknown.',
      resolve: ({ capture }) => capture?.impliedSpot ?? null,
    }),
    spotStale: t.boolean({
      nullable: true,
      description:
        'True if options are priced with impliedSpot, because spot and quotes differ; null if the quotes imply none, or when unknown.',
      resolve: ({ capture }) => capture?.spotStale ?? null,
    }),
    inconsistentExpiries: t.int({
      nullable: true,
      description: 'Number of expiries whose expected moves contradict each other; null when unknown.',
      resolve: ({ capture }) => capture?.inconsistentExpiries ?? null,
    }),
    netGex: t.float({
      nullable: true,
      description: 'Sum of gex over all rows, dollars per $1 move; null if there is no such capture.',
      resolve: ({ capture }) => capture?.netGex ?? null,
    }),
    complete: t.exposeBoolean('complete', {
      nullable: true,
      description:
        'True if the chain is complete and every contract with open interest has a gamma; null if there is no such capture.',
    }),
    contractCount: t.int({
      nullable: true,
      description: 'Number of contracts in the sums; null if there is no such capture.',
      resolve: ({ capture }) => capture?.contractCount ?? null,
    }),
    gammaAbsent: t.int({
      nullable: true,
      description:
        'Contracts with open interest that were skipped because their gamma is unknown; null if there is no such capture.',
      resolve: ({ capture }) => capture?.gammaAbsent ?? null,
    }),
    strikes: t.field({
      type: [GexStrikeType],
      size: { rows: 'strikesByExpiry' },
      description: 'Rows ascending by strike, then expiry; net rows if the capture has no rows by expiry.',
      resolve: ({ capture }) => (capture ? strikeRows(capture) : []),
    }),
    meta: t.expose('meta', { type: GexReferenceMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolGexType, 'reference', (t) =>
  t.field({
    type: GexReferenceType,
    nullable: true,
    scope: 'analytics.gex',
    price: { once: 1.5, each: 0.1, sizes: () => strikeSizes(null, true) },
    description: "The capture a session's gamma is compared with, by strike and expiry.",
    args: {
      date: t.arg({
        type: 'SessionDate',
        description: 'Exchange session, not in the future. Default: the current session, else the last one.',
      }),
      basis: t.arg({ type: ReferenceBasisEnum, defaultValue: 'open', description: 'The reference capture.' }),
    },
    resolve: ({ symbol }, args, context) => gexReference(context, symbol, args),
  }),
);
