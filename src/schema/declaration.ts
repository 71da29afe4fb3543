import {
  accountMeta,
  classify,
  type Declaration,
  declaration,
  flowGranted,
  offExchangeGranted,
} from '../resolvers/account/account.ts';
import type { ResponseMeta } from '../resolvers/response-meta.ts';
import { MeType } from './account/me.ts';
import { builder } from './builder.ts';
import { costs, writing } from './cost.ts';
import { ClassificationEnum, PlainMetaType } from './response-meta.ts';

const DeclarationType = builder.objectRef<Declaration>('Declaration').implement({
  description: 'What an account declared itself to be for market data.',
  fields: (t) => ({
    attested: t.exposeBoolean('attested', { description: 'Declared non-professional.' }),
    classification: t.expose('classification', {
      type: ClassificationEnum,
      nullable: true,
      description: 'What was declared; null = nothing yet.',
    }),
    submittedAt: t.expose('submittedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When, epoch ms; null = nothing declared yet.',
    }),
    locked: t.boolean({
      nullable: true,
      description: 'True once professional was declared, which is final; else null.',
      resolve: ({ locked }) => locked || null,
    }),
  }),
});

builder.objectFields(MeType, (t) => ({
  declaration: t.field({
    type: DeclarationType,
    nullable: true,
    description: 'What the account declared itself to be, and when.',
    extensions: { scopeGroup: 'account', ...costs({ once: 1.5 }) },
    resolve: (_me, _args, context) => declaration(context),
  }),
  flow: t.boolean({
    description: 'Whether the option-flow capability is granted: site Pro and declared non-professional.',
    resolve: (_me, _args, context) => flowGranted(context),
  }),
  offExchange: t.boolean({
    description: 'Whether off-exchange features can be used in the site: site Basic and declared non-professional.',
    resolve: (_me, _args, context) => offExchangeGranted(context),
  }),
  meta: t.field({
    type: PlainMetaType,
    description: 'What an answer about the account says of itself; caps.flow is told.',
    resolve: (_me, _args, context) => accountMeta(context),
  }),
}));

const ClassifyPayload = builder
  .objectRef<{ declaration: Declaration; meta: ResponseMeta }>('ClassifyPayload')
  .implement({
    description: 'An account after a declaration.',
    fields: (t) => ({
      declaration: t.expose('declaration', {
        type: DeclarationType,
        description: 'What is declared now; professional stays, whatever is declared after it.',
      }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

builder.mutationField('classify', (t) =>
  t.field({
    type: ClassifyPayload,
    nullable: true,
    description:
      'Declares the account professional or non-professional for market data. Index products, option flow and off-exchange data are served to non-professionals only. Professional is final.',
    args: {
      classification: t.arg({ type: ClassificationEnum, required: true, description: 'What the account is.' }),
    },
    extensions: { scopeGroup: 'account', ...costs(writing) },
    resolve: async (_root, args, context) => ({
      declaration: await classify(context, args.classification),
      meta: accountMeta(context),
    }),
  }),
);
