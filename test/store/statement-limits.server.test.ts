import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { waitingForLocks } from '../support/locks.ts';
import { proxiedDatabase } from '../support/servers/proxied-database.ts';
import { databaseUrl, onServer } from '../support/servers/template-database.ts';
import { storeForThisTest } from '../support/store.ts';

describe('a store whose statements are limited', () => {
  test('ends what takes longer, and uses the connection again', async () => {
    const { databaseUrl } = await storeForThisTest();
    const limited = await openStore({ databaseUrl, dataDir: '', poolSize: 1, statementTimeoutMs: 100 });
    onTestFinished(() => limited.close());
    const backend = async () => (await limited.pool.query('select pg_backend_pid() as pid')).rows[0].pid;
    const before = await backend();
    const slow = inTransaction(limited, (tx) => tx.query('select pg_sleep(60)'));
    await expect(slow).rejects.toThrow('canceling statement due to statement timeout');
    expect(await backend()).toBe(before);
  });

  test('gives up a database that does not answer at all, in and out of transactions, and finds it again', async () => {
    const { databaseUrl } = await storeForThisTest();
    const { proxy, url } = await proxiedDatabase(databaseUrl);
    const limited = await openStore({ databaseUrl: url, dataDir: '', migrate: false, statementTimeoutMs: 100 });
    onTestFinished(() => limited.close());
    await limited.pool.query('select 1');
    const hanging = inTransaction(limited, async (tx) => {
      proxy.hang();
      await tx.query('select 1');
    });
    await expect(hanging).rejects.toThrow('Query read timeout');
    expect(limited.pool.totalCount).toBe(0);
    await proxy.bringBack();
    expect((await limited.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('waits as long as it takes for another process that migrates', async () => {
    const { url, run } = inject('testServer');
    const database = `${run}_${randomBytes(5).toString('hex')}`;
    await onServer(url, `create database ${database}`);
    const other = new pg.Client({ connectionString: databaseUrl(url, database) });
    await other.connect();
    await other.query('select pg_advisory_lock(72707369)');
    const opened = openStore({ databaseUrl: databaseUrl(url, database), dataDir: '', statementTimeoutMs: 50 });
    await expect.poll(() => waitingForLocks(other)).toBe(1);
    // Longer than the limit, and than what a connection is given beyond it.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    await other.end();
    const limited = await opened;
    expect(limited.migrated).not.toEqual([]);
    await limited.close();
    await onServer(url, `drop database ${database} with (force)`);
  });
});
