import type { JournalTrade } from '../../core/domain/journal/journal.ts';
import { journalTradeFields } from '../../core/domain/journal/journal-trade.ts';
import { tradeTable } from '../../store/journal/trades.ts';
import { JournalRecords } from './records.ts';

export type { JournalTrade };

function positionOf(text: string): Pick<JournalTrade, 'tsMs' | 'id'> {
  const space = text.indexOf(' ');
  return { tsMs: Number(text.slice(0, space)), id: text.slice(space + 1) };
}

/** The trades of the caller's journal, latest first. */
export const journalTrades = new JournalRecords<JournalTrade>({
  name: 'trade',
  one: 'a trade',
  list: 'journal trades',
  fields: journalTradeFields,
  table: tradeTable,
  position: { write: ({ tsMs, id }) => `${tsMs} ${id}`, read: positionOf },
});
