import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

/** Usage of an account after `work` with a key of it. */
async function usageOf(work: (credential: string) => Promise<unknown>): Promise<Record<string, number>> {
  const accountId = await app.account();
  const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
  await work(key);
  return Object.fromEntries(
    (await app.access.usage.read(accountId)).map(({ scopeGroup, count }) => [scopeGroup, count]),
  );
}

test.each([
  ['{ symbol(symbol: "SPY") { name access { allowed } } }', ['market.reference']],
  ['{ symbol(symbol: "SPY") { name quote { spot } spot { price } } }', ['market.live']],
  ['{ quotes(symbols: ["SPY"]) { rows { spot } } }', ['market.live']],
  ['{ symbols(first: 5) { nodes { symbol } } }', ['market.reference']],
  [
    '{ symbols(first: 5) { nodes { quote { spot } } } lookup(q: "SPY") { valid } }',
    ['market.live', 'market.reference'],
  ],
  ['{ registry { meta { count } } }', ['market.reference']],
  ['{ sectors { meta { count } } }', ['market.screener']],
  ['{ movers { rows { symbol } } }', ['market.screener']],
  ['{ me { tier } }', ['account']],
])('%s counts under %s', async (query, groups) => {
  const usage = await usageOf((credential) => app.graphql(query, {}, { credential }));
  expect(Object.keys(usage).sort()).toEqual(groups);
});

test.each([
  ['/v2/symbols/SPY', 'market.reference'],
  ['/v2/symbols', 'market.reference'],
  ['/v2/symbols/lookup?q=SPY', 'market.reference'],
  ['/v2/symbols/SPY/spot', 'market.live'],
  ['/v2/quotes?symbols=SPY', 'market.live'],
  ['/v2/screener/sectors', 'market.screener'],
  ['/v2/screener/movers', 'market.screener'],
])('GET %s counts once under %s', async (path, group) => {
  expect(await usageOf((credential) => app.get(path, { credential }))).toEqual({ [group]: 1 });
});

test('a page of symbols with their quotes costs by its size', async () => {
  const cost = async (first: number) =>
    (await app.graphql(`{ symbols(first: ${first}) { nodes { quote { spot } } } }`)).extensions.cost.requested;
  expect(await cost(400)).toBeGreaterThan(2.5 * (await cost(100)));
  expect(await cost(100)).toBeGreaterThan(2.5 * (await cost(1)));
});
