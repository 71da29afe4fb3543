import { type Coverage, coverageStatuses } from '../../domain/flow/coverage.ts';
import { type FlowMeasures, flowSides } from '../../domain/flow/flow.ts';
import { builder } from '../builder.ts';
import { type SymbolNode, SymbolType } from '../market/symbol.ts';

export const FlowSideEnum = builder.enumType('FlowSide', {
  description: 'Which side took the initiative, inferred from the quote in force.',
  values: flowSides,
});

export const CoverageStatusEnum = builder.enumType('CoverageStatus', {
  description: 'Built from the live tape, or reconciled with the full tape after the session.',
  values: coverageStatuses,
});

export const FlowCoverageType = builder.objectRef<Coverage>('FlowCoverage').implement({
  description: "What was observed of a session's option tape.",
  fields: (t) => ({
    status: t.expose('status', { type: CoverageStatusEnum, description: 'Live or reconciled.' }),
    complete: t.exposeBoolean('complete', {
      description: 'True only once the full tape is reconciled without gaps; never while live.',
    }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    observedFromMs: t.expose('observedFromMs', {
      type: 'EpochMs',
      description: 'Start of what was observed, epoch ms.',
    }),
    observedThroughMs: t.expose('observedThroughMs', {
      type: 'EpochMs',
      description: 'End of what was observed, epoch ms.',
    }),
    registryVersion: t.exposeInt('registryVersion', {
      description: 'Version of the symbol registry it was read with.',
    }),
    standardMultiplierAssumed: t.exposeBoolean('standardMultiplierAssumed', {
      description: 'True = premium used the standard multiplier of 100 shares.',
    }),
  }),
});

export const FlowMeasuresType = builder.objectRef<FlowMeasures>('FlowMeasures').implement({
  description: 'What traded, by right.',
  fields: (t) => ({
    callVolume: t.expose('callVolume', { type: 'Long', description: 'Call contracts.' }),
    putVolume: t.expose('putVolume', { type: 'Long', description: 'Put contracts.' }),
    callPremiumUsd: t.exposeFloat('callPremiumUsd', { description: 'Premium of calls, dollars.' }),
    putPremiumUsd: t.exposeFloat('putPremiumUsd', { description: 'Premium of puts, dollars.' }),
    callTradeCount: t.exposeInt('callTradeCount', { description: 'Prints of calls.' }),
    putTradeCount: t.exposeInt('putTradeCount', { description: 'Prints of puts.' }),
  }),
});

/** A symbol's option flow; large trades, cross-section and end-of-day list add their edges in their own files. */
export const SymbolFlowType = builder.objectRef<SymbolNode>('SymbolFlow').implement({
  description:
    'Option flow of an underlying. Needs the pro tier and a non-professional declaration, then what the symbol itself asks for.',
});

builder.objectField(SymbolType, 'flow', (t) =>
  t.field({ type: SymbolFlowType, description: 'Option flow of this underlying.', resolve: (node) => node }),
);
