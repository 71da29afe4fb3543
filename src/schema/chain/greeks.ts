import type { GreeksSample, MarkSource } from '../../core/domain/chain/greeks.ts';
import { sampleColumns, solveColumns } from '../../core/domain/chain/greeks-columns.ts';
import {
  type GreeksMeta,
  type GreeksPage,
  greeks,
  greeksMeta,
  greeksSeries,
  type LatestGreeks,
} from '../../resolvers/chain/greeks.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { free } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { metaOf } from '../meta-of.ts';
import { OptionContractType } from './contract.ts';

/** Sources of a mark. */
export const MarkSourceEnum = builder.enumType('MarkSource', {
  description: 'Source of a mark: the mid of a quote (mid), a recent trade (last), or the prior close (close).',
  values: enumValues<MarkSource>({
    mid: 'The middle of bid and ask.',
    last: 'The price of a recent trade.',
    close: 'The prior close.',
  }),
});

const LatestGreeksType = builder.objectRef<LatestGreeks>('LatestGreeks').implement({
  description: 'The latest solve of a contract.',
  fields: (t) => ({
    tsMs: t.expose('tsMs', { type: 'EpochMs', description: 'Time of the solve, epoch ms.' }),
    ...columnFields(t, solveColumns),
    markSource: t.expose('markSource', { type: MarkSourceEnum, description: 'Source of the mark.' }),
    spread: t.exposeFloat('spread', {
      nullable: true,
      description: 'ask − bid, dollars a share; null if either is null.',
    }),
  }),
});

/** A solve, in series and around prints. */
export const GreeksSampleType = builder.objectRef<GreeksSample>('GreeksSample').implement({
  description: 'The solve of a contract at one minute.',
  fields: (t) => ({
    tsMs: t.expose('tsMs', { type: 'EpochMs', description: 'The minute, epoch ms.' }),
    ...columnFields(t, sampleColumns),
  }),
});

const GreeksMetaType = metaOf<GreeksMeta>('GreeksMeta', 'market', "Metadata of a contract's greeks.", (t) => ({
  note: t.exposeString('note', {
    nullable: true,
    description: 'Why the answer is empty; null if it is not.',
  }),
}));

const GreeksType = builder.objectRef<GreeksPage>('Greeks').implement({
  description: "A contract's implied volatility and greeks.",
  fields: (t) => ({
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    latest: t.expose('latest', {
      type: LatestGreeksType,
      nullable: true,
      description: 'The latest solve; outside market hours, the last one of the session. Null if not solved yet.',
    }),
    series: t.field({
      type: [GreeksSampleType],
      // Read from as many captures as there are samples.
      scope: 'parent',
      price: { once: 5, each: 4, rows: 'minutes' },
      description: 'The last 390 samples, ascending; at most one per minute.',
      resolve: (page, _args, context) => greeksSeries(context, page),
    }),
    meta: t.field({
      type: GreeksMetaType,
      description: 'Metadata of the answer.',
      scope: 'parent',
      price: free,
      resolve: (page, _args, context) => greeksMeta(context, page),
    }),
  }),
});

builder.objectField(OptionContractType, 'greeks', (t) =>
  t.field({
    type: GreeksType,
    nullable: true,
    description:
      'Implied volatility and greeks. Solved every minute while the contract is followed, and with every chain capture.',
    args: { session: t.arg({ type: 'SessionDate', description: 'Return only samples of this session.' }) },
    scope: 'analytics.vol',
    price: { once: 6, each: 0.25 },
    resolve: (contract, { session }, context) => greeks(context, contract, session ?? null),
  }),
);
