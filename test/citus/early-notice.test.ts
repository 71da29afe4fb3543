import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { type CommitProxy, commitProxy } from '../support/servers/commit-proxy.ts';
import { type TestStore, testStore } from '../support/store.ts';

const symbols = Array.from({ length: 12 }, (_, i) => `EN${String.fromCharCode(65 + i)}`);
const path = (symbol: string) => `/v2/stocks/${symbol}/bars?from=2026-11-19&to=2026-11-20`;

let store: TestStore;
let writer: Store;
let app: TestApp;
let proxy: CommitProxy;
let credential: string;

beforeAll(async () => {
  store = await testStore();
  const worker = inject('cluster')!.ports[1]!;
  proxy = await commitProxy(worker);
  await store.pool.query(`SELECT citus_update_node(nodeid, '127.0.0.1', $1) FROM pg_dist_node WHERE nodeport = $2`, [
    proxy.port,
    worker,
  ]);
  writer = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', migrate: false });
  const registry = symbols.map((symbol) => ({ ...testSymbols[1]!, symbol, name: symbol }));
  app = await testApp({ store, symbols: registry, nowMs: exchangeInstant('2026-11-20', 600) });
  credential = await app.session();
});
afterAll(async () => {
  proxy?.letGo();
  await writer?.close();
  await app?.close();
  proxy?.close();
});

async function writeClose(close: number): Promise<void> {
  const bar = { tsMs: exchangeInstant('2026-11-19', 600), open: 1, high: 9, low: 1, close, volume: 1 };
  const bars = toBarColumns([{ ...bar, vwap: null, tradeCount: null }]);
  await inTransaction(writer, (tx) =>
    writeBars(
      tx,
      '1m',
      symbols.map((symbol) => ({ symbol, bars })),
    ),
  );
}

const closes = () =>
  Promise.all(symbols.map(async (symbol) => (await app.get(path(symbol), { credential })).body.data?.[0]?.close));
const each = (close: number) => symbols.map(() => close);

test('a change that is heard of before a worker has committed it is read again once it has', async () => {
  await writeClose(1);
  await vi.waitUntil(async () => String(await closes()) === String(each(1)), { timeout: 20_000, interval: 100 });
  // A listener that is slow to hear of a notification reads those that have come meanwhile too.
  const { rows } = await store.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'tapegraph listener' AND datname = current_database()`,
  );
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
  try {
    await store.pool.query(`SELECT pg_notify('elsewhere', '')`);
    proxy.holdCommits();
    void writeClose(2);
    await vi.waitUntil(() => proxy.holds(), { timeout: 20_000, interval: 5 });
  } finally {
    for (const { pid } of rows) process.kill(pid, 'SIGCONT');
  }
  for (let again = 0; again < 3; again++) {
    await delay(100);
    expect(await closes()).toContain(1);
  }
  proxy.letGo();
  await expect.poll(closes, { timeout: 20_000, interval: 100 }).toEqual(each(2));
});
