import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/connection.ts';

/** A store that closing also drops. */
export type TestStore = Store & {
  /** The URL by which another process may open the same database. */
  databaseUrl: string;
};

/**
 * A fresh, migrated, empty store of its own on the run's embedded server. Close it (`afterAll(() => store.close())`): that
 * drops its database.
 */
export async function testStore(): Promise<TestStore> {
  const { host, port, user, template } = inject('embeddedServer');
  const admin = { host, port, user, database: 'postgres', ssl: false };
  const database = `t_${randomBytes(6).toString('hex')}`;
  await run(admin, `create database ${database} template ${template}`);
  const databaseUrl = `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  return dropping(await openStore({ databaseUrl, dataDir: '', migrate: false }), databaseUrl, admin, database);
}

const serverUrl = process.env.DATABASE ?? 'postgresql://postgres@127.0.0.1:5432/postgres';

/** Whether the PostgreSQL server of `DATABASE` (default: 127.0.0.1:5432) answers. With CI set it must: then absence throws. */
export async function serverAnswers(): Promise<boolean> {
  try {
    await run({ connectionString: serverUrl, connectionTimeoutMillis: 2_000 }, 'select 1');
    return true;
  } catch (error) {
    if (process.env.CI === 'true')
      throw new Error('CI needs a PostgreSQL server at DATABASE or 127.0.0.1:5432.', { cause: error });
    console.warn(
      `No PostgreSQL server answers at 127.0.0.1:5432: its suites are passed over (${(error as Error).message}).`,
    );
    return false;
  }
}

/** As `testStore`, on the PostgreSQL server: use with `describe.runIf(await serverAnswers())`. */
export async function serverStore(): Promise<TestStore> {
  const database = `tg_test_${randomBytes(6).toString('hex')}`;
  const admin = { connectionString: serverUrl };
  await run(admin, `create database ${database}`);
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return dropping(await openStore({ databaseUrl: url.href, dataDir: '' }), url.href, admin, database);
}

/** `testStore` for a single test, dropped when the test ends. */
export async function storeForThisTest(): Promise<TestStore> {
  const store = await testStore();
  onTestFinished(() => store.close());
  return store;
}

function dropping(store: Store, databaseUrl: string, admin: pg.ClientConfig, database: string): TestStore {
  let closed: Promise<void> | null = null;
  const close = async () => {
    await store.close();
    await run(admin, `drop database if exists ${database} with (force)`);
  };
  return {
    ...store,
    databaseUrl,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

async function run(config: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
