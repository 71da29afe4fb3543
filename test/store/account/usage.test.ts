import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addUsage, forgetUsageWriter, readUsage } from '../../../src/store/account/usage.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const row = (accountId: string, date: string, scopeGroup: string, count: number) => ({
  accountId,
  date,
  scopeGroup,
  count,
});

describe('usage counts', () => {
  it('add up over batches and writers', async () => {
    await addUsage(store, { writer: '1 a', number: 1, counts: [row('ana', '2026-01-02', 'account', 2)] });
    await addUsage(store, { writer: '1 a', number: 2, counts: [row('ana', '2026-01-02', 'account', 3)] });
    await addUsage(store, { writer: '1 b', number: 1, counts: [row('ana', '2026-01-02', 'account', 4)] });
    expect(await readUsage(store, 'ana', '2026-01-01')).toEqual([row('ana', '2026-01-02', 'account', 9)]);
  });

  it('are added once when a batch whose outcome was not known is sent again', async () => {
    const batch = { writer: '1 c', number: 1, counts: [row('bo', '2026-01-02', 'account', 2)] };
    await addUsage(store, batch);
    await addUsage(store, batch);
    expect(await readUsage(store, 'bo', '2026-01-01')).toEqual([row('bo', '2026-01-02', 'account', 2)]);
    await Promise.all(Array.from({ length: 8 }, () => addUsage(store, { ...batch, number: 2 })));
    expect(await readUsage(store, 'bo', '2026-01-01')).toEqual([row('bo', '2026-01-02', 'account', 4)]);
  });

  it('are added whole or not at all', async () => {
    const counts = [row('cy', '2026-01-02', 'account', 1), row('cy', '2026-01-02', 'bad\u0000', 1)];
    await expect(addUsage(store, { writer: '1 d', number: 1, counts })).rejects.toThrow();
    expect(await readUsage(store, 'cy', '2026-01-01')).toEqual([]);
    await addUsage(store, { writer: '1 d', number: 1, counts: counts.slice(0, 1) });
    expect(await readUsage(store, 'cy', '2026-01-01')).toEqual(counts.slice(0, 1));
  });

  it('are read from a date on, by date, then by group', async () => {
    const counts = [
      row('di', '2026-01-03', 'watchlists', 1),
      row('di', '2026-01-01', 'account', 1),
      row('di', '2026-01-03', 'account', 1),
      row('di', '2026-01-02', 'account', 1),
      row('other', '2026-01-02', 'account', 1),
    ];
    await addUsage(store, { writer: '1 e', number: 1, counts });
    expect(await readUsage(store, 'di', '2026-01-02')).toEqual([counts[3], counts[2], counts[0]]);
  });

  it('of many accounts are written by two processes at once without a deadlock', async () => {
    const counts = Array.from({ length: 500 }, (_, i) => row(`acct-${i}`, '2026-01-02', 'account', 1));
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        addUsage(store, { writer: `1 p${i}`, number: 1, counts: i % 2 === 0 ? counts : counts.toReversed() }),
      ),
    );
    expect(await readUsage(store, 'acct-77', '2026-01-02')).toEqual([{ ...counts[77], count: 12 }]);
  });

  it('leave no trace of writers that ended, or of those not heard of for long', async () => {
    await addUsage(store, { writer: '100 old', number: 1, counts: [] });
    await addUsage(store, { writer: '900 new', number: 1, counts: [] });
    await addUsage(store, { writer: '900 own', number: 1, counts: [] });
    await store.pool.query("insert into store_facts values ('something else', 'x')");
    await forgetUsageWriter(store, '900 own', 500);
    const { rows } = await store.pool.query('select key from store_facts order by key');
    expect(rows.map(({ key }) => key)).toEqual(['something else', 'usage-batch 900 new']);
  });
});
