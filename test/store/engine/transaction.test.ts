import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { copyInto } from '../../../src/store/engine/copy.ts';
import { inTransaction } from '../../../src/store/engine/transaction.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
beforeEach(() => store.pool.query('truncate store_facts'));
afterAll(() => store.close());

const keys = async () =>
  (await store.pool.query('select key from store_facts order by key')).rows.map((row) => row.key);

describe('a transaction', () => {
  test('gives back what its work returns, and its writes are there', async () => {
    const answer = await inTransaction(store, async (tx) => {
      await tx.query("insert into store_facts values ('a', '1')");
      return 42;
    });
    expect(answer).toBe(42);
    expect(await keys()).toEqual(['a']);
  });

  test('takes COPY and statements on one connection, all or nothing', async () => {
    const load = (fail: boolean) =>
      inTransaction(store, async (tx) => {
        await copyInto(tx, 'store_facts', { key: 'text', value: 'text' }, [
          ['x', '1'],
          ['y', '2'],
        ]);
        await tx.query("update store_facts set value = value || '!'");
        if (fail) throw new Error('a bad line');
      });
    await expect(load(true)).rejects.toThrow('a bad line');
    expect(await keys()).toEqual([]);
    await load(false);
    expect(await keys()).toEqual(['x', 'y']);
  });

  test('in which a statement failed unnoticed says so instead of seeming committed', async () => {
    const work = inTransaction(store, async (tx) => {
      await tx.query("insert into store_facts values ('a', '1')");
      await tx.query('select no_such_column').catch(() => {});
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await keys()).toEqual([]);
  });

  test('is tried once', async () => {
    let times = 0;
    const work = inTransaction(store, async (tx) => {
      times++;
      await tx.query('do $$ begin raise serialization_failure; end $$');
    });
    await expect(work).rejects.toMatchObject({ code: '40001' });
    expect(times).toBe(1);
  });

  test('whose connection breaks fails, and the pool goes on', async () => {
    const work = inTransaction(store, async (tx) => {
      await tx.query("insert into store_facts values ('a', '1')");
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      await store.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
      await tx.query('select 1');
    });
    await expect(work).rejects.toThrow();
    expect(await keys()).toEqual([]);
    expect(store.pool.totalCount).toBe(store.pool.idleCount);
  });
});
