import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JournalTrade } from '../../../src/core/domain/journal.ts';
import { journalRows } from '../../../src/store/journal/journal-writes.ts';
import { insertRecord, tradeTable } from '../../../src/store/journal/records.ts';
import { openStore, type Store } from '../../../src/store/rows/connection.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const trade = (id: string): JournalTrade => ({
  id,
  journalAccountId: 'main',
  symbol: 'SPY',
  side: 'buy',
  qty: 1,
  price: 600,
  tsMs: 1_700_000_000_000,
  note: null,
});

/** Adds trades as a process does that does not count them. */
async function addUncounted(accountId: string, ids: string[]): Promise<void> {
  for (const id of ids)
    await store.pool.query(
      `insert into journal_trades (account_id, id, journal_account_id, symbol, side, qty, price, ts_ms, created_at)
       values ($1, $2, 'main', 'SPY', 'buy', 1, 600, 1700000000000, 7)`,
      [accountId, id],
    );
}

test('rows that another release added without counting them are counted by the first write of a process', async () => {
  const journal = { accountId: 'ana', maxRows: 8 };
  const insert = (id: string, into: Store = store) => insertRecord(into, tradeTable, journal, trade(id), 7);
  await insert('t1');
  // A trade and its account.
  expect(await journalRows(store, 'ana')).toBe(2);
  await addUncounted('ana', ['old-1', 'old-2', 'old-3']);
  const next = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', migrate: false });
  try {
    await insert('t2', next);
    expect(await journalRows(next, 'ana')).toBe(6);
    await insert('t3', next);
    await insert('t4', next);
    expect(await journalRows(next, 'ana')).toBe(8);
    await expect(insert('t5', next)).rejects.toThrow('The journal quota is 8 rows');
  } finally {
    await next.close();
  }
});

test('a journal that is over its quota by rows that were not counted takes none, and says how many there are', async () => {
  await addUncounted('bob', ['a', 'b', 'c', 'd', 'e']);
  const refused = insertRecord(store, tradeTable, { accountId: 'bob', maxRows: 4 }, trade('t1'), 7);
  await expect(refused).rejects.toMatchObject({ details: { quota: 'journal', limit: 4, rows: 5, added: 2 } });
});
