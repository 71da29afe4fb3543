import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { createDistributed, dropDistributed } from './servers/citus-cluster.ts';
import { databaseUrl, onServer } from './servers/template-database.ts';

/** A store that closing also drops. */
export type TestStore = Store & {
  /** The URL by which another process may open the same database. */
  databaseUrl: string;
};

/**
 * A fresh, migrated, empty store of its own: on the run's embedded server, in the project `server` on PostgreSQL, in
 * the project `citus` distributed over a cluster. Close it (`afterAll(() => store.close())`): that drops its database.
 */
export async function testStore(): Promise<TestStore> {
  const cluster = inject('cluster');
  if (!cluster) return singleStore();
  const database = `tg_test_${randomBytes(5).toString('hex')}`;
  await createDistributed(cluster, database);
  return opened(databaseUrl(cluster.url, database), () => dropDistributed(cluster, database));
}

/** The same on one PostgreSQL, in every project. */
export async function singleStore(): Promise<TestStore> {
  return openDatabase(await newDatabase());
}

/** Makes a database of this run, a copy of another, and returns its name. */
async function newDatabase(copied?: string): Promise<string> {
  const { url, run, copying } = inject('testServer');
  const database = `${run}_${randomBytes(5).toString('hex')}`;
  await onServer(url, `create database ${database} template ${copied ?? `${run}_template`} ${copying}`);
  return database;
}

function openDatabase(database: string): Promise<TestStore> {
  const { url } = inject('testServer');
  return opened(databaseUrl(url, database), async () => {
    await onServer(url, `drop database if exists ${database} with (force)`);
  });
}

/**
 * Makes stores that hold what `fill` stores: one is filled, and all are copies of it. On a cluster, which copies no
 * database, each is filled.
 */
export function filledStores(fill: (store: Store) => Promise<void>): () => Promise<TestStore> {
  let filled: Promise<string> | null = null;
  const fillOne = async () => {
    const database = await newDatabase();
    const store = await openStore({
      databaseUrl: databaseUrl(inject('testServer').url, database),
      dataDir: '',
      migrate: false,
    });
    try {
      await fill(store);
    } finally {
      // A database with connections cannot be copied. The end of the run drops it.
      await store.close();
    }
    return database;
  };
  return async () => {
    if (!inject('cluster')) {
      filled ??= fillOne();
      return openDatabase(await newDatabase(await filled));
    }
    const store = await testStore();
    await fill(store);
    return store;
  };
}

async function opened(url: string, drop: () => Promise<void>): Promise<TestStore> {
  const store = await openStore({ databaseUrl: url, dataDir: '', migrate: false });
  let closed: Promise<void> | null = null;
  const close = async () => {
    await store.close();
    await drop();
  };
  return {
    ...store,
    databaseUrl: url,
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
