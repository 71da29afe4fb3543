import {
  type ApiKeyInfo,
  accountMeta,
  apiKeys,
  type CreatedKey,
  createKey,
  revokeKey,
} from '../../resolvers/account.ts';
import type { RequestContext } from '../../resolvers/context.ts';
import type { ResponseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { writing } from '../cost.ts';
import { byOwnId, refetchable } from '../node.ts';
import { PlainMetaType, TierEnum } from '../response-meta.ts';
import { MeType } from './me.ts';

const ApiKeyType = builder.objectRef<ApiKeyInfo>('ApiKey').implement({
  description: 'An API key, without its secret. The secret is shown once, when the key is created.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id to revoke it by.' }),
    name: t.exposeString('name', { description: 'Name chosen by its owner.' }),
    tier: t.expose('tier', {
      type: TierEnum,
      description: "The account's API tier; requests with this key are served under it.",
    }),
    prefix: t.exposeString('prefix', { description: 'First characters of the key, to identify it.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'Creation time, epoch ms.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'Time of last use, epoch ms; up to a few seconds behind. Null = never used.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'Expiry time, epoch ms; null = never expires.',
    }),
    trustedOnly: t.exposeBoolean('trustedOnly', {
      description: 'True if the graph runs only trusted documents for it.',
    }),
    revoked: t.exposeBoolean('revoked', { description: 'True if the key was revoked.' }),
  }),
});

/** Points of reading the keys of an account. */
const keysPoints = 2;

const apiKey = async (context: RequestContext, id: string) =>
  (await apiKeys(context)).find((key) => key.id === id) ?? null;

refetchable(ApiKeyType, ({ id }) => id, byOwnId(apiKey, keysPoints), 'account', 'site-session');

builder.objectField(MeType, 'keys', (t) =>
  t.field({
    type: [ApiKeyType],
    nullable: true,
    description: 'API keys of the account, oldest first, including revoked ones. Requires a site session.',
    scope: 'account',
    needs: 'site-session',
    price: { once: keysPoints, rows: 100 },
    resolve: (_me, _args, context) => apiKeys(context),
  }),
);

const CreatedKeyType = builder.objectRef<CreatedKey>('CreatedKey').implement({
  description: 'A new API key.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The secret. Shown only now: the service stores just its hash.' }),
    info: t.field({ type: ApiKeyType, description: 'The key without its secret.', resolve: ({ meta }) => meta }),
  }),
});

const CreateKeyPayload = builder.objectRef<{ created: CreatedKey; meta: ResponseMeta }>('CreateKeyPayload').implement({
  description: 'The account after creating an API key.',
  fields: (t) => ({
    created: t.expose('created', { type: CreatedKeyType, description: 'The new key.' }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.mutationField('createKey', (t) =>
  t.field({
    type: CreateKeyPayload,
    nullable: true,
    description:
      'Creates an API key. The secret is shown once. Requires a site session and the non-professional declaration. An account has at most 25 active keys.',
    args: { name: t.arg.string({ description: 'Name of the key. The default is API key.' }) },
    scope: 'account',
    needs: 'declared-site-session',
    price: writing,
    resolve: async (_root, { name }, context) => ({
      created: await createKey(context, name ?? null),
      meta: accountMeta(context),
    }),
  }),
);

const RevokeKeyPayload = builder.objectRef<{ revoked: string; meta: ResponseMeta }>('RevokeKeyPayload').implement({
  description: 'The account after revoking an API key.',
  fields: (t) => ({
    revoked: t.exposeID('revoked', {
      description: 'Id of the revoked key. Other server processes reject it within 5 s.',
    }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.mutationField('revokeKey', (t) =>
  t.field({
    type: RevokeKeyPayload,
    nullable: true,
    description: 'Revokes an API key. Requires a site session. not_found if the key is unknown or already revoked.',
    args: { id: t.arg.id({ required: true, description: 'Id of the key, from me.keys.' }) },
    scope: 'account',
    needs: 'site-session',
    price: writing,
    resolve: async (_root, { id }, context) => ({
      revoked: await revokeKey(context, id),
      meta: accountMeta(context),
    }),
  }),
);
