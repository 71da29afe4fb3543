import type { Classification, Tier } from '../platform/config/tiers.ts';
import { type Caps, type ResponseMeta, responseMeta } from '../resolvers/response-meta.ts';
import { builder } from './builder.ts';
import { free } from './cost.ts';
import { enumValues } from './enum-values.ts';

export const TierEnum = builder.enumType('Tier', {
  description: 'Service tiers, lowest first.',
  values: enumValues<Tier>({
    free: 'Lowest tier.',
    basic: 'Adds off-exchange data and symbols of the basic tier.',
    pro: 'Highest tier. Adds option flow and symbols of the pro tier.',
  }),
});
export const ClassificationEnum = builder.enumType('Classification', {
  description: 'The market-data status an account declared.',
  values: enumValues<Classification>({
    professional: 'A professional user of market data. Final once declared.',
    non_professional:
      'A non-professional user of market data. Index products, option flow and off-exchange data require it.',
  }),
});
const PlaneEnum = builder.enumType('Plane', {
  description:
    'Serving tier of an answer: the current session (live), past sessions (archive), or the registry. Informational.',
  values: enumValues<'live' | 'archive' | 'registry'>({
    live: 'The current session; the answer may change.',
    archive: 'Past sessions.',
    registry: 'Reference data, independent of any session.',
  }),
});

const CapsType = builder.objectRef<Caps>('Caps').implement({
  description: 'Entitlement caps applied to an answer.',
  fields: (t) => ({
    applied: t.exposeStringList('applied', {
      size: { rows: 'caps' },
      description:
        'Caps that changed the answer, such as range_clamped or limit_clamped; empty when nothing was clamped.',
    }),
    tier: t.expose('tier', { type: TierEnum, description: 'Tier the request was served under.' }),
    darkpool: t.exposeBoolean('darkpool', {
      nullable: true,
      description: 'True if the account can use off-exchange features; null where not reported.',
    }),
    flow: t.exposeBoolean('flow', {
      nullable: true,
      description: 'True if the option-flow capability is granted; null where not reported.',
    }),
    gexDepth: t.exposeString('gexDepth', { nullable: true, description: 'GEX data depth; null where not reported.' }),
  }),
});

/** The interface of all `meta` types: caps and plane. */
export const ResponseMetaInterface = builder.interfaceRef<ResponseMeta>('ResponseMeta').implement({
  description: 'Metadata of every answer.',
  fields: (t) => ({
    caps: t.expose('caps', { type: CapsType, description: 'Entitlement caps applied to the answer.' }),
    plane: t.expose('plane', {
      type: PlaneEnum,
      nullable: true,
      description: 'Serving tier that answered. Informational.',
    }),
    at: t.expose('at', {
      type: 'EpochMs',
      nullable: true,
      description: 'The requested instant in the past, epoch ms; null = live.',
    }),
    knownAt: t.expose('knownAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'The requested instant of knowledge, epoch ms; null = now.',
    }),
    atEffective: t.expose('atEffective', {
      type: 'EpochMs',
      nullable: true,
      description:
        'The last instant up to at for which the data has a value, epoch ms: a whole second for prices, the time of a capture. Null if live, or if there is none.',
    }),
  }),
});

/** `meta` of answers without metadata of their own. */
export const PlainMetaType = builder.objectRef<ResponseMeta>('PlainMeta').implement({
  description: 'Metadata without fields of its own.',
  interfaces: [ResponseMetaInterface],
});

builder.queryField('meta', (t) =>
  t.field({
    type: PlainMetaType,
    description: 'Response metadata for types without a meta field: the tier this request is served under.',
    args: { plane: t.arg({ type: PlaneEnum, required: true, description: 'The serving tier to report.' }) },
    scope: 'parent',
    price: free,
    resolve: (_root, { plane }, context) => responseMeta(context, plane),
  }),
);
