import type { Coverage, CoverageStatus, FlowMeasures, FlowSide } from '../../core/domain/flow/flow.ts';
import { originOf } from '../../resolvers/market/sessions.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { DataOriginEnum } from '../market/sessions.ts';
import { type SymbolNode, SymbolType } from '../market/symbol.ts';
import { byTicker, node } from '../node.ts';

export const FlowSideEnum = builder.enumType('FlowSide', {
  description: 'The aggressor side, inferred from the quote at the time of the print.',
  values: enumValues<FlowSide>({
    buy_inferred: 'Traded at or near the ask.',
    sell_inferred: 'Traded at or near the bid.',
    neutral: 'Traded between bid and ask.',
    unknown: 'No usable quote at the time of the print, or legs of different sides.',
  }),
});

export const CoverageStatusEnum = builder.enumType('CoverageStatus', {
  description: 'Source of the data: the live tape, or the full tape after the session.',
  values: enumValues<CoverageStatus>({
    observed_live: 'Built from the live tape during the session.',
    eod_reconciled: 'Built from the full tape after the session; it replaces what was observed live.',
  }),
});

/** Coverage of an underlying's session. */
export type SymbolCoverage = Coverage & { symbol: string };

export const FlowCoverageType = builder.objectRef<SymbolCoverage>('FlowCoverage').implement({
  description: "Observed part of a session's option tape.",
  fields: (t) => ({
    status: t.expose('status', { type: CoverageStatusEnum, description: 'Live or reconciled.' }),
    complete: t.exposeBoolean('complete', {
      description: 'True once the full tape is reconciled without gaps. Never true while live.',
    }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    origin: t.field({
      type: DataOriginEnum,
      description: 'Source of the session.',
      scope: 'parent',
      price: { once: 0.5, each: 0.02 },
      resolve: (coverage, _args, context) => originOf(context, coverage),
    }),
    observedFromMs: t.expose('observedFromMs', {
      type: 'EpochMs',
      description: 'Start of the observed span, epoch ms.',
    }),
    observedThroughMs: t.expose('observedThroughMs', {
      type: 'EpochMs',
      description: 'End of the observed span, epoch ms.',
    }),
    registryVersion: t.exposeInt('registryVersion', {
      description: 'Version of the symbol registry the tape was read with.',
    }),
    standardMultiplierAssumed: t.exposeBoolean('standardMultiplierAssumed', {
      description: 'True if premiums assume the standard multiplier of 100 shares.',
    }),
  }),
});

export const FlowMeasuresType = builder.objectRef<FlowMeasures>('FlowMeasures').implement({
  description: 'Traded volume and premium, split into calls and puts.',
  fields: (t) => ({
    callVolume: t.expose('callVolume', { type: 'Long', description: 'Call contracts.' }),
    putVolume: t.expose('putVolume', { type: 'Long', description: 'Put contracts.' }),
    callPremiumUsd: t.exposeFloat('callPremiumUsd', { description: 'Premium of calls, dollars.' }),
    putPremiumUsd: t.exposeFloat('putPremiumUsd', { description: 'Premium of puts, dollars.' }),
    callTradeCount: t.exposeInt('callTradeCount', { description: 'Number of call prints.' }),
    putTradeCount: t.exposeInt('putTradeCount', { description: 'Number of put prints.' }),
  }),
});

/** A symbol's option flow; large trades, cross-section and end-of-day list add their edges in their own files. */
export const SymbolFlowType = builder.objectRef<SymbolNode>('SymbolFlow').implement({
  description:
    'Option flow of an underlying. Requires the pro tier, a non-professional declaration and access to the symbol.',
});

node(
  SymbolFlowType,
  ({ symbol }) => symbol,
  byTicker((_context, symbol) => ({ symbol })),
);

builder.objectField(SymbolType, 'flow', (t) =>
  t.field({ type: SymbolFlowType, description: 'Option flow of this underlying.', resolve: (node) => node }),
);
