import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/engine/connection.ts';
import { databaseUrl, onServer } from './servers/template-database.ts';

/** A store that closing also drops. */
export type TestStore = Store & {
  /** The URL by which another process may open the same database. */
  databaseUrl: string;
};

/**
 * A fresh, migrated, empty store of its own: on the run's embedded server, or, in the project `server`, on PostgreSQL.
 * Close it (`afterAll(() => store.close())`): that drops its database.
 */
export async function testStore(): Promise<TestStore> {
  const { url, run } = inject('testServer');
  const database = `${run}_${randomBytes(5).toString('hex')}`;
  await onServer(url, `create database ${database} template ${run}_template`);
  const own = databaseUrl(url, database);
  const store = await openStore({ databaseUrl: own, dataDir: '', migrate: false });
  let closed: Promise<void> | null = null;
  const close = async () => {
    await store.close();
    await onServer(url, `drop database if exists ${database} with (force)`);
  };
  return {
    ...store,
    databaseUrl: own,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** `testStore` for a single test, dropped when the test ends. */
export async function storeForThisTest(): Promise<TestStore> {
  const store = await testStore();
  onTestFinished(() => store.close());
  return store;
}
