import { z } from 'zod';
import { journalAccountFields } from '../../../core/domain/journal.ts';
import { mergePatchBody, objectBody } from '../../contract/body.ts';
import { recordRoutes } from './records.ts';

const text500 = z.string().max(500);
const described = z.looseObject({ id: z.string().optional(), name: text500, broker: text500.nullish() });
const patch = z.looseObject({ name: text500.optional(), broker: text500.nullish() });
const body = objectBody(
  described,
  { name: 'JournalAccountInput', example: { name: 'Main', broker: 'Example Securities' } },
  { error: 'expected an object {name, broker}' },
);

/** Routes of the journal's accounts (contract-notes 3). */
export const journalAccountRoutes = recordRoutes({
  noun: 'account',
  absent: ['broker'],
  fields: journalAccountFields,
  body,
  patchBody: mergePatchBody(patch, { name: 'JournalAccountPatch', example: { broker: null } }),
  cursor: 'MS5leGFtcGxlLTEuRW5WWi1FeVBXd2lh',
  list: {
    summary: 'Journal accounts',
    description: 'Accounts of the journal, ascending by id. Repeat with meta.cursor until it is absent.',
    graphql: '{ journalAccounts { rows { id } } }',
  },
  create: {
    summary: 'Create a journal account',
    description: 'Creates a journal account. The id is generated if not sent.',
    graphql: 'mutation { createJournalAccount(account: { name: "Paper" }) { account { id } } }',
    example: {
      body: '{"name":"Paper","broker":"Own"}',
      shown: { body: '{"id":"paper","name":"Paper","broker":"Own"}' },
    },
  },
  replace: {
    summary: 'Create or replace a journal account',
    description:
      'Replaces all fields of a journal account, or creates it with this id. Sending the request again changes nothing.',
    graphql:
      'mutation { replaceJournalAccount(id: "{account}", account: { name: "Paper account" }) { account { id } } }',
    example: { params: { id: '{account}' }, body: '{"name":"Paper account"}' },
  },
  patch: {
    summary: 'Update a journal account',
    description: 'A merge patch (RFC 7396): only the fields sent change; null clears a field.',
    graphql: 'mutation { patchJournalAccount(id: "{account}", patch: { broker: null }) { account { id } } }',
    example: { params: { id: '{account}' }, body: '{"broker":null}' },
  },
  remove: {
    summary: 'Delete a journal account',
    description: 'Deletes a journal account. 400 while the account has trades.',
    graphql: 'mutation { deleteJournalAccount(id: "{account}") { deleted } }',
    example: { params: { id: '{account}' } },
    errors: [400, 404, 502],
  },
});
