import type { JournalTrade } from '../../core/domain/journal/journal.ts';
import { addJournalAccounts } from './imports.ts';
import type { JournalTable } from './records.ts';

/** Trades of journals, latest first. A missing journal account is created with its trade. */
export const tradeTable: JournalTable<JournalTrade> = {
  model: 'JournalTrade',
  select: {
    ...{ id: true, journalAccountId: true, symbol: true, side: true, qty: true, price: true, tsMs: true, note: true },
  },
  order: [
    { field: 'tsMs', direction: 'desc' },
    { field: 'id', direction: 'desc' },
  ],
  async complete(tx, accountId, { record, current }, nowMs) {
    if (record.journalAccountId === current?.journalAccountId) return 0;
    return addJournalAccounts(tx, accountId, [record], nowMs);
  },
};
