import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/connection.ts';
import { madeRequests } from '../contract/requests.ts';
import { about, knownRoutes } from '../contract/route-cases.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { type TestStore, testStore } from '../support/store.ts';

/** An application over a distributed store in which a statement that asks several nodes, or shards, is an error. */
let app: TestApp;
let store: TestStore;

beforeAll(async () => {
  store = await testStore();
  await fillMarket(store);
  const database = new URL(store.databaseUrl).pathname.slice(1);
  await store.pool.query(`ALTER DATABASE ${database} SET citus.multi_task_query_log_level = 'error'`);
  const routed = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', migrate: false });
  app = await testApp({ nowMs: filledNowMs, store: { ...routed, databaseUrl: store.databaseUrl } });
});
afterAll(async () => {
  await app?.close();
  await store?.close();
});

/** Routes about the whole market, or an account's own, which are asked of every node. */
const ofManySymbols = new Set<string>([]);

describe('a read of one symbol asks one shard', () => {
  const known = knownRoutes().filter(({ route }) => route.method === 'GET');

  test.each(known.filter(({ name }) => !ofManySymbols.has(name)))('$name', async (one) => {
    for (const { path } of madeRequests(one, 0)) {
      const { status, bytes } = await app.get(path);
      expect(status, `${path}: ${bytes}`.slice(0, 500)).toBeLessThan(500);
    }
  });

  test.each(known.filter(({ name }) => !ofManySymbols.has(name)))(
    '$name, by the graph',
    async ({ known: { graphql } }) => {
      const { answer } = await app.graphql(about(graphql, 'SPY'));
      expect(JSON.parse(String(answer.bytes)).errors).toBeUndefined();
    },
  );

  test.each(known.filter(({ name }) => ofManySymbols.has(name)))('but $name asks several', async (one) => {
    const statuses = await Promise.all(madeRequests(one, 0).map(async ({ path }) => (await app.get(path)).status));
    expect(statuses).toContain(502);
  });
});
