import {
  accountMeta,
  classify,
  type Declaration,
  declaration,
  flowGranted,
  offExchangeGranted,
} from '../resolvers/account.ts';
import type { ResponseMeta } from '../resolvers/response-meta.ts';
import { MeType } from './account/me.ts';
import { builder } from './builder.ts';
import { free, writing } from './cost.ts';
import { ClassificationEnum, PlainMetaType } from './response-meta.ts';

const DeclarationType = builder.objectRef<Declaration>('Declaration').implement({
  description: 'The market-data status an account declared.',
  fields: (t) => ({
    attested: t.exposeBoolean('attested', { description: 'True if the account declared itself non-professional.' }),
    classification: t.expose('classification', {
      type: ClassificationEnum,
      nullable: true,
      description: 'The status declared; null = none yet.',
    }),
    submittedAt: t.expose('submittedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'Time of the declaration, epoch ms; null = none yet.',
    }),
    locked: t.boolean({
      nullable: true,
      description: 'True once professional was declared, which is final; null otherwise.',
      resolve: ({ locked }) => locked || null,
    }),
  }),
});

builder.objectFields(MeType, (t) => ({
  declaration: t.field({
    type: DeclarationType,
    nullable: true,
    description: 'The market-data declaration of the account.',
    scope: 'account',
    price: { once: 1.5 },
    resolve: (_me, _args, context) => declaration(context),
  }),
  flow: t.boolean({
    description: 'True if the option-flow capability is granted: site Pro and declared non-professional.',
    scope: 'parent',
    price: free,
    resolve: (_me, _args, context) => flowGranted(context),
  }),
  offExchange: t.boolean({
    description: 'True if off-exchange features are available in the site: site Basic and declared non-professional.',
    scope: 'parent',
    price: free,
    resolve: (_me, _args, context) => offExchangeGranted(context),
  }),
  meta: t.field({
    type: PlainMetaType,
    description: 'Metadata of an answer about the account; reports caps.flow.',
    scope: 'parent',
    price: free,
    resolve: (_me, _args, context) => accountMeta(context),
  }),
}));

const ClassifyPayload = builder
  .objectRef<{ declaration: Declaration; meta: ResponseMeta }>('ClassifyPayload')
  .implement({
    description: 'The account after a declaration.',
    fields: (t) => ({
      declaration: t.expose('declaration', {
        type: DeclarationType,
        description: 'The declaration in force. Professional is final; later declarations do not change it.',
      }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

builder.mutationField('classify', (t) =>
  t.field({
    type: ClassifyPayload,
    nullable: true,
    description:
      'Declares the account professional or non-professional for market data. Index products, option flow and off-exchange data are served only to non-professionals. Professional is final.',
    args: {
      classification: t.arg({ type: ClassificationEnum, required: true, description: 'The status to declare.' }),
    },
    scope: 'account',
    price: writing,
    resolve: async (_root, args, context) => ({
      declaration: await classify(context, args.classification),
      meta: accountMeta(context),
    }),
  }),
);
