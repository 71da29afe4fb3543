import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionMinutes } from '../../src/core/domain/calendar.ts';
import { exchangeMinuteOfDay, exchangeTimeZone, parseRequestedInstant } from '../../src/core/domain/market-time.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { about, knownRoutes } from '../contract/known-routes.ts';
import { madeRequests } from '../contract/requests.ts';
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

/** Routes about the whole market. */
const ofTheMarket = [
  'GET /v2/screener/sectors',
  'GET /v2/screener/movers',
  'GET /v2/screener/screen',
  'GET /v2/screener/screens/:id/result',
];
/** Routes that take several symbols at a time, or none. */
const ofManySymbols = [...ofTheMarket, 'GET /v2/quotes', 'GET /v2/flow/large-trades', 'GET /v2/options'];
/** As of an evening, whether the next session has begun is asked of all symbols, as it is live. */
function isOfAnEvening(path: string): boolean {
  const { searchParams } = new URL(path, 'http://localhost');
  const at = searchParams.get('at');
  if (at === null) return false;
  const { ms, bareDate } = parseRequestedInstant(at, searchParams.get('tz') ?? exchangeTimeZone, 'at');
  return bareDate !== null || exchangeMinuteOfDay(ms) >= sessionMinutes.close;
}

describe('a read of one symbol asks one shard', () => {
  const known = knownRoutes().filter(({ route }) => route.method === 'GET');
  const but = (names: readonly string[]) => known.filter(({ name }) => !names.includes(name));

  // First: what is held of several symbols need not be read again.
  // The account has no saved screen.
  const isAsked = (name: string) => ofManySymbols.includes(name) && !name.includes('/screens/');
  test.each(known.filter(({ name }) => isAsked(name)))('$name asks several, of several symbols', async (one) => {
    const statuses: number[] = [];
    for (const { path } of madeRequests(one, 0)) statuses.push((await app.get(path)).status);
    expect(statuses).toContain(502);
  });

  test.each(but(ofManySymbols))('$name', async (one) => {
    for (const { path } of madeRequests(one, 0)) {
      if (isOfAnEvening(path)) continue;
      const { status, bytes } = await app.get(path);
      expect(status, `${path}: ${bytes}`.slice(0, 500)).toBeLessThan(500);
    }
  });

  test.each(but(ofTheMarket))('$name, by the graph', async ({ known: { graphql } }) => {
    const { answer } = await app.graphql(about(graphql, 'SPY'));
    expect(String(answer.bytes)).not.toContain('source failed');
  });
});
