import { z } from 'zod';
import { requireJournalAccount } from '../../../domain/journal/journal-account.ts';
import { mergePatchBody, objectBody } from '../../contract/body.ts';
import { cursor, opaqueId, positiveInt } from '../../contract/params.ts';
import { type Route, route } from '../../contract/route.ts';

const path = '/v2/journal/accounts';
const common = { scopeGroup: 'journal', absent: ['broker'] } as const;

const text500 = z.string().max(500);
const described = z.looseObject({ id: z.string().optional(), name: text500, broker: text500.nullish() });
const patch = z.looseObject({ name: text500.optional(), broker: text500.nullish() });
const body = objectBody(
  described,
  { name: 'JournalAccountInput', example: { name: 'Main', broker: 'Example Securities' } },
  { error: 'expected an object {name, broker}' },
);
type Sent = Record<string, unknown>;

/** The fields of a body, checked. Without `withId` an id is skipped: the path's counts. */
function fields(sent: unknown, withId: boolean): { id: string | null; account: Sent } {
  const { id, ...account } = requireJournalAccount(withId ? (sent as Sent) : { ...(sent as Sent), id: null });
  return { id, account };
}

// Contract notes 3.
export const journalAccountRoutes: readonly Route[] = [
  route({
    ...common,
    path,
    summary: 'Journal accounts',
    description: 'Accounts of the journal, ascending by id. Repeat with meta.cursor until it is absent.',
    params: { limit: positiveInt.optional(), cursor: cursor(1024, 'MS5leGFtcGxlLTEuRW5WWi1FeVBXd2lh').optional() },
    name: 'journal-accounts',
    operation: 'journal/accounts.graphql',
    graphql: '{ journalAccounts { rows { id } } }',
    answer: 'journalAccounts',
    errors: [400, 502],
  }),
  route({
    ...common,
    method: 'POST',
    path,
    summary: 'Create a journal account',
    description: 'Creates a journal account. The id is generated if not sent.',
    params: {},
    body,
    name: 'create-journal-account',
    operation: 'journal/create-account.graphql',
    graphql: 'mutation { createJournalAccount(account: { name: "Paper" }) { account { id } } }',
    example: {
      body: '{"name":"Paper","broker":"Own"}',
      shown: { body: '{"id":"paper","name":"Paper","broker":"Own"}' },
    },
    answer: 'createJournalAccount',
    variables: (_values, sent) => fields(sent, true),
    errors: [400, 413, 415, 502],
  }),
  route({
    ...common,
    method: 'PUT',
    path: `${path}/:id`,
    summary: 'Create or replace a journal account',
    description:
      'Replaces all fields of a journal account, or creates it with this id. Sending the request again changes nothing.',
    params: { id: opaqueId },
    body,
    name: 'replace-journal-account',
    operation: 'journal/replace-account.graphql',
    graphql:
      'mutation { replaceJournalAccount(id: "{account}", account: { name: "Paper account" }) { account { id } } }',
    example: { params: { id: '{account}' }, body: '{"name":"Paper account"}' },
    answer: 'replaceJournalAccount',
    variables: ({ id }, sent) => ({ ...fields(sent, false), id }),
    errors: [400, 413, 415, 502],
  }),
  route({
    ...common,
    method: 'PATCH',
    path: `${path}/:id`,
    summary: 'Update a journal account',
    description: 'A merge patch (RFC 7396): only the fields sent change; null clears a field.',
    params: { id: opaqueId },
    body: mergePatchBody(patch, { name: 'JournalAccountPatch', example: { broker: null } }),
    name: 'patch-journal-account',
    operation: 'journal/patch-account.graphql',
    graphql: 'mutation { patchJournalAccount(id: "{account}", patch: { broker: null }) { account { id } } }',
    example: { params: { id: '{account}' }, body: '{"broker":null}' },
    answer: 'patchJournalAccount',
    variables: ({ id }, patch) => ({ id, patch }),
    errors: [400, 404, 413, 415, 502],
  }),
  route({
    ...common,
    method: 'DELETE',
    path: `${path}/:id`,
    summary: 'Delete a journal account',
    description: 'Deletes a journal account. 400 while the account has trades.',
    params: { id: opaqueId },
    name: 'delete-journal-account',
    operation: 'journal/delete-account.graphql',
    graphql: 'mutation { deleteJournalAccount(id: "{account}") { deleted } }',
    example: { params: { id: '{account}' } },
    answer: 'deleteJournalAccount',
    errors: [400, 404, 502],
  }),
];
