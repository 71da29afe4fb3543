import { type UnusualFlow, type UnusualMeta, unusualFlow, unusualSessions } from '../../resolvers/flow/unusual.ts';
import { builder } from '../builder.ts';
import { metaOf } from '../meta-of.ts';
import { SymbolFlowType } from './flow.ts';

const UnusualMetaType = metaOf<UnusualMeta>('UnusualFlowMeta', 'market', 'Metadata of unusual flow.', (t) => ({
  note: t.exposeString('note', { nullable: true, description: 'Why there are no ratios; null if there are any.' }),
}));

const UnusualFlowType = builder.objectRef<UnusualFlow>('UnusualFlow').implement({
  description: `Premium of the current session against its mean over up to ${unusualSessions} sessions before, each up to the same minute of the day.`,
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Underlying.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'The session.' }),
    throughMs: t.expose('throughMs', {
      type: 'EpochMs',
      description: 'End of the last minute that counts, epoch ms.',
    }),
    callPremiumUsd: t.float({
      nullable: true,
      description: 'Premium of calls up to that minute, dollars; null if nothing was observed.',
      resolve: ({ premium }) => premium?.callPremiumUsd ?? null,
    }),
    putPremiumUsd: t.float({
      nullable: true,
      description: 'Premium of puts up to that minute, dollars; null if nothing was observed.',
      resolve: ({ premium }) => premium?.putPremiumUsd ?? null,
    }),
    callRatio: t.float({
      nullable: true,
      description:
        'Premium of calls divided by its mean over the sessions before: 2 is twice as much. Null without a mean above 0.',
      resolve: ({ ratios }) => ratios.call,
    }),
    putRatio: t.float({
      nullable: true,
      description:
        'Premium of puts divided by its mean over the sessions before: 2 is twice as much. Null without a mean above 0.',
      resolve: ({ ratios }) => ratios.put,
    }),
    sessions: t.exposeInt('sessions', {
      description: `Number of sessions in the means: those of the last ${unusualSessions} with stored trades.`,
    }),
    meta: t.expose('meta', { type: UnusualMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolFlowType, 'unusual', (t) =>
  t.field({
    type: UnusualFlowType,
    nullable: true,
    description: 'Unusual premium of calls and puts. For a single contract see volumeToOi of its chain row.',
    scope: 'analytics.flow',
    price: { once: 2.5, each: 0.3 },
    resolve: ({ symbol }, _args, context) => unusualFlow(context, symbol),
  }),
);
