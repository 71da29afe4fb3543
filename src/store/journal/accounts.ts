import type { JournalAccount } from '../../core/domain/journal/journal.ts';
import type { JournalTable } from './records.ts';

/** Accounts of journals, ascending by id. One that trades refer to cannot be deleted. */
export const accountTable: JournalTable<JournalAccount> = {
  model: 'JournalAccount',
  select: { id: true, name: true, broker: true },
  order: [{ field: 'id', direction: 'asc' }],
  dependents: ({ prisma }, accountId, id) => prisma.journalTrade.count({ where: { accountId, journalAccountId: id } }),
};
