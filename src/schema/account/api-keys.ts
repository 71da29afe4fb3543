import {
  type ApiKeyInfo,
  accountMeta,
  apiKeys,
  type CreatedKey,
  createKey,
  revokeKey,
} from '../../resolvers/account/account.ts';
import type { ResponseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { costs, writing } from '../cost.ts';
import { PlainMetaType, TierEnum } from '../response-meta.ts';
import { MeType } from './me.ts';

const ApiKeyType = builder.objectRef<ApiKeyInfo>('ApiKey').implement({
  description: 'What is told of an API key. The key itself is shown once, when it is made.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id by which it is revoked.' }),
    name: t.exposeString('name', { description: 'Name its owner gave it.' }),
    tier: t.expose('tier', { type: TierEnum, description: "The account's API tier, under which it is served." }),
    prefix: t.exposeString('prefix', { description: 'First characters of the key, to recognise it by.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When it was made, epoch ms.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When it was last used, epoch ms, up to a few seconds late; null = never.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'From when on it is no longer good, epoch ms; null = never.',
    }),
    revoked: t.exposeBoolean('revoked', { description: 'Whether it was revoked.' }),
  }),
});

builder.objectField(MeType, 'keys', (t) =>
  t.field({
    type: [ApiKeyType],
    nullable: true,
    description: 'API keys of the account, oldest first, revoked ones too. By site session only.',
    extensions: { scopeGroup: 'account', ...costs({ once: 2, rows: 100 }) },
    resolve: (_me, _args, context) => apiKeys(context),
  }),
);

const CreatedKeyType = builder.objectRef<CreatedKey>('CreatedKey').implement({
  description: 'An API key just made.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key. Shown now and never again: only its hash is kept.' }),
    info: t.field({ type: ApiKeyType, description: 'What is told of it from now on.', resolve: ({ meta }) => meta }),
  }),
});

const CreateKeyPayload = builder.objectRef<{ created: CreatedKey; meta: ResponseMeta }>('CreateKeyPayload').implement({
  description: 'An account after making an API key.',
  fields: (t) => ({
    created: t.expose('created', { type: CreatedKeyType, description: 'The new key.' }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
  }),
});

builder.mutationField('createKey', (t) =>
  t.field({
    type: CreateKeyPayload,
    nullable: true,
    description:
      'Makes an API key, which is shown once. By site session only, after the non-professional declaration; at most 25 live keys.',
    args: { name: t.arg.string({ description: 'What to call it; API key when not sent.' }) },
    extensions: { scopeGroup: 'account', ...costs(writing) },
    resolve: async (_root, { name }, context) => ({
      created: await createKey(context, name ?? null),
      meta: accountMeta(context),
    }),
  }),
);

const RevokeKeyPayload = builder.objectRef<{ revoked: string; meta: ResponseMeta }>('RevokeKeyPayload').implement({
  description: 'An account after revoking an API key.',
  fields: (t) => ({
    revoked: t.exposeID('revoked', {
      description: 'Id of the key, which is refused from now on (elsewhere within 5 s).',
    }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
  }),
});

builder.mutationField('revokeKey', (t) =>
  t.field({
    type: RevokeKeyPayload,
    nullable: true,
    description:
      'Revokes an API key. By site session only; not_found when there is no such key or it is revoked already.',
    args: { id: t.arg.id({ required: true, description: 'Id of the key, as me.keys tells it.' }) },
    extensions: { scopeGroup: 'account', ...costs(writing) },
    resolve: async (_root, { id }, context) => ({
      revoked: await revokeKey(context, id),
      meta: accountMeta(context),
    }),
  }),
);
