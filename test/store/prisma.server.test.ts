import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type StoreOptions } from '../../src/store/rows/connection.ts';
import { copyInto } from '../../src/store/rows/copied-rows.ts';
import { sqlStateOf } from '../../src/store/rows/sql-state.ts';
import { inTransaction, type Transaction } from '../../src/store/rows/transaction.ts';
import { listen, notify } from '../../src/store/versions/notifications.ts';
import { proxiedDatabase } from '../support/servers/proxied-database.ts';
import { statementsOf } from '../support/statements.ts';
import { type TestStore, testStore } from '../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
beforeEach(() => store.pool.query('truncate store_facts'));
afterAll(() => store.close());

async function opened(options: Partial<StoreOptions> = {}) {
  const one = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', migrate: false, poolSize: 2, ...options });
  onTestFinished(() => one.close());
  return one;
}

const keys = async () => (await store.prisma.metadataEntry.findMany({ orderBy: { key: 'asc' } })).map(({ key }) => key);
const put = (tx: Transaction, key: string) => tx.prisma.metadataEntry.create({ data: { key, value: '1' } });
const backendOf = async (tx: Transaction) => (await tx.query('select pg_backend_pid() as pid')).rows[0].pid;

describe("Prisma's models in a transaction", () => {
  test('see and write what its statements and its COPY do, all or nothing', async () => {
    const work = (fails: boolean) =>
      inTransaction(store, async (tx) => {
        await copyInto(tx, 'store_facts', { key: 'text', value: 'text' }, [['copied', '1']]);
        await put(tx, 'created');
        await tx.prisma.metadataEntry.updateMany({ data: { value: '2' } });
        const { rows } = await tx.query('select key, value from store_facts order by key');
        expect(rows).toEqual([
          { key: 'copied', value: '2' },
          { key: 'created', value: '2' },
        ]);
        expect(await keys()).toEqual([]);
        if (fails) throw new Error('a bad line');
      });
    await expect(work(true)).rejects.toThrow('a bad line');
    expect(await keys()).toEqual([]);
    await work(false);
    expect(await keys()).toEqual(['copied', 'created']);
  });

  test('are those of its own connection, however many transactions run at once and take turns on the connections', async () => {
    const one = await opened({ poolSize: 3 });
    const run = (name: number) =>
      inTransaction(one, async (tx) => {
        await put(tx, `k${name}`);
        const found = await tx.prisma.metadataEntry.findMany();
        expect(found.map(({ key }) => key)).toContain(`k${name}`);
        await tx.prisma.metadataEntry.update({
          where: { key: `k${name}` },
          data: { value: String(await backendOf(tx)) },
        });
        if (name % 2) throw new Error('odd');
      });
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, name) => run(name)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    expect(await keys()).toEqual(Array.from({ length: 20 }, (_, i) => `k${2 * i}`).sort());
  });

  test('tell listeners only when it commits', async () => {
    const heard: string[] = [];
    const stop = await listen(
      store,
      'models',
      (payload) => heard.push(payload),
      () => {},
    );
    onTestFinished(stop);
    const work = (payload: string, fails: boolean) =>
      inTransaction(store, async (tx) => {
        await put(tx, payload);
        await notify(tx, 'models', payload);
        if (fails) throw new Error('no');
      });
    await expect(work('rolled back', true)).rejects.toThrow('no');
    await work('committed', false);
    await expect.poll(() => heard).toEqual(['committed']);
  });

  test('of which one failed unnoticed make it fail instead of seeming committed', async () => {
    const work = inTransaction(store, async (tx) => {
      await put(tx, 'a');
      await put(tx, 'a').catch(() => {});
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await keys()).toEqual([]);
  });

  test('cannot be used after its end, and nothing of them reaches the next transaction', async () => {
    const one = await opened({ poolSize: 1 });
    const kept = await inTransaction(one, async (tx) => tx.prisma);
    await expect(kept.metadataEntry.findMany()).rejects.toThrow('has ended');
    await inTransaction(one, (tx) => put(tx, 'next'));
    await expect(kept.metadataEntry.deleteMany()).rejects.toThrow('has ended');
    expect(await keys()).toEqual(['next']);
  });

  test('end with a connection that breaks, and the pool goes on', async () => {
    const one = await opened();
    const work = inTransaction(one, async (tx) => {
      await put(tx, 'a');
      await store.pool.query('select pg_terminate_backend($1)', [await backendOf(tx)]);
      await put(tx, 'b');
    });
    await expect(work).rejects.toThrow();
    expect(one.pool.totalCount).toBe(one.pool.idleCount);
    await inTransaction(one, (tx) => put(tx, 'c'));
    expect(await keys()).toEqual(['c']);
  });

  test("keep PostgreSQL's code of a conflict, and are tried once", async () => {
    let times = 0;
    await store.prisma.metadataEntry.create({ data: { key: 'a', value: '0' } });
    const work = inTransaction(store, async (tx) => {
      times++;
      await tx.query('set transaction isolation level serializable');
      await tx.prisma.metadataEntry.findMany();
      await store.prisma.metadataEntry.update({ where: { key: 'a' }, data: { value: '1' } });
      await tx.prisma.metadataEntry.update({ where: { key: 'a' }, data: { value: '2' } });
    });
    const error = await work.catch((each) => each);
    expect([sqlStateOf(error), times]).toEqual(['40001', 1]);
  });

  test('are limited in time like its statements', async () => {
    const limited = await opened({ statementTimeoutMs: 100 });
    const key = 'locked';
    await store.prisma.metadataEntry.create({ data: { key, value: '0' } });
    await inTransaction(store, async (tx) => {
      await tx.prisma.metadataEntry.update({ where: { key }, data: { value: '1' } });
      const waiting = inTransaction(limited, (late) =>
        late.prisma.metadataEntry.update({ where: { key }, data: { value: '2' } }),
      );
      const error = await waiting.catch((each) => each);
      expect(sqlStateOf(error)).toBe('57014');
      expect(error.message).toContain('canceling statement due to statement timeout');
    });
  });

  test('whose answer never comes cost their connection', async () => {
    const { proxy, url } = await proxiedDatabase(store.databaseUrl);
    const limited = await opened({ databaseUrl: url, statementTimeoutMs: 100 });
    const hanging = inTransaction(limited, async (tx) => {
      proxy.hang();
      await put(tx, 'a');
    });
    await expect(hanging).rejects.toThrow('Query read timeout');
    expect(limited.pool.totalCount).toBe(0);
    await proxy.bringBack();
    expect(await limited.prisma.metadataEntry.count()).toBe(0);
  });
});

describe("Prisma's models", () => {
  test('run on the version of the adapter that held connections were written against', () => {
    const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    const installed = JSON.parse(text('package.json')).dependencies['@prisma/adapter-pg'];
    expect(text('src/store/rows/models/prisma.ts')).toContain(`@prisma/adapter-pg ${installed},`);
  });

  test('do what wants a transaction only inside of one', async () => {
    await store.prisma.metadataEntry.create({ data: { key: 'k1', value: '1' } });
    // More parameters than a statement may have: Prisma divides it.
    const where = { key: { in: Array.from({ length: 40_000 }, (_, i) => `k${i}`) } };
    await expect(store.prisma.metadataEntry.deleteMany({ where })).rejects.toThrow('inside of inTransaction');
    expect(await keys()).toEqual(['k1']);
    await inTransaction(store, (tx) => tx.prisma.metadataEntry.deleteMany({ where }));
    expect(await keys()).toEqual([]);
  });

  test('are prepared once a connection, in transactions and out of them', async () => {
    const one = await opened({ poolSize: 1 });
    const read = (from: { prisma: Transaction['prisma'] }) =>
      from.prisma.metadataEntry.findMany({ where: { key: 'a' } });
    for (let i = 0; i < 3; i++) {
      await read(one);
      await inTransaction(one, read);
    }
    const { rows } = await one.pool.query(
      `select generic_plans + custom_plans as runs from pg_prepared_statements where statement like '%store_facts%'`,
    );
    expect(rows).toEqual([{ runs: 6 }]);
  });

  test('are observed like every statement, within what asked for them', async () => {
    const request = new AsyncLocalStorage<string>();
    const seen: [string, string | undefined][] = [];
    const one = await opened({
      onStatement: (text) => {
        seen.push([text, request.getStore()]);
        return () => {};
      },
    });
    seen.length = 0;
    await request.run('first', () => inTransaction(one, (tx) => put(tx, 'a')));
    await request.run('second', () => inTransaction(one, (tx) => put(tx, 'b')));
    await request.run('third', async () => void (await one.prisma.metadataEntry.findMany()));
    const named = seen.map(([text, by]) => `${by}: ${text.slice(0, 6)}`);
    expect(named).toEqual([
      'first: begin',
      'first: INSERT',
      'first: commit',
      'second: begin',
      'second: INSERT',
      'second: commit',
      'third: SELECT',
    ]);
  });

  test('cost no statement beside their own', async () => {
    const sent = await statementsOf(() => inTransaction(store, (tx) => tx.prisma.symbol.findMany()));
    expect(sent).toHaveLength(1);
  });

  test('find the tables in the schema that the database user works in', async () => {
    await store.pool.query('create schema if not exists elsewhere');
    const sign = store.databaseUrl.includes('?') ? '&' : '?';
    const databaseUrl = `${store.databaseUrl}${sign}options=${encodeURIComponent('-c search_path=elsewhere')}`;
    const one = await opened({ databaseUrl, migrate: true });
    await one.prisma.metadataEntry.create({ data: { key: 'there', value: '' } });
    expect((await one.pool.query('select key from elsewhere.store_facts')).rows).toEqual([{ key: 'there' }]);
    expect(await keys()).toEqual([]);
  });
});
