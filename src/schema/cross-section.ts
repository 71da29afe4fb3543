import type { CrossSection } from '../domain/flow.ts';
import { type CrossSectionMeta, type CrossSectionPage, crossSection } from '../resolvers/cross-section.ts';
import { builder } from './builder.ts';
import { FlowCoverageType, FlowMeasuresType, SymbolFlowType } from './flow.ts';
import { ResponseMetaInterface } from './response-meta.ts';

const StrikeFlowType = builder.objectRef<CrossSection['byStrike'][number]>('StrikeFlow').implement({
  description: "A session's flow at one strike, over all expirations.",
  fields: (t) => ({
    strikeThousandths: t.expose('strikeThousandths', {
      type: 'StrikeThousandths',
      description: 'Strike, thousandths of a dollar.',
    }),
    measures: t.expose('measures', { type: FlowMeasuresType, description: 'What traded.' }),
  }),
});

const ExpirationFlowType = builder.objectRef<CrossSection['byExpiration'][number]>('ExpirationFlow').implement({
  description: "A session's flow of one expiration, over all strikes.",
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiration date.' }),
    measures: t.expose('measures', { type: FlowMeasuresType, description: 'What traded.' }),
  }),
});

const CrossSectionKindEnum = builder.enumType('CrossSectionUpdateKind', {
  description: 'What a cross-section update carries.',
  values: ['cross_section_session'] as const,
});

const CrossSectionUpdateType = builder.objectRef<CrossSection>('CrossSectionUpdate').implement({
  description: 'The cumulative state of a session.',
  fields: (t) => ({
    kind: t.field({
      type: CrossSectionKindEnum,
      description: 'Always cross_section_session.',
      resolve: () => 'cross_section_session' as const,
    }),
    byStrike: t.expose('byStrike', {
      type: [StrikeFlowType],
      complexity: { multiplier: 1 },
      description: 'Ascending by strike.',
    }),
    byExpiration: t.expose('byExpiration', {
      type: [ExpirationFlowType],
      complexity: { multiplier: 1 },
      description: 'Ascending by expiration; the same totals as by strike.',
    }),
  }),
});

const CrossSectionType = builder.objectRef<CrossSection>('CrossSection').implement({
  description: "A snapshot of a session's cumulative option flow; never merged across sessions.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Underlying.' }),
    seq: t.expose('seq', { type: 'Long', description: 'Grows with every snapshot of the session.' }),
    coverage: t.expose('coverage', { type: FlowCoverageType, description: 'What was observed of the session.' }),
    update: t.field({ type: CrossSectionUpdateType, description: 'The measures.', resolve: (section) => section }),
  }),
});

const CrossSectionMetaType = builder.objectRef<CrossSectionMeta>('CrossSectionMeta').implement({
  description: 'Metadata of a cross-section.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Underlying.' }),
    retention: t.exposeString('retention', { description: 'How long live flow is held.' }),
    note: t.exposeString('note', { nullable: true, description: 'Why there is no snapshot; null when there is one.' }),
  }),
});

const CrossSectionPageType = builder.objectRef<CrossSectionPage>('CrossSectionPage').implement({
  description: "An underlying's cumulative option flow.",
  fields: (t) => ({
    snapshot: t.expose('snapshot', {
      type: CrossSectionType,
      nullable: true,
      description: 'Null when nothing was observed; nothing is estimated.',
    }),
    meta: t.expose('meta', { type: CrossSectionMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolFlowType, 'crossSection', (t) =>
  t.field({
    type: CrossSectionPageType,
    nullable: true,
    description: "A session's cumulative option flow by strike and by expiration.",
    args: { session: t.arg({ type: 'SessionDate', description: 'The latest session held when absent.' }) },
    complexity: 1,
    extensions: { scopeGroup: 'analytics.flow' },
    resolve: ({ symbol }, { session }, context) => crossSection(context, symbol, session ?? null),
  }),
);
