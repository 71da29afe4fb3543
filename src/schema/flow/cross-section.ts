import type { CrossSection } from '../../core/domain/flow/flow.ts';
import { type CrossSectionMeta, type CrossSectionPage, crossSection } from '../../resolvers/flow/cross-section.ts';
import { type ContractSignedVolume, contractSignedVolume } from '../../resolvers/flow/signed-volume.ts';
import { flowAtStrike, gexAtStrike, type StrikeFlow, strikesOf } from '../../resolvers/flow/strike-flow.ts';
import { builder } from '../builder.ts';
import { OptionContractType } from '../chain/contract.ts';
import { enumValues } from '../enum-values.ts';
import { GexStrikeType } from '../gex/capture.ts';
import { metaOf } from '../meta-of.ts';
import { FlowCoverageType, FlowMeasuresType, SymbolFlowType } from './flow.ts';

const StrikeFlowType = builder.objectRef<StrikeFlow>('StrikeFlow').implement({
  description: 'Option flow of a session at one strike, over all expirations.',
  fields: (t) => ({
    strikeThousandths: t.expose('strikeThousandths', {
      type: 'StrikeThousandths',
      description: 'Strike, thousandths of a dollar.',
    }),
    measures: t.expose('measures', { type: FlowMeasuresType, description: 'Traded volume and premium.' }),
    gex: t.field({
      type: GexStrikeType,
      nullable: true,
      scope: 'analytics.gex',
      price: { once: 1.5, each: 0.01 },
      description: "Net dealer gamma at this strike in the session's last capture; null if there is none.",
      resolve: (row, _args, context) => gexAtStrike(context, row),
    }),
  }),
});

builder.objectField(GexStrikeType, 'flow', (t) =>
  t.field({
    type: FlowMeasuresType,
    nullable: true,
    scope: 'analytics.flow',
    price: { once: 2.5, each: 0.01 },
    description:
      'Option flow at this strike in the session of the capture, over all expirations; null if nothing was observed.',
    resolve: (row, _args, context) => flowAtStrike(context, row),
  }),
);

const ExpirationFlowType = builder.objectRef<CrossSection['byExpiration'][number]>('ExpirationFlow').implement({
  description: 'Option flow of a session at one expiration, over all strikes.',
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiration date.' }),
    measures: t.expose('measures', { type: FlowMeasuresType, description: 'Traded volume and premium.' }),
  }),
});

const CrossSectionKindEnum = builder.enumType('CrossSectionUpdateKind', {
  description: 'Kind of a cross-section update.',
  values: enumValues<'cross_section_session'>({ cross_section_session: 'The whole session so far.' }),
});

const CrossSectionUpdateType = builder.objectRef<CrossSection>('CrossSectionUpdate').implement({
  description: 'The cumulative state of a session.',
  fields: (t) => ({
    kind: t.field({
      type: CrossSectionKindEnum,
      description: 'Always cross_section_session.',
      resolve: () => 'cross_section_session' as const,
    }),
    byStrike: t.field({
      type: [StrikeFlowType],
      size: { rows: 'strikes' },
      description: 'Totals per strike, ascending.',
      resolve: strikesOf,
    }),
    byExpiration: t.expose('byExpiration', {
      type: [ExpirationFlowType],
      size: { rows: 'expiries' },
      description: 'Totals per expiration, ascending. They sum to the same as byStrike.',
    }),
  }),
});

/** A snapshot, in answers and live. */
export const CrossSectionType = builder.objectRef<CrossSection>('CrossSection').implement({
  description: "A snapshot of a session's cumulative option flow; never merged across sessions.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Underlying.' }),
    seq: t.expose('seq', {
      type: 'Long',
      description:
        'Sequence number; increases with every snapshot of the session. As of an instant: that of the stored snapshot.',
    }),
    coverage: t.field({
      type: FlowCoverageType,
      description: 'Observed part of the session.',
      resolve: ({ symbol, coverage }) => ({ ...coverage, symbol }),
    }),
    update: t.field({ type: CrossSectionUpdateType, description: 'The totals.', resolve: (section) => section }),
  }),
});

const CrossSectionMetaType = metaOf<CrossSectionMeta>(
  'CrossSectionMeta',
  'market',
  'Metadata of a cross-section.',
  (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Underlying.' }),
    retention: t.exposeString('retention', {
      description: 'intraday_24h: the live feed of about a day. stored_session: the session that was requested.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'Why there is no snapshot; null if there is one.' }),
  }),
);

const CrossSectionPageType = builder.objectRef<CrossSectionPage>('CrossSectionPage').implement({
  description: "An underlying's cumulative option flow.",
  fields: (t) => ({
    snapshot: t.expose('snapshot', {
      type: CrossSectionType,
      nullable: true,
      description: 'Null if nothing was observed. Values are never estimated.',
    }),
    meta: t.expose('meta', { type: CrossSectionMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolFlowType, 'crossSection', (t) =>
  t.field({
    type: CrossSectionPageType,
    nullable: true,
    description:
      'Cumulative option flow of a session by strike and by expiration. As of an instant: up to the last whole minute.',
    args: { session: t.arg({ type: 'SessionDate', description: 'The session. Default: the latest one available.' }) },
    scope: 'analytics.flow',
    price: { once: 2.5, each: 0.3 },
    resolve: ({ symbol }, { session }, context) => crossSection(context, symbol, session ?? null),
  }),
);

const SignedVolumeType = builder.objectRef<ContractSignedVolume>('SignedVolume').implement({
  description:
    "A contract's volume in a session by the side that initiated it, inferred from the quote at the time of each print. Prints between bid and ask, and those without a usable quote, are in neither.",
  fields: (t) => ({
    bought: t.expose('bought', { type: 'Long', description: 'Contracts traded at or near the ask.' }),
    sold: t.expose('sold', { type: 'Long', description: 'Contracts traded at or near the bid.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    observedFromMs: t.expose('observedFromMs', {
      type: 'EpochMs',
      description: 'Start of the observed span of the session, epoch ms.',
    }),
    throughMs: t.expose('throughMs', {
      type: 'EpochMs',
      description: 'End of the last minute that counts, epoch ms.',
    }),
  }),
});

builder.objectField(OptionContractType, 'signedVolume', (t) =>
  t.field({
    type: SignedVolumeType,
    nullable: true,
    description:
      'Contracts bought and sold in a session, up to the last whole minute. Null if the session was stored by a release without them, or if no quotes of the session are known.',
    args: { session: t.arg({ type: 'SessionDate', description: 'The session. Default: the current one.' }) },
    scope: 'analytics.flow',
    price: { once: 2.5, each: 0.07 },
    resolve: (contract, { session }, context) => contractSignedVolume(context, contract, session ?? null),
  }),
);
