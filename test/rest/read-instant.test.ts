import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { readEvents, subscribe } from '../support/event-reader.ts';
import { filledApp, filledNowMs, filledSessions } from '../support/filled-market.ts';

let app: TestApp;
const past = filledSessions[2];

beforeAll(async () => {
  app = await filledApp();
});
afterAll(() => app.close());

const readAt = String(filledNowMs);

function tool(name: string, given: object) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: given },
  });
  return app.send('POST', '/mcp', { body, headers: { accept: 'application/json, text/event-stream' } });
}

test('an answer of market data has the instant of its request as a header, and in meta where it has no tag', async () => {
  const live = await app.get('/v2/quotes?symbols=SPY,AAPL');
  expect(live.status).toBe(200);
  expect(live.headers['x-read-at']).toBe(readAt);
  expect(live.headers.etag).toBeUndefined();
  expect(live.body.meta.read_at_ms).toBe(filledNowMs);

  app.clock.nowMs = filledNowMs + 1;
  const table = await app.get('/v2/gex/SPY/grid', { headers: { accept: 'text/csv' } });
  expect(table.headers['x-read-at']).toBe(String(filledNowMs + 1));
  expect(JSON.parse(String(table.headers['x-itm-extra'])).read_at_ms).toBe(filledNowMs + 1);
  app.clock.nowMs = filledNowMs;
});

test('the body of a past session has no instant, so that its tag stays; its header is that of each request', async () => {
  const path = `/v2/gex/SPY/history?date=${past}`;
  const first = await app.get(path);
  expect(first.headers.etag).toBeDefined();
  expect(first.body.meta).not.toHaveProperty('read_at_ms');
  app.clock.nowMs = filledNowMs + 5;
  for (const headers of [{}, { 'if-none-match': String(first.headers.etag) }]) {
    const again = await app.get(path, { headers });
    expect(again.headers.etag).toBe(first.headers.etag);
    expect(again.headers['x-read-at']).toBe(String(filledNowMs + 5));
  }
  app.clock.nowMs = filledNowMs;
});

test('the graph has it in its extensions, of cached answers too', async () => {
  const query = '{ quotes(symbols: ["SPY"]) { rows { spot } } }';
  for (const after of [0, 1, 2]) {
    app.clock.nowMs = filledNowMs + after;
    const { extensions, errors, answer } = await app.graphql(query);
    expect(errors).toBeUndefined();
    expect(extensions.readAt).toBe(filledNowMs + after);
    expect(answer.headers['x-read-at']).toBe(String(filledNowMs + after));
  }
  app.clock.nowMs = filledNowMs;
});

test('tools have it, asked as routes or as the graph', async () => {
  const route = await tool('spot', { symbol: 'SPY' });
  expect(route.headers['x-read-at']).toBe(readAt);
  expect(route.body.result.structuredContent.meta.read_at_ms).toBe(filledNowMs);
  const graph = await tool('graphql', { query: '{ symbol(symbol: "SPY") { quote { spot } } }' });
  expect(graph.headers['x-read-at']).toBe(readAt);
});

test('streams have the instant at which they were asked for as a header', async () => {
  const credential = await app.key();
  const headers = { authorization: `Bearer ${credential}` };
  const rest = await readEvents(`${app.url}/v2/stream?topics=quotes:SPY`, { headers });
  const graph = await subscribe(app.url, credential, 'subscription { quotes(symbols: ["SPY"]) { spot } }');
  for (const reader of [rest, graph]) {
    expect(reader.status).toBe(200);
    expect(reader.headers['x-read-at']).toBe(readAt);
    reader.leave();
  }
});

test('what an account owns, and the schema, have none', async () => {
  for (const answer of [await app.get('/v2/account/usage'), await app.get('/v2/watchlists')]) {
    expect(answer.status).toBe(200);
    expect(answer.headers['x-read-at']).toBeUndefined();
    expect(answer.body.meta).not.toHaveProperty('read_at_ms');
  }
  const { extensions, answer } = await app.graphql('{ __schema { queryType { name } } }');
  expect(answer.headers['x-read-at']).toBeUndefined();
  expect(extensions ?? {}).not.toHaveProperty('readAt');
});
