import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { toBarColumns } from '../../src/domain/market/bar.ts';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { OnlineCopy } from '../../src/store/cluster/online-copy.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { createDatabases, dropDistributed, joinNodes, ownerUrl } from '../support/servers/citus-cluster.ts';

const cluster = inject('cluster')!;
const database = `tg_copy_${randomBytes(4).toString('hex')}`;
const table = 'bar_blocks';

let store: Store;
let client: pg.PoolClient;

beforeAll(async () => {
  await createDatabases(cluster, database);
  store = await openStore({ databaseUrl: ownerUrl(cluster, database), dataDir: '' });
  await joinNodes(cluster, database);
});
afterAll(async () => {
  await store?.close();
  await dropDistributed(cluster, database);
});

let added = 0;

/** Adds a symbol behind all others. */
async function addSymbol(): Promise<void> {
  const bar = { open: 1, high: 1, low: 1, close: ++added, volume: 1, vwap: null, tradeCount: null };
  const bars = toBarColumns([{ ...bar, tsMs: exchangeInstant('2026-11-19', 600) }]);
  await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: `Z${String(added).padStart(6, '0')}`, bars }]));
}

beforeEach(async () => {
  client = await store.pool.connect();
  for (let i = 0; i < 5; i++) await addSymbol();
});
afterEach(async () => {
  if (await isDistributed()) await client.query(`SELECT undistribute_table('${table}')`);
  client.release(true);
});

/** A copy that has begun. */
async function begun(of: pg.ClientBase): Promise<OnlineCopy> {
  const copy = new OnlineCopy(of, 'public', [{ table, by: 'symbol' }]);
  if (await copy.isBegun()) return copy;
  await copy.make('default');
  await client.query('BEGIN');
  await copy.begin();
  await client.query('COMMIT');
  return copy;
}

async function takePlace(copy: OnlineCopy): Promise<void> {
  await client.query('BEGIN');
  await copy.takePlace();
  await client.query('COMMIT');
  await client.query('DROP SCHEMA public_copy CASCADE');
}

/** Symbols of the table, from its shards if it is distributed. */
async function symbols(): Promise<string[]> {
  const { rows } = await client.query<{ symbol: string }>(`SELECT symbol FROM ${table} ORDER BY symbol`);
  return rows.map(({ symbol }) => symbol);
}

const isDistributed = async () =>
  (await client.query(`SELECT FROM pg_dist_partition WHERE logicalrelid = '${table}'::regclass`)).rowCount === 1;

test('a copy ends although symbols are added as fast as they are copied', async () => {
  const writing = new Proxy(client, {
    get: (of, name) =>
      name !== 'query'
        ? Reflect.get(of, name)
        : async (text: string, values: unknown[]) => {
            if (text.startsWith(`INSERT INTO public_copy.${table} `)) await addSymbol();
            return of.query(text, values);
          },
  });
  await (await begun(writing)).copy(table, AbortSignal.timeout(20_000));
  const copy = await begun(client);
  await copy.catchUp(new AbortController().signal);
  const before = await symbols();
  await takePlace(copy);
  expect(await isDistributed()).toBe(true);
  expect(before).toHaveLength(added);
  expect(await symbols()).toEqual(before);
});

test('a copy that was stopped while it caught up resumes, with each row once', async () => {
  const { signal } = new AbortController();
  const stopped = await begun(client);
  await stopped.copy(table, signal);
  await addSymbol();
  await stopped.catchUp(signal);
  await addSymbol();
  const copy = await begun(client);
  await copy.copy(table, signal);
  await copy.catchUp(signal);
  const before = await symbols();
  await takePlace(copy);
  expect(await isDistributed()).toBe(true);
  expect(before).toHaveLength(added);
  expect(await symbols()).toEqual(before);
});
