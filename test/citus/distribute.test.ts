import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { toBarColumns } from '../../src/domain/bar.ts';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { openStore, type Store } from '../../src/store/engine/connection.ts';
import { type DistributeOptions, distribute } from '../../src/store/engine/distribute.ts';
import { tablePlacements } from '../../src/store/engine/distribution.ts';
import { inTransaction } from '../../src/store/engine/transaction.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { tapegraph } from '../cli/command-line.ts';
import { madeRequests } from '../contract/requests.ts';
import { knownRoutes } from '../contract/route-cases.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import {
  createDatabases,
  dropDistributed,
  joinNodes,
  nodeUrl,
  statementsAt,
} from '../support/servers/citus-cluster.ts';

const cluster = inject('cluster')!;
const database = `tg_distribute_${randomBytes(4).toString('hex')}`;
const databaseUrl = nodeUrl(cluster, 0, database);
const env = { DATABASE_URL: databaseUrl };
const options: DistributeOptions = { onlineFromBytes: null, signal: new AbortController().signal, onProgress() {} };

let store: Store;
let app: TestApp;

beforeAll(async () => {
  await createDatabases(cluster, database);
  // Opened before the database knows of Citus, as by a gateway that has been running for long.
  store = await openStore({ databaseUrl, dataDir: '' });
  app = await testApp({ nowMs: filledNowMs, store: { ...store, databaseUrl } });
  await fillMarket(store);
});
afterAll(async () => {
  await app?.close();
  await dropDistributed(cluster, database);
});

const spread = Object.entries(tablePlacements).filter(([, placement]) => placement !== 'first node');

/** Rows of every table and a checksum over them, whatever their order. */
async function contents(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [table] of spread) {
    const { rows } = await store.pool.query(
      `SELECT count(*)::int AS rows, sum(hashtextextended(row::text, 0))::text AS checksum
       FROM (SELECT * FROM ${table} WHERE NOT (to_jsonb(${table}) ->> 'symbol' LIKE 'NEW%') IS TRUE OFFSET 0) AS row`,
    );
    found[table] = rows[0];
  }
  return found;
}

/** What the routes of the contract answer. */
async function answers(): Promise<string[]> {
  const gets = knownRoutes().filter(({ route, name }) => route.method === 'GET' && /stocks|gex|flow|off/.test(name));
  const paths = gets.flatMap((one) =>
    madeRequests(one, 0)
      .slice(0, 3)
      .map(({ path }) => path),
  );
  const found: string[] = [];
  for (const path of paths) {
    const { status, bytes } = await app.get(path);
    found.push(`${path} ${status} ${bytes.toString('latin1')}`);
  }
  return found;
}

describe('tapegraph distribute says what a cluster lacks', () => {
  test('DATABASE_URL, the extension, the coordinator, workers', async () => {
    expect((await tapegraph(['distribute'], env)).stderr).toContain('run "CREATE EXTENSION citus" in this database');
    await joinNodes(cluster, database, []);
    const unjoined = await tapegraph(['distribute'], env);
    expect(unjoined.stderr).toContain(`run "SELECT citus_add_node('worker-1', 5432)"`);
    expect(unjoined.code).toBe(1);
    for (const port of cluster.ports.slice(1))
      await statementsAt(databaseUrl, [`SELECT citus_add_node('127.0.0.1', ${port})`]);
    const worker = await tapegraph(['distribute'], { DATABASE_URL: nodeUrl(cluster, 1, database) });
    expect(worker.stderr).toContain('DATABASE_URL is a worker of the Citus cluster');
    const { rowCount } = await statementsAt(nodeUrl(cluster, 1, database), [
      `SELECT FROM pg_class WHERE relname = 'symbols'`,
    ]);
    expect(rowCount).toBe(0);
    expect((await tapegraph(['distribute'])).stderr).toContain('DATABASE_URL is not set');
  });
});

describe('tapegraph distribute, of a store full of data', () => {
  test('stopped at any instant and run again, while it is read and written, loses and doubles nothing', async () => {
    const wasContents = await contents();
    const wasAnswers = await answers();
    const ended = new AbortController();
    const written: string[] = [];
    const different: string[] = [];
    const bar = { open: 1, high: 1, low: 1, close: 1, volume: 1, vwap: null, tradeCount: null };
    const bars = toBarColumns([{ ...bar, tsMs: exchangeInstant('2026-11-19', 600) }]);
    const writer = (async () => {
      for (let i = 0; !ended.signal.aborted; i++) {
        const write = () => inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: `NEW${i}`, bars }]));
        // A transaction that waited for the end of a copy may be sent to where the rows were; it is rolled back.
        await write().catch((error: Error) => {
          expect(error.message).toContain('could not find valid entry for shard');
          return write();
        });
        written.push(`NEW${i}`);
        await delay(50);
      }
    })();
    const reader = (async () => {
      let rounds = 0;
      for (; !ended.signal.aborted; rounds++) {
        for (const [i, answer] of (await answers()).entries())
          if (answer !== wasAnswers[i]) different.push(answer.slice(0, 300));
        await delay(200);
      }
      return rounds;
    })();
    let stopped = 0;
    for (;;) {
      // Later each time: in the first copy, at its end, between tables.
      let progress = 0;
      const onProgress: DistributeOptions['onProgress'] = () => {
        if (++progress === 2 + 3 * stopped)
          void store.pool.query(
            `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
             AND (classid::bigint << 32 | objid::bigint) = hashtextextended('distribute', 0)`,
          );
      };
      try {
        await distribute(store, { ...options, onlineFromBytes: 500_000, onProgress });
        break;
      } catch (error) {
        if (++stopped > 12 || !/terminat|not queryable/.test((error as Error).message)) throw error;
      }
    }
    await delay(300);
    ended.abort();
    await writer;
    expect(await reader).toBeGreaterThan(1);
    expect(different).toEqual([]);
    expect(stopped).toBeGreaterThan(2);
    expect(await contents()).toEqual(wasContents);
    expect(await answers()).toEqual(wasAnswers);
    const { rows } = await store.pool.query(`SELECT symbol FROM bar_blocks WHERE symbol LIKE 'NEW%'`);
    expect(rows.map(({ symbol }) => symbol).sort()).toEqual(written.sort());
  }, 150_000);
});
