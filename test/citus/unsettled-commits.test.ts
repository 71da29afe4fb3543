import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { watchChanges } from '../../src/store/versions/announcements.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { buildDistributed, dropDistributed, nodeUrl, statementsAt } from '../support/servers/citus-cluster.ts';
import { type CommitProxy, commitProxy } from '../support/servers/commit-proxy.ts';

const cluster = inject('cluster')!;
const database = `tg_settling_${randomBytes(4).toString('hex')}`;
const soon = { timeout: 20_000, interval: 50 };
const nowMs = exchangeInstant('2026-11-20', 600);
const symbols = Array.from({ length: 16 }, (_, i) => `ST${String.fromCharCode(65 + i)}`);

let proxy: CommitProxy;
/** The gateway, and a store that another process writes. */
let app: TestApp;
let writer: Store;
/** A symbol of the worker behind the proxy, and one of the other worker. */
let far: string;
let near: string;

beforeAll(async () => {
  proxy = await commitProxy(cluster.ports[1]!);
  await buildDistributed(cluster, database, [proxy.port, cluster.ports[2]!]);
  const databaseUrl = nodeUrl(cluster, 0, database);
  const open = () => openStore({ databaseUrl, dataDir: '', migrate: false });
  writer = await open();
  app = await testApp({
    nowMs,
    store: { ...(await open()), databaseUrl },
    symbols: symbols.map((symbol) => ({ ...testSymbols[1]!, symbol, name: symbol })),
  });
  far = await symbolAt(proxy.port);
  near = await symbolAt(cluster.ports[2]!);
});
afterAll(async () => {
  await app?.close();
  await writer?.close();
  await dropDistributed(cluster, database);
  proxy?.close();
});

async function symbolAt(port: number): Promise<string> {
  const { rows } = await writer.pool.query(
    `SELECT symbol FROM unnest($1::text[]) AS symbol
     JOIN pg_dist_shard_placement ON shardid = get_shard_id_for_distribution_column('bar_blocks', symbol)
     WHERE nodeport = $2`,
    [symbols, port],
  );
  return rows[0].symbol;
}

/** One transaction over both workers. */
async function write(price: number): Promise<void> {
  const bar = { open: price, high: price, low: price, close: price, volume: 1, vwap: null, tradeCount: null };
  const bars = toBarColumns([{ ...bar, tsMs: exchangeInstant('2026-11-19', 600) }]);
  await inTransaction(writer, (tx) =>
    writeBars(
      tx,
      '1m',
      [far, near].map((symbol) => ({ symbol, bars })),
    ),
  );
}

/** The recovery that the coordinator runs every minute, on a connection that has not lost one of its own. */
const recover = () => statementsAt(nodeUrl(cluster, 0, database), ['SELECT recover_prepared_transactions()']);

/** The price that the gateway answers; a status where it answers none. */
async function priceOf(symbol: string): Promise<number | string> {
  const { status, body } = await app.get(`/v2/stocks/${symbol}/bars?from=2026-11-19&to=2026-11-20&tf=1m`);
  return status === 200 ? body.data[0].close : `status ${status}`;
}

describe('what is committed and not on every node yet', { timeout: 60_000 }, () => {
  test('is none of what every node has: a gateway holds data as soon as it has started', async () => {
    const store = await openStore({ databaseUrl: nodeUrl(cluster, 0, database), dataDir: '', migrate: false });
    const changes = await watchChanges(store);
    expect(store.versions.of('market', far)).not.toBeNull();
    await changes.stop();
    await store.close();
  });

  test('is answered once it is recovered, when the node was away at COMMIT PREPARED', async () => {
    await write(3);
    await expect.poll(() => priceOf(far), soon).toBe(3);
    proxy.loseCommit();
    await write(4);
    await expect.poll(() => priceOf(near), soon).toBe(4);
    expect(await priceOf(far)).toBe('status 502');
    proxy.bringBack();
    // The row of before, of which nothing is held.
    await expect.poll(() => priceOf(far), soon).toBe(3);
    expect(app.store.versions.of('market', far)).toBeNull();
    await recover();
    await expect.poll(() => app.store.versions.of('market', far), soon).not.toBeNull();
    expect(await priceOf(far)).toBe(4);
  });

  test('is answered once it is recovered, by a gateway that started in between', async () => {
    await write(5);
    proxy.loseCommit();
    await write(6);
    proxy.bringBack();
    const databaseUrl = nodeUrl(cluster, 0, database);
    const store = await openStore({ databaseUrl, dataDir: '', migrate: false });
    const changes = await watchChanges(store);
    // Longer than it takes to look.
    await delay(2000);
    expect(store.versions.of('market', far)).toBeNull();
    await recover();
    await expect.poll(() => store.versions.of('market', far), soon).not.toBeNull();
    await expect.poll(() => app.store.versions.of('market', far), soon).not.toBeNull();
    await changes.stop();
    await store.close();
  });
});
