import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, type ObservableQuery } from '@apollo/client/core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Json, TestApp } from '../../support/app.ts';
import { filledApp, filledContract } from '../../support/filled-market.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await filledApp();
  key = await app.key();
});
afterAll(() => app.close());

/** Apollo's client as it comes, with a count of what it sends. */
function apollo() {
  const sent: string[] = [];
  const counting = new ApolloLink((operation, forward) => {
    sent.push(operation.operationName ?? '');
    return forward(operation);
  });
  const http = new HttpLink({ uri: new URL('/graphql', app.url).href, headers: { authorization: `Bearer ${key}` } });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: ApolloLink.from([counting, http]) });
  onTestFinished(() => client.stop());
  return { client, sent };
}

/** A component: what it is shown, newest last. */
function component(client: ApolloClient, document: string) {
  const shown: Json[] = [];
  const watched: ObservableQuery = client.watchQuery({ query: gql(document) });
  const subscription = watched.subscribe(({ data, dataState }) => {
    if (dataState === 'complete') shown.push(data);
  });
  onTestFinished(() => subscription.unsubscribe());
  return shown;
}

/** Waits until components show something, and then until a request that this caused would have been sent. */
async function settle(...components: (readonly Json[])[]): Promise<void> {
  await vi.waitFor(() => expect(components.every((shown) => shown.length > 0)).toBe(true), 20_000);
  await new Promise((done) => setTimeout(done, 100));
}

/** Pairs of components that ask for different fields of the same objects. */
const pairs: [string, string, string][] = [
  [
    'of a symbol',
    'query A { symbol(symbol: "SPY") { id name } }',
    'query B { symbol(symbol: "SPY") { id symbol sector class } }',
  ],
  [
    'of its quote and spot',
    'query A { symbol(symbol: "SPY") { id quote { id spot } spot { id price } } }',
    'query B { symbol(symbol: "SPY") { id quote { id changePct } spot { id ts } } }',
  ],
  [
    'of its access and chain policy',
    'query A { symbol(symbol: "SPY") { id access { id allowed } chainPolicy { id windowDays } } }',
    'query B { symbol(symbol: "SPY") { id access { id reason } chainPolicy { id tenorFrame } } }',
  ],
  [
    'of its dealer gamma',
    'query A { symbol(symbol: "SPY") { id gex { id latest { id netGex } } } }',
    'query B { symbol(symbol: "SPY") { id gex { id latest { id flipPoint } history(date: "2026-11-30") { captures { id spot } } } } }',
  ],
  [
    'of its volatility',
    'query A { symbol(symbol: "SPY") { id volatility { id term { id spot } surface { id spot } } } }',
    'query B { symbol(symbol: "SPY") { id volatility { id term { id asOfMs } surface { id asOfMs } } } }',
  ],
  [
    'of its flow and off-exchange trading',
    'query A { symbol(symbol: "SPY") { id flow { id largeTrades(limit: 2) { events { update { event { id side } } } } } offExchange { id activity { rows { date } } } } }',
    'query B { symbol(symbol: "SPY") { id flow { id crossSection { meta { note } } } offExchange { id composition { rows { date } } } } }',
  ],
  [
    'of a contract',
    `query A { contract(id: "${filledContract('SPY')}") { id strike } }`,
    `query B { contract(id: "${filledContract('SPY')}") { id expiry underlying { id name } } }`,
  ],
];

describe('Apollo’s cache without any policy', () => {
  test.each(pairs)(
    'two components that ask different fields %s send one request each and show both',
    async (_of, a, b) => {
      const { client, sent } = apollo();
      const first = component(client, a);
      await settle(first);
      const second = component(client, b);
      await settle(first, second);
      expect(sent).toEqual(['A', 'B']);
      // Both stay whole in the cache: showing them again asks nothing.
      expect(component(client, a)).toHaveLength(1);
      expect(component(client, b)).toHaveLength(1);
      await settle();
      expect(sent).toEqual(['A', 'B']);
    },
  );

  test('both at once send one request each', async () => {
    for (const [, a, b] of pairs) {
      const { client, sent } = apollo();
      const [first, second] = [component(client, a), component(client, b)];
      await settle(first, second);
      expect(sent.toSorted()).toEqual(['A', 'B']);
    }
  });

  test('different fields of one symbol become one entry of the cache', async () => {
    const { client } = apollo();
    await client.query({ query: gql('query A { symbol(symbol: "SPY") { id name gex { id latest { id netGex } } } }') });
    await client.query({ query: gql('query B { symbol(symbol: "spy") { id sector gex { id latest { id spot } } } }') });
    const entries = Object.entries(client.cache.extract() as Record<string, Json>);
    const of = (type: string) => entries.filter(([, { __typename }]) => __typename === type).map(([, entry]) => entry);
    expect(of('Symbol')).toEqual([expect.objectContaining({ name: 'SPY Inc.', sector: 'Funds' })]);
    expect(of('SymbolGex')).toHaveLength(1);
    const [capture, ...others] = of('GexCapture');
    expect(others).toEqual([]);
    expect(Object.keys(capture).sort()).toEqual(['__typename', 'id', 'netGex', 'spot']);
  });

  test('the past is never merged into the present', async () => {
    const { client } = apollo();
    const { data }: Json = await client.query({
      query: gql(
        '{ symbol(symbol: "SPY") { id gex { id latest { id netGex capturedAt } at(time: "2026-11-27") { id capturedAt } } } }',
      ),
    });
    const { latest, at } = data.symbol.gex;
    expect(at.capturedAt).toBeLessThan(latest.capturedAt);
    const entries = Object.values(client.cache.extract() as Record<string, Json>);
    const captures = entries.filter(({ __typename }) => __typename === 'GexCapture');
    expect(captures.map(({ capturedAt }) => capturedAt).sort()).toEqual([at.capturedAt, latest.capturedAt].sort());
  });

  test('what refetch by node gives updates what components show of the object', async () => {
    const { client, sent } = apollo();
    const shown = component(client, 'query A { symbol(symbol: "SPY") { id quote { id spot } } }');
    await settle(shown);
    const { id } = shown.at(-1).symbol.quote;
    client.cache.modify({ id: `Quote:${id}`, fields: { spot: () => 1 } });
    await settle(shown);
    expect(shown.at(-1).symbol.quote.spot).toBe(1);
    await client.query({
      query: gql('query N($id: ID!) { node(id: $id) { id ... on Quote { spot } } }'),
      variables: { id },
      fetchPolicy: 'network-only',
    });
    await settle(shown);
    expect(shown.at(-1).symbol.quote.spot).toBe(shown[0].symbol.quote.spot);
    expect(sent).toEqual(['A', 'N']);
  });
});
