import { type GreeksSample, markSources } from '../../domain/chain/greeks.ts';
import {
  type GreeksMeta,
  type GreeksPage,
  greeks,
  greeksMeta,
  greeksSeries,
  type LatestGreeks,
} from '../../resolvers/chain/greeks.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { ResponseMetaInterface } from '../response-meta.ts';
import { OptionContractType } from './contract.ts';

/** Where a mark came from. */
export const MarkSourceEnum = builder.enumType('MarkSource', {
  description: 'Where a mark came from: the mid of a quote, a recent trade, the close of the session before.',
  values: markSources,
});

const iv = { nullable: true, description: 'Annualized fraction: 0.1286 = 12.86 %; null when not solvable.' } as const;
const delta = { nullable: true, description: 'Change of the price per $1; null when not solvable.' } as const;
const gamma = { nullable: true, description: 'Change of delta per $1; null when not solvable.' } as const;
const mark = { description: 'The option price the solve used, dollars a share.' } as const;
const quote = { nullable: true, description: 'Dollars a share; null unless a live quote is held.' } as const;

const LatestGreeksType = builder.objectRef<LatestGreeks>('LatestGreeks').implement({
  description: 'The newest solve of a contract.',
  fields: (t) => ({
    tsMs: t.expose('tsMs', { type: 'EpochMs', description: 'Instant of the solve, epoch ms.' }),
    iv: t.exposeFloat('iv', iv),
    delta: t.exposeFloat('delta', delta),
    gamma: t.exposeFloat('gamma', gamma),
    mark: t.exposeFloat('mark', mark),
    markSource: t.expose('markSource', { type: MarkSourceEnum, description: 'Where the mark came from.' }),
    bid: t.exposeFloat('bid', quote),
    ask: t.exposeFloat('ask', quote),
    spread: t.exposeFloat('spread', {
      nullable: true,
      description: 'ask − bid, dollars a share; null when either is.',
    }),
  }),
});

const GreeksSampleType = builder.objectRef<GreeksSample>('GreeksSample').implement({
  description: "One minute's solve of a contract.",
  fields: (t) => ({
    tsMs: t.expose('tsMs', { type: 'EpochMs', description: 'The minute boundary, epoch ms.' }),
    iv: t.exposeFloat('iv', iv),
    delta: t.exposeFloat('delta', delta),
    gamma: t.exposeFloat('gamma', gamma),
    mark: t.exposeFloat('mark', mark),
  }),
});

const GreeksMetaType = builder.objectRef<GreeksMeta>('GreeksMeta').implement({
  description: "Metadata of a contract's greeks.",
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why there is nothing; null when there is something.',
    }),
  }),
});

const GreeksType = builder.objectRef<GreeksPage>('Greeks').implement({
  description: "A contract's implied volatility and greeks.",
  fields: (t) => ({
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    latest: t.expose('latest', {
      type: LatestGreeksType,
      nullable: true,
      description: 'The newest solve; outside market hours the last one. Null when not solved yet.',
    }),
    series: t.field({
      type: [GreeksSampleType],
      // Read from as many captures as it has samples.
      extensions: costs({ once: 5, each: 4, rows: 'minutes' }),
      description: 'At most one sample a minute, the last 390, ascending.',
      resolve: (page, _args, context) => greeksSeries(context, page),
    }),
    meta: t.field({
      type: GreeksMetaType,
      description: 'Metadata of the answer.',
      resolve: (page, _args, context) => greeksMeta(context, page),
    }),
  }),
});

builder.objectField(OptionContractType, 'greeks', (t) =>
  t.field({
    type: GreeksType,
    nullable: true,
    description:
      'Implied volatility and greeks: solved each minute while the contract is followed, and with every chain captured.',
    args: { session: t.arg({ type: 'SessionDate', description: 'Keeps only samples of that session.' }) },
    extensions: { scopeGroup: 'analytics.vol', ...costs({ once: 2.5, each: 0.12 }) },
    resolve: (contract, { session }, context) => greeks(context, contract, session ?? null),
  }),
);
