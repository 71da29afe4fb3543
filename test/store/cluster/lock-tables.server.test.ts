import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { lockTables } from '../../../src/store/cluster/lock-tables.ts';
import { storeForThisTest } from '../../support/store.ts';

test('a writer is never ended for a deadlock with what takes several tables, however long each keeps it waiting', async () => {
  const store = await storeForThisTest();
  const tables = ['watchlists', 'journal_trades', 'journal_accounts', 'usage_counts'];
  const sessions = Array.from({ length: 4 }, () => new pg.Client({ connectionString: store.databaseUrl }));
  const [taker, writer, second, third] = sessions as [pg.Client, pg.Client, pg.Client, pg.Client];
  onTestFinished(async () => void (await Promise.all(sessions.map((session) => session.end()))));
  for (const session of sessions) {
    await session.connect();
    await session.query('BEGIN');
  }
  const hold = (session: pg.Client, table: string) => session.query(`LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`);
  // The writer has the last, others those between; each is given up just before it has been waited for too long.
  await hold(writer, tables[3]!);
  await hold(second, tables[1]!);
  await hold(third, tables[2]!);
  await taker.query(`SET LOCAL lock_timeout = '500ms'`);
  const taken = lockTables(taker, tables, 'ACCESS EXCLUSIVE').then(
    () => 'taken',
    async (error: { code: string }) => {
      await taker.query('ROLLBACK');
      return error.code;
    },
  );
  await delay(50);
  const written = hold(writer, tables[0]!).then(
    () => 'written',
    (error: Error) => error.message,
  );
  await delay(350);
  await second.query('COMMIT');
  await delay(400);
  await third.query('COMMIT');
  expect([await taken, await written]).toEqual(['55P03', 'written']);
});

test('tables that nobody holds are taken', async () => {
  const store = await storeForThisTest();
  const client = await store.pool.connect();
  try {
    await client.query('BEGIN');
    await lockTables(client, ['watchlists', 'usage_counts'], 'ACCESS EXCLUSIVE');
    const { rows } = await client.query(
      `SELECT relation::regclass::text AS table FROM pg_locks
       WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' ORDER BY 1`,
    );
    expect(rows.map(({ table }) => table)).toEqual(['usage_counts', 'watchlists']);
    await client.query('ROLLBACK');
  } finally {
    client.release();
  }
});
