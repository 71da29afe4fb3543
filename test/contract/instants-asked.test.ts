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

/** Endpoints with a window of times: the request without it, and what its ends are called. */
const windows: [path: string, from: string, to: string][] = [
  ['/v2/stocks/SPY/bars?timeframe=1d', 'from', 'to'],
  ['/v2/offexchange/SPY/activity?', 'from', 'to'],
  ['/v2/offexchange/SPY/concentration?', 'from', 'to'],
  ['/v2/offexchange/SPY/composition?', 'from', 'to'],
  ['/v2/offexchange/SPY/profile?', 'from', 'to'],
  ['/v2/flow/eod?symbol=SPY&session=2026-11-19', 'from_ms', 'to_ms'],
];
const ms = (date: string) => Date.parse(`${date}T12:00Z`);

test.each(windows)(
  'a window that is reversed, or wholly outside of 1990 to 2200, is 400 at %s',
  async (path, from, to) => {
    const ask = async (fromMs: number, toMs: number) => {
      const { status, body } = await app.get(`${path}&${from}=${fromMs}&${to}=${toMs}`);
      return status === 200 ? 200 : [status, body.error.details.parameter, body.error.message];
    };
    const day = ms('2026-11-19');
    expect(await ask(day, day - 86_400_000)).toEqual([
      400,
      from,
      `${from}: expected a time that is not after \`${to}\``,
    ]);
    expect(await ask(0, ms('1989-12-30'))).toEqual([400, to, `${to}: expected a time from 1990 on`]);
    expect(await ask(ms('2201-01-02'), 1e15)).toEqual([400, from, `${from}: expected a time up to 2200`]);
    // A part of it is enough: the rest is far, not wrong.
    for (const [fromMs, toMs] of [
      [0, day],
      [0, ms('1990-01-03')],
      [ms('2200-12-30'), 1e15],
      [day, 1e18],
      [0, 1e18],
    ] as const)
      expect([fromMs, toMs, await ask(fromMs, toMs)]).toEqual([fromMs, toMs, 200]);
  },
);

test.each([
  'symbol(symbol: "SPY") { bars(from: FROM, to: TO, timeframe: "1d") { meta { rowCount } } }',
  'symbol(symbol: "SPY") { offExchange { activity(from: FROM, to: TO) { meta { count } } } }',
  'eod(symbol: "SPY", session: "2026-11-19", fromMs: FROM, toMs: TO) { limit }',
])('such a window is an error of the graph: %s', async (query) => {
  for (const [from, to] of [
    [ms('2026-11-19'), ms('2026-11-18')],
    [0, ms('1989-12-30')],
    [ms('2201-01-02'), 1e15],
  ]) {
    const { errors } = await app.graphql(`{ ${query.replace('FROM', String(from)).replace('TO', String(to))} }`);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/expected a time (that is not after|from 1990 on|up to 2200)/),
      extensions: { code: 'invalid_params' },
    });
  }
});
