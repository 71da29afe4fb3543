import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { toBarColumns } from '../../src/domain/market/bar.ts';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { saveChainCapture } from '../../src/store/chain/chain-captures.ts';
import { tablePlacements } from '../../src/store/cluster/distribution.ts';
import { saveGexCapture } from '../../src/store/gex/captures.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Ran, start, tapegraph } from '../cli/command-line.ts';
import { knownRoutes } from '../contract/known-routes.ts';
import { madeRequests } from '../contract/requests.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { chainCapture, gexCapture } from '../support/option-market.ts';
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

const spread = Object.entries(tablePlacements).filter(([, placement]) => !String(placement).startsWith('first node'));

/** Rows of every table and a checksum over them, whatever their order. */
async function contents(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [table] of spread) {
    const { rows } = await store.pool.query(
      `SELECT count(*)::int AS rows, sum(hashtextextended(row::text, 0))::text AS checksum
       FROM (SELECT * FROM ${table} WHERE NOT (coalesce(to_jsonb(${table}) ->> 'symbol', to_jsonb(${table}) ->> 'underlying') LIKE 'NEW%') IS TRUE OFFSET 0) AS row`,
    );
    found[table] = rows[0];
  }
  return found;
}

/** Answers of the contract's routes, read again from the store. */
async function answers(): Promise<string[]> {
  const gets = knownRoutes().filter(({ route, name }) => route.method === 'GET' && !/usage|keys/.test(name));
  const paths = gets.flatMap((one) =>
    madeRequests(one, 0)
      .slice(0, 3)
      .map(({ path }) => path),
  );
  const found: string[] = [];
  for (const path of paths) {
    app.store.versions.move({ market: null, chain: null, gex: null, flow: null, offexchange: null });
    const { status, bytes } = await app.get(path);
    found.push(`${path} ${status} ${bytes.toString('latin1')}`);
  }
  return found;
}

/** Rows of `writeNew` that are stored. */
async function newNets(): Promise<Map<string, number>> {
  const { rows } = await store.pool.query(
    `SELECT underlying, net_gex FROM gex_captures JOIN bar_blocks ON symbol = underlying
     WHERE symbol LIKE 'NEW%' ORDER BY substr(underlying, 4)::int`,
  );
  return new Map(rows.map(({ underlying, net_gex: net }) => [underlying, net]));
}

/** The tables that are spread, from the catalog: the view `citus_tables` throws when a table changes meanwhile. */
async function placesTaken(): Promise<string> {
  const { rows } = await store.pool.query(
    'SELECT logicalrelid::regclass::text AS table_name FROM pg_dist_partition ORDER BY 1',
  );
  return rows.map(({ table_name: name }) => name).join(' ');
}

/** Progress of a run: the tables that are spread, and the last symbol copied of the others. */
async function progressOf(): Promise<string> {
  const { rows } = await store.pool.query(`SELECT to_regclass('public_copy.copied') IS NOT NULL AS begun`);
  if (!rows[0].begun) return placesTaken();
  // It may be dropped in between, which is progress too.
  const copied = await store.pool.query('SELECT "table", through FROM public_copy.copied ORDER BY 1').then(
    (found) => JSON.stringify(found.rows),
    () => '',
  );
  return `${await placesTaken()} ${copied}`;
}

/** Kills a run once it has come some steps further, unless it ends before: at the same places on any machine. */
async function killAfter(steps: number, child: ChildProcess): Promise<void> {
  let left = steps;
  for (let seen = await progressOf(); left > 0; await delay(5)) {
    if (child.exitCode !== null) return;
    const now = await progressOf();
    if (now !== seen) left--;
    seen = now;
  }
  child.kill('SIGKILL');
}

/** Temporary schemas and triggers of a copy that still exist. */
async function left(): Promise<unknown[]> {
  const { rows } = await store.pool.query(
    `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE '%copy' UNION SELECT tgname FROM pg_trigger WHERE tgname LIKE 'copied%'`,
  );
  return rows;
}

/** Inserts into tables of two groups in one transaction, and changes or deletes what the calls before it inserted. */
async function writeNew(i: number, nets: Map<string, number>): Promise<void> {
  const [symbol, changed, deleted] = [i, i - 1, i - 3].map((number) => `NEW${number}`) as [string, string, string];
  const bar = { open: 1, high: 1, low: 1, close: 1, volume: 1, vwap: null, tradeCount: null };
  const bars = toBarColumns([{ ...bar, tsMs: exchangeInstant('2026-11-19', 600) }]);
  await inTransaction(store, async (tx) => {
    await writeBars(tx, '1m', [{ symbol, bars }]);
    await saveChainCapture(tx, chainCapture(symbol, filledNowMs, []));
    await saveGexCapture(tx, gexCapture(symbol, filledNowMs, []));
    await tx.query('UPDATE gex_captures SET net_gex = $2 WHERE underlying = $1', [changed, i]);
    if (i % 3 === 0) await tx.query('DELETE FROM gex_captures WHERE underlying = $1', [deleted]);
  });
  nets.set(symbol, 0);
  if (nets.has(changed)) nets.set(changed, i);
  if (i % 3 === 0) nets.delete(deleted);
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

describe('tapegraph distribute, of a store full of data', () => {
  test('killed at any instant and run again, while it is read and written, fails no request and no write', async () => {
    const wasContents = await contents();
    const wasAnswers = await answers();
    const ended = new AbortController();
    const nets = new Map<string, number>();
    const failed: string[] = [];
    const different: string[] = [];
    const writer = (async () => {
      for (let i = 0; !ended.signal.aborted; i++) {
        await writeNew(i, nets).catch((error: Error) => failed.push(error.message));
        await delay(20);
      }
    })();
    const reader = (async () => {
      let rounds = 0;
      for (; !ended.signal.aborted; rounds++)
        for (const [i, answer] of (await answers()).entries())
          if (answer !== wasAnswers[i]) different.push(answer.slice(0, 300));
      return rounds;
    })();
    const steps = new Set<string>();
    let kills = 0;
    let last: Ran;
    for (;;) {
      const { child, ended: exited } = start(['distribute', '--json'], env);
      // Further each time: in the first copy, at its end, between groups of tables.
      const killed = killAfter(2 ** kills, child);
      last = await exited;
      await killed;
      steps.add(await placesTaken());
      if (last.code !== null) break;
      kills += 1;
    }
    await delay(300);
    ended.abort();
    await writer;
    expect(await reader).toBeGreaterThan(1);
    expect(last).toMatchObject({ code: 0, stderr: '' });
    expect(failed).toEqual([]);
    expect(different).toEqual([]);
    expect(kills).toBeGreaterThan(3);
    expect(steps.size).toBeGreaterThan(2);
    expect(await contents()).toEqual(wasContents);
    expect(await answers()).toEqual(wasAnswers);
    expect(nets.size).toBeGreaterThan(20);
    expect(await newNets()).toEqual(nets);
    const again = await tapegraph(['distribute'], env);
    expect(again.stdout).toBe('Every table is distributed: nothing to do.\n');
    expect(await left()).toEqual([]);
  }, 300_000);
});
