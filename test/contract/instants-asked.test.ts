import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
const seconds = nowMs / 1000;
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
});
afterAll(() => app.close());

test.each([
  ['/v2/stocks/SPY/bars?timeframe=5m&to=2026-11-20&from=', 'from'],
  ['/v2/stocks/SPY/bars?timeframe=5m&from=2026-11-19&to=', 'to'],
  ['/v2/chain/SPY?at=', 'at'],
  ['/v2/flow/eod?from_ms=', 'from_ms'],
  ['/v2/flow/eod?to_ms=', 'to_ms'],
])('seconds are 400 at REST, and the message says so: %s', async (path, name) => {
  for (const value of [5e8, seconds, 5e9]) {
    const { status, body } = await app.get(`${path}${value}`);
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringContaining(`${name}: expected epoch milliseconds, got ${value}, which looks like seconds`),
    ]);
  }
  for (const value of [0, 5e8 - 1, 5e9 + 1])
    expect(JSON.stringify((await app.get(`${path}${value}`)).body)).not.toContain('seconds');
});

test.each([
  'symbol(symbol: "SPY") { bars(from: FROM, to: "2026-11-20", timeframe: "5m") { meta { source } } }',
  'symbol(symbol: "SPY") { chain(at: FROM) { capturedAt } }',
  'eod(fromMs: FROM) { limit }',
])('seconds are an error of the graph, and the message says so: %s', async (query) => {
  for (const value of [5e8, seconds, 5e9]) {
    const { errors } = await app.graphql(`{ ${query.replace('FROM', String(value))} }`);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(`expected epoch milliseconds, got ${value}, which looks like seconds`),
      extensions: { code: 'invalid_params' },
    });
  }
});

test('seconds are an error of a tool of MCP, and the message says so', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${await app.key()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const bars = { symbol: 'SPY', timeframe: '5m', from: String(seconds), to: '2026-11-20' };
  const result = await client.callTool({ name: 'stock_bars', arguments: bars });
  expect([result.isError, JSON.stringify(result)]).toEqual([true, expect.stringContaining('which looks like seconds')]);
});
