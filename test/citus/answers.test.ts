import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { madeRequests } from '../contract/requests.ts';
import { about, knownRoutes } from '../contract/route-cases.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { singleStore } from '../support/store.ts';

let single: TestApp;
let spread: TestApp;

beforeAll(async () => {
  single = await testApp({ nowMs: filledNowMs, store: await singleStore() });
  spread = await testApp({ nowMs: filledNowMs });
  await Promise.all([single, spread].map((app) => fillMarket(app.store)));
});
afterAll(() => Promise.all([single?.close(), spread?.close()]));

// Ids and tickets are made by chance.
const generated = /[0-9A-HJKMNP-TV-Z]{26}|[\w-]{43,}/g;
const shown = ({ status, bytes }: Answer) => `${status} ${bytes.toString('latin1').replace(generated, '…')}`;

/** What the two answer, the one after the other: what a request counts, a later one shows. */
async function bothAnswer(ask: (app: TestApp) => Promise<Answer>): Promise<[string, string]> {
  const [one, other] = await Promise.all([single, spread].map(ask));
  return [shown(one!), shown(other!)];
}

describe('a store on Citus, a coordinator and two workers, gives byte for byte the answers of one PostgreSQL', () => {
  const known = knownRoutes();

  test.each(known.filter(({ route }) => route.method === 'GET'))('to $name, as JSON and CSV', async (one) => {
    for (const [i, { path }] of madeRequests(one, 0).entries()) {
      const headers = { accept: i % 4 === 3 ? 'text/csv' : 'application/json' };
      const [was, is] = await bothAnswer((app) => app.get(path, { headers }));
      expect(is, path).toBe(was);
    }
  });

  test.each(known)('to the operation of the graph that is $name', async ({ known: { graphql } }) => {
    for (const symbol of ['SPY', 'SPX', 'AAPL']) {
      const query = about(graphql, symbol);
      const [was, is] = await bothAnswer(async (app) => (await app.graphql(query)).answer);
      expect(is, query).toBe(was);
    }
  });
});
