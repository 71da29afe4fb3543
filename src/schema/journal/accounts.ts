import { type JournalAccount, journalAccounts } from '../../resolvers/journal/accounts.ts';
import { builder } from '../builder.ts';
import { addRecords, recordPoints, scopeGroup } from './records.ts';

/** An account of the journal. */
export const JournalAccountType = builder.objectRef<JournalAccount>('JournalAccount').implement({
  description: 'An account of the journal, such as one at a broker.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    broker: t.exposeString('broker', {
      nullable: true,
      size: { isWritten: true },
      description: 'Broker; null = not given.',
    }),
  }),
});

const fieldsOf = (required: boolean) =>
  builder.inputType(required ? 'JournalAccountInput' : 'JournalAccountPatch', {
    description: required ? 'Fields of a journal account.' : 'Fields of a journal account to change.',
    fields: (t) => ({
      name: t.string({ required, description: 'Display name, not empty.' }),
      broker: t.string({ description: 'Broker; null or empty = not given.' }),
    }),
  });

addRecords({
  type: JournalAccountType,
  records: journalAccounts,
  field: 'account',
  noun: { one: 'journal account', many: 'journal accounts' },
  input: fieldsOf(true),
  patch: fieldsOf(false),
  describe: {
    list: "Accounts of the caller's journal, ascending by id.",
    order: 'Ascending by id',
    create: 'Creates a journal account.',
    remove: 'Deletes a journal account. Fails while the account has trades.',
  },
});

builder.queryField('journalAccount', (t) =>
  t.field({
    type: JournalAccountType,
    nullable: true,
    description: "An account of the caller's journal; null if the id is unknown.",
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    scope: scopeGroup,
    price: { once: recordPoints },
    resolve: (_root, { id }, context) => journalAccounts.find(context, id),
  }),
);
