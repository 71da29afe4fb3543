import { z } from 'zod';
import { fieldError, jsonBody } from '../../contract/body.ts';
import { opaqueId } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

const path = '/v2/account/keys';

// Contract notes 3.
export const apiKeys = route({
  path,
  summary: 'API keys',
  description: 'API keys of the account, oldest first, without their secrets. Requires a site session.',
  scopeGroup: 'account',
  reportsFlow: true,
  needs: 'site-session',
  name: 'api-keys',
  operation: 'account/api-keys.graphql',
  graphql: '{ me { keys { id } } }',
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
  summary: 'Create an API key',
  description: 'The secret is shown only in this answer. Requires a site session and the non-professional declaration.',
  scopeGroup: 'account',
  reportsFlow: true,
  needs: 'declared-site-session',
  body: jsonBody(shape, { name: 'KeyInput', example: { name: 'research' } }, { required: false }),
  name: 'create-key',
  operation: 'account/create-key.graphql',
  graphql: 'mutation { createKey { created { key } } }',
  example: { body: '{"name":"Laptop"}' },
  answer: 'createKey',
  variables: { name: (_values, body) => (body as z.output<typeof shape> | null)?.name },
  errors: [400, 403, 413, 415, 502],
});

// Contract notes 3.
export const revokeKey = route({
  method: 'DELETE',
  path: `${path}/:id`,
  summary: 'Revoke an API key',
  description: 'The key stops working. Requires a site session. 404 if the key is unknown or already revoked.',
  scopeGroup: 'account',
  reportsFlow: true,
  needs: 'site-session',
  params: { id: opaqueId },
  name: 'revoke-key',
  operation: 'account/revoke-key.graphql',
  graphql: 'mutation { revokeKey(id: "{key}") { revoked } }',
  example: { params: { id: '{key}' } },
  answer: 'revokeKey',
  errors: [403, 404, 502],
});
