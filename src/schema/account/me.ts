import { apiTier, type Me } from '../../resolvers/account/me.ts';
import { builder } from '../builder.ts';
import { ClassificationEnum, TierEnum } from '../response-meta.ts';

const CallerKindEnum = builder.enumType('CallerKind', {
  description: 'How a request is authenticated.',
  values: {
    key: { description: 'An API key, served under the API tier.' },
    session: { description: 'A site session, served under the site tier.' },
  } as const,
});

/** The caller's account. Other nouns of the account add their edges in their own files. */
export const MeType = builder.objectRef<Me>('Me').implement({
  description: 'The account that asks, and under what this request is served.',
  fields: (t) => ({
    accountId: t.exposeID('accountId', { description: 'Id of the account.' }),
    kind: t.expose('kind', { type: CallerKindEnum, description: 'API key or site session.' }),
    keyId: t.exposeID('keyId', { nullable: true, description: 'Id of the API key; null for a session.' }),
    tier: t.expose('tier', { type: TierEnum, description: 'Tier this request is served under.' }),
    siteTier: t.expose('siteTier', { type: TierEnum, description: 'Tier of site sessions.' }),
    apiTier: t.field({
      type: TierEnum,
      nullable: true,
      description: 'Tier of API keys; null when the account has not been set up.',
      resolve: (me, _args, context) => apiTier(context, me),
    }),
    classification: t.expose('classification', {
      type: ClassificationEnum,
      nullable: true,
      description: 'What the account declared itself to be for market data; null = nothing yet.',
    }),
    attested: t.exposeBoolean('attested', {
      description: 'Declared non-professional: what index products, flow and off-exchange data ask for.',
    }),
  }),
});

builder.queryField('me', (t) =>
  t.field({
    type: MeType,
    description: 'The caller.',
    extensions: { scopeGroup: 'account' },
    resolve: (_root, _args, context) => context.caller,
  }),
);
