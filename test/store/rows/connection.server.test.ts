import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/store/rows/connection.ts';
import { type TestStore, testStore } from '../../support/store.ts';

describe('a store', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  test('answers Prisma and raw SQL from the same tables', async () => {
    await store.prisma.metadataEntry.create({ data: { key: 'a', value: 'ü €' } });
    const { rows } = await store.pool.query('select value from store_facts where key = $1', ['a']);
    expect(rows).toEqual([{ value: 'ü €' }]);
  });

  test('prepares the statements of Prisma', async () => {
    const one = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', poolSize: 1 });
    await one.prisma.metadataEntry.findMany({ where: { key: 'a' } });
    const prepared = await one.pool.query("select * from pg_prepared_statements where statement like '%store_facts%'");
    expect(prepared.rowCount).toBe(1);
    await one.close();
  });

  test('may be closed twice', async () => {
    const one = await openStore({ databaseUrl: store.databaseUrl, dataDir: '' });
    await Promise.all([one.close(), one.close()]);
    await one.close();
  });

  test('goes on when its connections are lost', async () => {
    const lost: string[] = [];
    const one = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', log: (line) => lost.push(line) });
    const { rows } = await one.pool.query('select pg_backend_pid() as pid');
    await store.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    await expect.poll(() => lost.join()).toContain('A database connection was lost');
    expect(await one.prisma.metadataEntry.count()).toBe(1);
    await one.close();
  });

  test('outlives a connection that is lost while it is lent and no statement is under way', async () => {
    const one = await openStore({ databaseUrl: store.databaseUrl, dataDir: '' });
    const client = await one.pool.connect();
    const { rows } = await client.query('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    // An error event without a listener would end this process.
    await store.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    await ended;
    await expect(client.query('select 1')).rejects.toThrow();
    client.release(true);
    expect(await one.prisma.metadataEntry.count()).toBe(1);
    await one.close();
  });

  test('that cannot be reached says so, and not its password', async () => {
    const opened = openStore({ databaseUrl: 'postgresql://me:hunter2@127.0.0.1:1/x', dataDir: '' });
    await expect(opened).rejects.toThrow(/^The database of DATABASE_URL cannot be used: (?!.*hunter2).*ECONNREFUSED/);
  });

  test('orders text by code point, whatever language its database was made for', async () => {
    const names = ['BRK.B', 'BRKA', 'BRK-A', 'a', 'B', 'ä', 'Z'];
    await store.pool.query('delete from store_facts');
    await store.prisma.metadataEntry.createMany({ data: names.map((key) => ({ key, value: '' })) });
    const { rows } = await store.pool.query('select key from store_facts order by key');
    expect(rows.map((row) => row.key)).toEqual([...names].sort());
  });
});
