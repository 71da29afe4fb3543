import type { Me } from '../../resolvers/account/me.ts';
import { builder } from '../builder.ts';
import { free } from '../cost.ts';
import { ClassificationEnum, TierEnum } from '../response-meta.ts';

const CallerKindEnum = builder.enumType('CallerKind', {
  description: 'Kind of credential of a request.',
  values: {
    key: { description: 'An API key, served under the API tier.' },
    session: { description: 'A site session, served under the site tier.' },
  } as const,
});

/** The caller's account. Other parts of the schema add their edges in their own files. */
export const MeType = builder.objectRef<Me>('Me').implement({
  description: 'The calling account, and how this request is served.',
  fields: (t) => ({
    accountId: t.exposeID('accountId', { description: 'Id of the account.' }),
    kind: t.expose('kind', { type: CallerKindEnum, description: 'API key or site session.' }),
    keyId: t.exposeID('keyId', { nullable: true, description: 'Id of the API key; null for a site session.' }),
    tier: t.expose('tier', { type: TierEnum, description: 'Tier this request is served under.' }),
    siteTier: t.expose('siteTier', { type: TierEnum, description: "Tier of the account's site sessions." }),
    apiTier: t.expose('apiTier', { type: TierEnum, description: "Tier of the account's API keys." }),
    classification: t.expose('classification', {
      type: ClassificationEnum,
      nullable: true,
      description: 'The market-data status the account declared; null = none yet.',
    }),
    attested: t.exposeBoolean('attested', {
      description:
        'True if the account declared itself non-professional. Index products, option flow and off-exchange data require it.',
    }),
  }),
});

builder.queryField('me', (t) =>
  t.field({
    type: MeType,
    description: 'The caller.',
    scope: 'account',
    price: free,
    resolve: (_root, _args, context) => context.caller,
  }),
);
