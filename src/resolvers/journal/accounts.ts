import type { JournalAccount } from '../../core/domain/journal/journal.ts';
import { journalAccountFields } from '../../core/domain/journal/journal-account.ts';
import { accountTable } from '../../store/journal/accounts.ts';
import { JournalRecords } from './records.ts';

export type { JournalAccount };

/** The accounts of the caller's journal, ascending by id. */
export const journalAccounts = new JournalRecords<JournalAccount>({
  name: 'journal account',
  one: 'an account',
  list: 'journal accounts',
  fields: journalAccountFields,
  table: accountTable,
  position: { write: ({ id }) => id, read: (id) => ({ id }) },
});
