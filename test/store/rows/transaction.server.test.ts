import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Cluster } from '../../../src/store/cluster/cluster.ts';
import { copyInto } from '../../../src/store/rows/copied-rows.ts';
import { inTransaction, type Transaction } from '../../../src/store/rows/transaction.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
beforeEach(() => store.pool.query('truncate store_facts'));
afterAll(() => store.close());

const keys = async () =>
  (await store.pool.query('select key from store_facts order by key')).rows.map((row) => row.key);

/** Work that writes a row, then fails as often as said, and returns how often it was done. */
function failing(raised: string, failures = 1) {
  const counts = { times: 0 };
  const work = async (tx: Transaction) => {
    counts.times++;
    await tx.query(`insert into store_facts values ('attempt ${counts.times}', '')`);
    if (counts.times <= failures) await tx.query(`do $$ begin ${raised}; end $$`);
    return counts.times;
  };
  return { work, counts };
}

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
    const { work, counts } = failing(`raise serialization_failure`);
    await expect(inTransaction(store, work)).rejects.toMatchObject({ code: '40001' });
    expect(counts.times).toBe(1);
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

describe('a transaction of a distributed store', () => {
  const movedShard = `raise undefined_table using message = 'relation "public.bar_blocks_102008" does not exist'`;
  const spread = () => ({ ...store, cluster: new Cluster(store.pool, true) });

  test.each([
    ['a shard was moved', movedShard],
    ['it met the move of a shard', 'raise deadlock_detected'],
    ['a node was lost', 'raise connection_failure'],
  ])('that failed because %s is done again, and only its last attempt is kept', async (_, raised) => {
    expect(await inTransaction(spread(), failing(raised, 2).work)).toBe(3);
    expect(await keys()).toEqual(['attempt 3']);
  });

  test('that goes on failing is done four times', async () => {
    const { work, counts } = failing(movedShard, 9);
    await expect(inTransaction(spread(), work)).rejects.toMatchObject({ code: '42P01' });
    expect(counts.times).toBe(4);
    expect(await keys()).toEqual([]);
  });

  test.each([
    ['failed for another reason', 'raise unique_violation', {}],
    ['may not be done again', movedShard, { once: true }],
  ])('that %s is done once', async (_, raised, options) => {
    const { work, counts } = failing(raised);
    await expect(inTransaction(spread(), work, options)).rejects.toThrow();
    expect(counts.times).toBe(1);
  });

  test('that failed at its commit is done once', async () => {
    const deferred = `create or replace function pg_temp.fail() returns trigger language plpgsql as
      $$ begin raise deadlock_detected; end $$`;
    let times = 0;
    const work = inTransaction(spread(), async (tx) => {
      times++;
      await tx.query(deferred);
      await tx.query(
        'create constraint trigger fails after insert on store_facts deferrable initially deferred for each row execute function pg_temp.fail()',
      );
      await tx.query(`insert into store_facts values ('a', '1')`);
    });
    await expect(work).rejects.toMatchObject({ code: '40P01' });
    expect(times).toBe(1);
    expect(await keys()).toEqual([]);
  });
});
