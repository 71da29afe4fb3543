import { afterAll, beforeAll, describe, test } from 'vitest';
import { knownRoutes } from '../contract/known-routes.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { singleStore } from '../support/store.ts';
import { type Both, expectSameAnswers, expectSameGraph } from './both-stores.ts';

let apps: Both<TestApp>;

beforeAll(async () => {
  const [single, spread] = [
    await testApp({ nowMs: filledNowMs, store: await singleStore() }),
    await testApp({ nowMs: filledNowMs }),
  ];
  apps = { single, spread };
  await Promise.all([single, spread].map((app) => fillMarket(app.store)));
});
afterAll(() => Promise.all([apps?.single.close(), apps?.spread.close()]));

describe('a store on Citus, a coordinator and two workers, gives byte for byte the answers of one PostgreSQL', () => {
  const known = knownRoutes();

  // In order: what a request counts, a later one shows.
  test.each(known.filter(({ route }) => route.method === 'GET'))('to $name, in every media type', (one) =>
    expectSameAnswers(apps, one),
  );

  test.each(known)('to the operation of the graph that is $name', (one) =>
    expectSameGraph(apps, one, ['SPY', 'SPX', 'AAPL']),
  );
});
