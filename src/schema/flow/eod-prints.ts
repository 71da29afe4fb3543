import { type RankedPrint, rankedListSize } from '../../domain/flow/flow.ts';
import { type EodFilters, type EodMeta, type EodPrints, eodPrints } from '../../resolvers/flow/eod-prints.ts';
import { builder } from '../builder.ts';
import { OptionContractType, OptionRightEnum } from '../chain/contract.ts';
import { costs } from '../cost.ts';
import { ResponseMetaInterface, TierEnum } from '../response-meta.ts';
import { CoverageStatusEnum, SymbolFlowType } from './flow.ts';

const RankedPrintType = builder.objectRef<RankedPrint>('RankedPrint').implement({
  description: 'One option print of an end-of-day list.',
  fields: (t) => ({
    printId: t.exposeString('printId', { description: '<event id>#<leg index>.' }),
    eventId: t.exposeString('eventId', { description: 'The event the print is a leg of.' }),
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Underlying.' }),
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    price: t.exposeFloat('price', { description: 'Dollars a share.' }),
    size: t.expose('size', { type: 'Long', description: 'Contracts.' }),
    premiumUsd: t.exposeFloat('premiumUsd', { description: 'Price × size × multiplier, dollars.' }),
    exchange: t.exposeInt('exchange', { description: "The tape's exchange id." }),
    conditions: t.exposeIntList('conditions', {
      extensions: costs({ rows: 'conditions' }),
      description: "The tape's condition ids.",
    }),
    eventTsMs: t.expose('eventTsMs', { type: 'EpochMs', description: 'Instant of the print, epoch ms.' }),
    sequence: t.expose('sequence', { type: 'Long', description: "The print's sequence on the tape." }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    coverageStatus: t.expose('coverageStatus', { type: CoverageStatusEnum, description: 'Live or reconciled.' }),
    rank: t.exposeInt('rank', {
      nullable: true,
      description:
        'Rank by premium in the whole list, 1 = largest; no filter changes it. Null where nothing is ranked.',
    }),
  }),
});

const EodFiltersType = builder.objectRef<EodFilters>('EodFilters').implement({
  description: 'The filters that were sent; null = not sent.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', nullable: true, description: 'Underlying.' }),
    session: t.expose('session', { type: 'SessionDate', nullable: true, description: 'Session.' }),
    fromMs: t.expose('fromMs', { type: 'EpochMs', nullable: true, description: 'Earliest instant, epoch ms.' }),
    toMs: t.expose('toMs', { type: 'EpochMs', nullable: true, description: 'Latest instant, epoch ms.' }),
    minPremiumUsd: t.exposeFloat('minPremiumUsd', { nullable: true, description: 'Least premium, dollars.' }),
    right: t.expose('right', { type: OptionRightEnum, nullable: true, description: 'Call or put.' }),
    expiry: t.expose('expiry', { type: 'SessionDate', nullable: true, description: 'Expiration date.' }),
  }),
});

const EodMetaType = builder.objectRef<EodMeta>('EodMeta').implement({
  description: 'Metadata of an end-of-day list.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Prints that passed the filters.' }),
    filters: t.expose('filters', { type: EodFiltersType, description: 'The filters that were sent.' }),
    note: t.exposeString('note', { nullable: true, description: 'Why there are no prints; null when there are.' }),
  }),
});

const EodPrintsType = builder.objectRef<EodPrints>('EodPrints').implement({
  description: 'The largest option prints of a session.',
  fields: (t) => ({
    sessionDate: t.expose('sessionDate', {
      type: 'SessionDate',
      nullable: true,
      description: 'The session served; null when nothing is stored.',
    }),
    symbol: t.expose('symbol', {
      type: 'Ticker',
      nullable: true,
      description: "The underlying whose own list this is; null for the list over all the list's symbols.",
    }),
    tier: t.expose('tier', {
      type: TierEnum,
      description: 'The list served: free ranks equity options (what API keys read), pro index options too.',
    }),
    limit: t.exposeInt('limit', { description: 'Prints a list holds.' }),
    coverageStatus: t.expose('coverageStatus', {
      type: CoverageStatusEnum,
      nullable: true,
      description: 'Live or reconciled; null when nothing is stored.',
    }),
    scannedAtMs: t.expose('scannedAtMs', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the list was made, epoch ms; null when nothing is stored.',
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'What it was made from; informational. Null when nothing is stored.',
    }),
    prints: t.expose('prints', {
      type: [RankedPrintType],
      extensions: costs({ rows: rankedListSize }),
      description: 'Ascending by rank.',
    }),
    meta: t.expose('meta', { type: EodMetaType, description: 'Metadata of the answer.' }),
  }),
});

const filterArgs = builder.args((arg) => ({
  session: arg.field({
    type: 'SessionDate',
    description: 'The latest stored session when absent; an API key must send it. No other filter changes the session.',
  }),
  fromMs: arg.field({ type: 'EpochMs', description: 'Earliest instant of a print, inclusive, epoch ms.' }),
  toMs: arg.field({ type: 'EpochMs', description: 'Latest instant of a print, inclusive, epoch ms.' }),
  minPremiumUsd: arg.float({ description: "Least premium of a print's own, dollars." }),
  right: arg.field({ type: OptionRightEnum, description: 'Calls or puts only.' }),
  expiry: arg.field({ type: 'SessionDate', description: 'One expiration only.' }),
}));

const served = {
  type: EodPrintsType,
  nullable: true,
  extensions: { scopeGroup: 'analytics.flow', ...costs({ once: 4, each: 0.7 }) },
} as const;

builder.objectField(SymbolFlowType, 'eod', (t) =>
  t.field({
    ...served,
    description: `This underlying's own ${rankedListSize} largest option prints of a session.`,
    args: filterArgs,
    resolve: ({ symbol }, args, context) => eodPrints(context, { ...args, symbol }),
  }),
);

builder.queryField('eod', (t) =>
  t.field({
    ...served,
    description: `The ${rankedListSize} largest option prints of a session: of one underlying, or over all the list's symbols. An API key must send session, and symbol or minPremiumUsd.`,
    args: { symbol: t.arg({ type: 'Ticker', description: 'One underlying.' }), ...filterArgs },
    resolve: (_root, args, context) => eodPrints(context, args),
  }),
);
