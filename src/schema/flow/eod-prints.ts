import { type RankedPrint, rankedListSize } from '../../core/domain/flow/flow.ts';
import {
  type EodFilters,
  type EodMeta,
  type EodPrints,
  eodPrints,
  eodPrintsOfContract,
} from '../../resolvers/flow/eod-prints.ts';
import { builder } from '../builder.ts';
import { OptionContractType, OptionRightEnum } from '../chain/contract.ts';
import { marketField } from '../market/as-of.ts';
import { metaOf } from '../meta-of.ts';
import { TierEnum } from '../response-meta.ts';
import { CoverageStatusEnum, SymbolFlowType } from './flow.ts';

/** A print of a list; its edge to the market around it is in `print-context.ts`. */
export const RankedPrintType = builder.objectRef<RankedPrint>('RankedPrint').implement({
  description: 'One option print of an end-of-day list.',
  fields: (t) => ({
    printId: t.exposeString('printId', { description: '<event id>#<leg index>.' }),
    eventId: t.exposeString('eventId', { description: 'Id of the event the print is a leg of.' }),
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Underlying.' }),
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    price: t.exposeFloat('price', { description: 'Dollars a share.' }),
    size: t.expose('size', { type: 'Long', description: 'Contracts.' }),
    premiumUsd: t.exposeFloat('premiumUsd', { description: 'Price × size × multiplier, dollars.' }),
    exchange: t.exposeInt('exchange', { description: "The tape's exchange id." }),
    conditions: t.exposeIntList('conditions', {
      size: { rows: 'conditions' },
      description: "The tape's condition ids.",
    }),
    eventTsMs: t.expose('eventTsMs', { type: 'EpochMs', description: 'Time of the print, epoch ms.' }),
    sequence: t.expose('sequence', { type: 'Long', description: 'Sequence number of the print on the tape.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    coverageStatus: t.expose('coverageStatus', { type: CoverageStatusEnum, description: 'Live or reconciled.' }),
    rank: t.exposeInt('rank', {
      nullable: true,
      description: 'Rank by premium in the whole list, 1 = largest. Filters do not change it. Null in unranked lists.',
    }),
  }),
});

const EodFiltersType = builder.objectRef<EodFilters>('EodFilters').implement({
  description: 'Filters of the request; null = not sent.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', nullable: true, description: 'Underlying.' }),
    session: t.expose('session', { type: 'SessionDate', nullable: true, description: 'Session.' }),
    fromMs: t.expose('fromMs', { type: 'EpochMs', nullable: true, description: 'Earliest print time, epoch ms.' }),
    toMs: t.expose('toMs', { type: 'EpochMs', nullable: true, description: 'Latest print time, epoch ms.' }),
    minPremiumUsd: t.exposeFloat('minPremiumUsd', { nullable: true, description: 'Minimum premium, dollars.' }),
    right: t.expose('right', { type: OptionRightEnum, nullable: true, description: 'Call or put.' }),
    expiry: t.expose('expiry', { type: 'SessionDate', nullable: true, description: 'Expiration date.' }),
  }),
});

const EodMetaType = metaOf<EodMeta>('EodMeta', 'market', 'Metadata of an end-of-day list.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of prints that passed the filters.' }),
  filters: t.expose('filters', { type: EodFiltersType, description: 'Filters of the request.' }),
  note: t.exposeString('note', { nullable: true, description: 'Why there are no prints; null if there are any.' }),
}));

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
      description: 'The underlying this list is limited to; null for the list over all symbols.',
    }),
    tier: t.expose('tier', {
      type: TierEnum,
      description:
        'The list served. free ranks equity options only (served to API keys); pro also ranks index options.',
    }),
    limit: t.exposeInt('limit', { description: 'Maximum number of prints in a list.' }),
    coverageStatus: t.expose('coverageStatus', {
      type: CoverageStatusEnum,
      nullable: true,
      description: 'Live or reconciled; null when nothing is stored.',
    }),
    scannedAtMs: t.expose('scannedAtMs', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the list was computed, epoch ms; null when nothing is stored.',
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Source of the list; null when nothing is stored. Informational.',
    }),
    prints: t.expose('prints', {
      type: [RankedPrintType],
      size: { rows: rankedListSize },
      description: 'Ascending by rank.',
    }),
    meta: t.expose('meta', { type: EodMetaType, description: 'Metadata of the answer.' }),
  }),
});

const printArgs = builder.args((arg) => ({
  session: arg.field({
    type: 'SessionDate',
    description: 'Default: the latest stored session; required for API keys. Other filters do not change the session.',
  }),
  fromMs: arg.field({ type: 'EpochMs', description: 'Earliest print time, inclusive, epoch ms.' }),
  toMs: arg.field({ type: 'EpochMs', description: 'Latest print time, inclusive, epoch ms.' }),
  minPremiumUsd: arg.float({ description: 'Minimum premium of a print, dollars.' }),
}));

const filterArgs = builder.args((arg) => ({
  ...printArgs,
  right: arg.field({ type: OptionRightEnum, description: 'Only calls or only puts.' }),
  expiry: arg.field({ type: 'SessionDate', description: 'Only this expiration.' }),
}));

const served = {
  type: EodPrintsType,
  nullable: true,
  price: { once: 4, each: 0.7 },
} as const;

builder.objectField(SymbolFlowType, 'eod', (t) =>
  t.field({
    ...served,
    scope: 'analytics.flow',
    description: `The ${rankedListSize} largest option prints of this underlying in a session.`,
    args: filterArgs,
    resolve: ({ symbol }, args, context) => eodPrints(context, { ...args, symbol }),
  }),
);

builder.objectField(OptionContractType, 'eod', (t) =>
  t.field({
    ...served,
    scope: 'analytics.flow',
    description: `The prints of this contract among the ${rankedListSize} largest of its underlying in a session.`,
    args: printArgs,
    resolve: (contract, args, context) => eodPrintsOfContract(context, contract, args),
  }),
);

marketField('eod', (t) =>
  t.field({
    ...served,
    scope: 'analytics.flow',
    description: `The ${rankedListSize} largest option prints of a session, for one underlying or over all symbols. An API key must send session, and symbol or minPremiumUsd.`,
    args: { symbol: t.arg({ type: 'Ticker', description: 'Only this underlying.' }), ...filterArgs },
    resolve: (_root, args, context) => eodPrints(context, args),
  }),
);
