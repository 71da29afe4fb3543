import { setImmediate as iteration } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type pg from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { beginRequest } from '../../../src/platform/runtime/event-loop.ts';
import { withinRequest } from '../../../src/platform/runtime/request-scope.ts';
import { contractLines } from '../../../src/store/chain/contract-lines.ts';
import { openStore, type Store, withSnapshot } from '../../../src/store/rows/connection.ts';
import { lock } from '../../../src/store/rows/locks.ts';
import { analyzeGrown } from '../../../src/store/rows/statistics.ts';
import { inTransaction, type Transaction } from '../../../src/store/rows/transaction.ts';
import { beginGeneration } from '../../../src/store/superseded/generation.ts';
import { storeForThisTest } from '../../support/store.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let store: Store;
beforeEach(async () => {
  const { databaseUrl } = await storeForThisTest();
  store = await openStore({ databaseUrl, dataDir: '', poolSize: 1, statementTimeoutMs: 10_000 });
  onTestFinished(() => store.close());
});

const listed = [{ underlying: 'SPY', contract: readOptionContract('O:SPY261218C00600000')! }];
const write = (tx: Transaction) => tx.query("INSERT INTO store_facts VALUES ('a', '1')");

/** State of a connection: its own properties, its listeners, and what its session in the database is set to. */
async function carried(): Promise<object> {
  const client: pg.PoolClient = await store.pool.connect();
  try {
    const settings = `SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name`;
    const locks = `SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`;
    return {
      settings: (await client.query(settings)).rows,
      locks: (await client.query(locks)).rows,
      properties: Object.keys(client).sort(),
      listeners: client.eventNames().map((name) => [name, client.listenerCount(name)]),
    };
  } finally {
    client.release();
  }
}

test.each<[what: string, work: () => Promise<unknown>]>([
  ['a transaction that commits', () => inTransaction(store, write)],
  ['a transaction that fails', () => inTransaction(store, (tx) => tx.query('SELECT no_such_column'))],
  ['a transaction of models', () => inTransaction(store, ({ prisma }) => prisma.metadataEntry.findMany())],
  ['a transaction that holds locks', () => inTransaction(store, (tx) => lock(tx, 'bars'), { lock: 'all' })],
  ['a transaction of a generation', () => inTransaction(store, (tx) => beginGeneration(tx, 1))],
  ['a snapshot', () => readSnapshot()],
  ['the upkeep of statistics', () => analyzeGrown(store)],
  ['a read row by row', () => contractLines(store, listed, { throughMs: 4e12, captures: 1 })],
])('a connection carries nothing of %s after it is released', async (_, work) => {
  const before = await carried();
  await work().catch(() => {});
  expect(store.pool.totalCount).toBe(1);
  expect(await carried()).toEqual(before);
});

async function readSnapshot(): Promise<void> {
  const { snapshot, reader } = withSnapshot(store);
  await reader!.query('SELECT 1');
  await reader!.prisma.metadataEntry.findMany();
  await snapshot.end();
}

test('a transaction that has ended sends nothing over the connection, which is already of others', async () => {
  let ended: Transaction | null = null;
  await inTransaction(store, async (tx) => {
    ended = tx;
  });
  expect(() => ended!.query('SELECT 1')).toThrow('The transaction has ended.');
});

describe('a connection that a request makes', () => {
  test.each<[how: string, work: () => Promise<unknown>]>([
    ['a statement', () => store.pool.query('SELECT 1')],
    ['a transaction', () => inTransaction(store, write)],
  ])('does not hold the request, by %s', async (_, work) => {
    await store.pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {});
    await expect.poll(() => store.pool.totalCount).toBe(0);
    const request = async () => {
      const scope = beginRequest(0, () => new Error('gone'));
      await withinRequest(scope, work);
      scope.end();
      return new WeakRef(scope);
    };
    const held = await request();
    // The pool's timer for an idle connection is of the last request that released it.
    await store.pool.query('SELECT 1');
    for (let i = 0; i < 5; i++) await iteration();
    collect();
    expect(store.pool.totalCount).toBe(1);
    expect(held.deref()).toBeUndefined();
  });
});
