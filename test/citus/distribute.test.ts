import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { tablePlacements } from '../../src/store/cluster/distribution.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { start, tapegraph } from '../cli/command-line.ts';
import { knownRoutes } from '../contract/known-routes.ts';
import { madeRequests } from '../contract/requests.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import {
  createDatabases,
  dropDistributed,
  joinNodes,
  nodeUrl,
  ownerUrl,
  statementsAt,
} from '../support/servers/citus-cluster.ts';

const cluster = inject('cluster')!;
const database = `tg_distribute_${randomBytes(4).toString('hex')}`;
const databaseUrl = ownerUrl(cluster, database);
const env = { DATABASE_URL: databaseUrl };

beforeAll(async () => {
  await createDatabases(cluster, database);
  await using(({ store }) => fillMarket(store));
});
afterAll(() => dropDistributed(cluster, database));

/** Runs work with a gateway on the store, and closes it. */
async function using<T>(work: (app: TestApp) => Promise<T>): Promise<T> {
  const store = await openStore({ databaseUrl, dataDir: '' });
  const app = await testApp({ nowMs: filledNowMs, store: { ...store, databaseUrl } });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

const spread = Object.entries(tablePlacements).filter(([, placement]) => !String(placement).startsWith('first node'));

/** Rows of every table and a checksum over them, whatever their order. */
async function contents({ store }: TestApp): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [table] of spread) {
    const { rows } = await store.pool.query(
      `SELECT count(*)::int AS rows, sum(hashtextextended(row::text, 0))::text AS checksum
       FROM (SELECT * FROM ${table} OFFSET 0) AS row`,
    );
    found[table] = rows[0];
  }
  return found;
}

/** Answers of the contract's routes. */
async function answers(app: TestApp): Promise<string[]> {
  const gets = knownRoutes().filter(({ route, name }) => route.method === 'GET' && !/usage|keys/.test(name));
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
      await statementsAt(nodeUrl(cluster, 0, database), [`SELECT citus_add_node('127.0.0.1', ${port})`]);
    const worker = await tapegraph(['distribute'], { DATABASE_URL: nodeUrl(cluster, 1, database) });
    expect(worker.stderr).toContain('DATABASE_URL is a worker of the Citus cluster');
    const { rowCount } = await statementsAt(nodeUrl(cluster, 1, database), [
      `SELECT FROM pg_class WHERE relname = 'symbols'`,
    ]);
    expect(rowCount).toBe(0);
    expect((await tapegraph(['distribute'])).stderr).toContain('DATABASE_URL is not set');
  });
});

/** Number of tables that Citus manages. */
async function distributed(): Promise<number> {
  return (await statementsAt(nodeUrl(cluster, 0, database), ['SELECT FROM pg_dist_partition'])).rowCount!;
}

describe('tapegraph distribute, of a store full of data', () => {
  test('is refused while a server uses the store', async () => {
    const ran = await using(() => tapegraph(['distribute'], env));
    expect(ran.stderr).toMatch(/The store is in use: \d+ connections of serve, follow, ingest or another command/);
    expect(ran.code).toBe(1);
    expect(await distributed()).toBe(0);
  });

  test('killed and run again, leaves the contents and the answers as they were', async () => {
    const was = await using(async (app) => ({ contents: await contents(app), answers: await answers(app) }));
    const { child, ended } = start(['distribute'], env);
    while ((await distributed()) < 5) await delay(5);
    child.kill('SIGKILL');
    await ended;
    // Its connections end when the server notices.
    let last = await tapegraph(['distribute', '--json'], env);
    for (; /in use/.test(last.stderr); last = await tapegraph(['distribute', '--json'], env)) await delay(50);
    expect(last).toMatchObject({ code: 0, stderr: '' });
    const { tables } = JSON.parse(last.stdout) as { tables: { table: string; by: string | null }[] };
    expect(tables.length).toBeGreaterThan(0);
    expect(tables.length).toBeLessThan(spread.length);
    const is = await using(async (app) => ({ contents: await contents(app), answers: await answers(app) }));
    expect(is).toEqual(was);
    expect((await tapegraph(['distribute'], env)).stdout).toBe('Every table is distributed: nothing to do.\n');
    // Copied rows are on the nodes only.
    const left = await statementsAt(nodeUrl(cluster, 0, database), [
      `SELECT logicalrelid FROM pg_dist_partition WHERE partmethod = 'h' AND pg_relation_size(logicalrelid) > 0`,
    ]);
    expect(left.rowCount).toBe(0);
  });
});
