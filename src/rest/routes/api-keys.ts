import { z } from 'zod';
import { fieldError, jsonBody } from '../contract/body.ts';
import { opaqueId } from '../contract/params.ts';
import { route } from '../contract/route.ts';

const path = '/v2/account/keys';

// Contract notes 3.
export const apiKeys = route({
  path,
  summary: 'API keys',
  description: 'API keys of the account, oldest first, without their secrets. By site session only.',
  scopeGroup: 'account',
  needs: 'site-session',
  params: {},
  operation: 'api-keys.graphql',
  answer: 'me',
  errors: [403, 502],
});

const shape = z.object(
  { name: z.string({ error: fieldError('text') }).nullish() },
  { error: 'expected an object {name}, or no body' },
);

// Contract notes 3.
export const createKey = route({
  method: 'POST',
  path,
  summary: 'Make an API key',
  description:
    'The key is shown in this answer and never again. By site session, after the non-professional declaration.',
  scopeGroup: 'account',
  needs: 'declared-site-session',
  params: {},
  body: jsonBody(shape, { required: false }),
  operation: 'create-key.graphql',
  answer: 'createKey',
  variables: (_values, body) => ({ name: (body as z.output<typeof shape> | null)?.name ?? null }),
  errors: [400, 403, 413, 415, 502],
});

// Contract notes 3.
export const revokeKey = route({
  method: 'DELETE',
  path: `${path}/:id`,
  summary: 'Revoke an API key',
  description: 'The key is refused from now on. By site session only; 404 when it is unknown or revoked already.',
  scopeGroup: 'account',
  needs: 'site-session',
  params: { id: opaqueId },
  operation: 'revoke-key.graphql',
  answer: 'revokeKey',
  errors: [403, 404, 502],
});
