import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ticker } from '../../src/cli/io/options.ts';
import { createContractBook } from '../../src/core/domain/chain/contract-book.ts';
import { readLiveLine } from '../../src/intake/tape/live/live-line.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { storeDays } from '../support/market.ts';
import { wideBounds } from '../support/tapes/tape-lines.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const spellings = ['BRK-B', 'BRK/B', 'BRK B', 'brk-b', 'BRK.B'];
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
  await storeDays(app.store, 'BRK.B', { '2026-11-18': 440, '2026-11-19': 450 });
});
afterAll(() => app.close());

describe.each(spellings)('%s is BRK.B', (written) => {
  const path = encodeURIComponent(written);

  test('in a path of REST', async () => {
    const { status, body } = await app.get(`/v2/symbols/${path}`);
    expect([status, body.data.symbol]).toEqual([200, 'BRK.B']);
    expect((await app.get(`/v2/symbols/${path}/spot`)).body.data).toMatchObject({ symbol: 'BRK.B', price: 450 });
  });

  test('in a look-up', async () => {
    expect((await app.get(`/v2/symbols/lookup?q=${path}`)).body.data).toMatchObject({ valid: true, symbol: 'BRK.B' });
  });

  test('in the quotes, whose rows repeat what was asked', async () => {
    const { body } = await app.get(`/v2/quotes?symbols=SPY,${path}`);
    expect(body.data.map((row: { symbol: string; spot: number }) => [row.symbol, row.spot])).toEqual([
      ['SPY', null],
      [written.toUpperCase(), 450],
    ]);
  });

  test('in the graph', async () => {
    const { data } = await app.graphql(
      'query ($s: Ticker!) { symbol(symbol: $s) { symbol quote { symbol spot asked } } }',
      {
        s: written,
      },
    );
    expect(data.symbol).toEqual({ symbol: 'BRK.B', quote: { symbol: 'BRK.B', spot: 450, asked: 'BRK.B' } });
  });

  test('in a topic of the stream', async () => {
    const key = await app.key();
    const reader = await readEvents(`${app.url}/v2/stream?topics=${encodeURIComponent(`quotes:${written}`)}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    onTestFinished(() => reader.leave());
    expect(await reader.next()).toMatchObject({ event: 'ready' });
    const event = await reader.next();
    expect([event!.event, event!.data.symbol]).toEqual(['quotes', 'BRK.B']);
  });

  test('in a tool of MCP', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${await app.key()}` };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    const result = await client.callTool({ name: 'symbol', arguments: { symbol: written } });
    expect(JSON.stringify(result)).toContain('BRK.B');
    expect(result.isError ?? false).toBe(false);
  });

  test('in a watchlist', async () => {
    const credential = await app.key();
    const json = { credential, headers: { 'content-type': 'application/json' } };
    const list = JSON.stringify({ name: 'Mine', symbols: [written] });
    const put = await app.send('PUT', '/v2/watchlists/mine', { ...json, body: list });
    expect(put.body.data.symbols).toEqual(['BRK.B']);
  });

  test('on the command line', () => {
    expect(ticker(written)).toBe('BRK.B');
  });
});

test.each(['BRK-B', 'BRK/B', 'BRK B'])('%s of a live line is BRK.B', (symbol) => {
  const line = { type: 'index_value', symbol, value: 450, sip_timestamp: '1710511200000000000' };
  expect(readLiveLine(JSON.stringify(line), createContractBook(), wideBounds)).toMatchObject({
    value: { symbol: 'BRK.B' },
  });
});

test('names of quotes that are not those of their symbols are 400', async () => {
  const query = 'query ($a: [String!]) { quotes(symbols: ["SPY", "BRK.B"], asked: $a) { rows { asked } } }';
  for (const asked of [['SPY'], ['BRK-B', 'SPY'], ['SPY', 'x'.repeat(1000)]]) {
    const { errors } = await app.graphql(query, { a: asked });
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'invalid_params' } });
  }
  const { data } = await app.graphql(query, { a: ['spy', 'BRK/B'] });
  expect(data.quotes.rows).toEqual([{ asked: 'spy' }, { asked: 'BRK/B' }]);
});
