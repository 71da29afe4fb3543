import { strikeRows } from '../../resolvers/gex/gex.ts';
import {
  type GexReference,
  type GexReferenceMeta,
  gexReference,
  referenceBases,
} from '../../resolvers/gex/reference.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { ResponseMetaInterface } from '../response-meta.ts';
import { strikeSizes } from './cost.ts';
import { GexStrikeType, SymbolGexType } from './gex.ts';

const ReferenceBasisEnum = builder.enumType('GexReferenceBasis', {
  description:
    "What a session's gamma is compared with: the first capture of its regular session, or the last capture of the session before.",
  values: referenceBases,
});

const GexReferenceMetaType = builder.objectRef<GexReferenceMeta>('GexReferenceMeta').implement({
  description: 'Metadata of a reference capture.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    available: t.exposeBoolean('available', { description: 'Whether there is such a capture.' }),
  }),
});

const GexReferenceType = builder.objectRef<GexReference>('GexReference').implement({
  description: "The capture that a session's gamma is compared with.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    basis: t.expose('basis', { type: ReferenceBasisEnum, description: 'Which capture was asked for.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'The session it is a reference for.' }),
    referenceSessionDate: t.field({
      type: 'SessionDate',
      nullable: true,
      description: 'The session of the capture: the same, or the one before. Null when there is no such capture.',
      resolve: ({ capture }) => capture?.sessionDate ?? null,
    }),
    capturedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null when there is no such capture.',
      resolve: ({ capture }) => capture?.capturedAt ?? null,
    }),
    spot: t.float({
      nullable: true,
      description: "The underlying's price at the capture, dollars; null when unknown.",
      resolve: ({ capture }) => capture?.spot ?? null,
    }),
    netGex: t.float({
      nullable: true,
      description: 'Sum of gex over all rows, dollars per $1 move; null when there is no such capture.',
      resolve: ({ capture }) => capture?.netGex ?? null,
    }),
    complete: t.exposeBoolean('complete', {
      nullable: true,
      description:
        'Whether the chain was given whole and every contract with open interest has its gamma; null when there is no such capture.',
    }),
    contractCount: t.int({
      nullable: true,
      description: 'Contracts that entered the sums; null when there is no such capture.',
      resolve: ({ capture }) => capture?.contractCount ?? null,
    }),
    gammaAbsent: t.int({
      nullable: true,
      description: 'Contracts with open interest skipped for want of a gamma; null when there is no such capture.',
      resolve: ({ capture }) => capture?.gammaAbsent ?? null,
    }),
    strikes: t.field({
      type: [GexStrikeType],
      extensions: costs({ rows: 'strikesByExpiry' }),
      description: 'Rows ascending by strike, then expiry; net rows where the capture holds no others.',
      resolve: ({ capture }) => (capture ? strikeRows(capture) : []),
    }),
    meta: t.expose('meta', { type: GexReferenceMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolGexType, 'reference', (t) =>
  t.field({
    type: GexReferenceType,
    nullable: true,
    extensions: {
      scopeGroup: 'analytics.gex',
      ...costs({ once: 1.5, each: 0.1, sizes: () => strikeSizes(null, true) }),
    },
    description: "The capture that a session's gamma is compared with, by strike and expiry.",
    args: {
      date: t.arg({
        type: 'SessionDate',
        description: 'Exchange session, not in the future; by default the one that runs, or ran last.',
      }),
      basis: t.arg({ type: ReferenceBasisEnum, defaultValue: 'open', description: 'Which capture.' }),
    },
    resolve: ({ symbol }, args, context) => gexReference(context, symbol, args),
  }),
);
