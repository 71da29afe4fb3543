import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { about, knownRoutes } from '../contract/known-routes.ts';
import type { Json, TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await filledApp({
    routes: { 'desk-quote.graphql': '# The price for the desk.\n{ symbol(symbol: "SPY") { quote { spot } } }' },
  });
  key = await app.key();
}, 60_000);
afterAll(() => app.close());

/** The official client in a mode, under a credential. */
async function connected(mode: 'all' | 'small' = 'small', credential = key): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${credential}` };
  const address = new URL(mode === 'small' ? '/mcp?tools=small' : '/mcp', app.url);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

/** The content of a tool's answer. */
async function answer(client: Client, name: string, sent: Record<string, unknown>): Promise<Json> {
  const result: Json = await client.callTool({ name, arguments: sent });
  expect(result.isError, result.content[0].text).toBeFalsy();
  return result.structuredContent;
}
async function failure(client: Client, name: string, sent: Record<string, unknown>): Promise<Json> {
  const result: Json = await client.callTool({ name, arguments: sent });
  expect(result.isError).toBe(true);
  return JSON.parse(result.content[0].text).error;
}
const found = async (client: Client, query: string, more: object = {}) =>
  (await answer(client, 'search', { query, ...more })).results as { name: string; kind: string; about: string }[];

describe('the small mode of /mcp', () => {
  test('has at most 8 tools, whose list is a twelfth of the whole one', async () => {
    const client = await connected();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search', 'describe', 'run', 'change', 'graphql', 'estimate']);
    const writing = tools.filter(({ annotations }) => !annotations!.readOnlyHint);
    expect(writing.map(({ name }) => name)).toEqual(['change']);
    const all = (await (await connected('all')).listTools()).tools;
    expect(JSON.stringify(tools).length * 12).toBeLessThan(JSON.stringify(all).length);
  });

  test('finds operations, types, fields and documentation by words', async () => {
    const client = await connected();
    for (const [query, kind, name] of [
      ['dealer gamma history', 'operation', 'gex_history'],
      ['gamma change between two days', 'operation', 'gex_change'],
      ['large option trades', 'operation', 'large_trades'],
      ['price of the desk', 'operation', 'desk_quote'],
      ['zero gamma', 'document', 'methodology.md#'],
      ['implied volatility surface', 'type', 'VolatilitySurface'],
      ['flip point', 'field', '.flipPoint'],
    ] as const) {
      const results = await found(client, query, { kind });
      expect(results.every((result) => result.kind === kind)).toBe(true);
      expect(results.map((result) => result.name).join(' '), query).toContain(name);
    }
    expect((await found(client, 'gamma', { limit: 3 })).length).toBe(3);
    expect(await found(client, 'xyzzyx qwrtzp')).toEqual([]);
  });

  test('each operation that it describes runs by the example, once its values fit the market', async () => {
    const client = await connected();
    const routes = knownRoutes().filter(({ route }) => route.method === 'GET' && !route.needs.endsWith('session'));
    let ran = 0;
    for (const { route, known } of routes) {
      if (known.prepare) continue;
      const operation = route.name.replaceAll('-', '_');
      const described = await answer(client, 'describe', { name: operation });
      expect(described.example.tool).toBe('run');
      expect(described.description).toContain(route.description);
      const url = new URL(about(known.path, 'SPY', 'none'), app.url);
      const values = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`).exec(decodeURIComponent(url.pathname))!;
      const names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
      const given = {
        ...Object.fromEntries(names.map((name, index) => [name, values[index + 1]])),
        ...Object.fromEntries(url.searchParams),
      };
      for (const name of Object.keys(described.example.arguments.arguments)) expect(Object.keys(given)).toContain(name);
      const answered = await answer(client, 'run', { operation, arguments: given });
      expect(answered, route.name).toMatchObject({ data: expect.anything(), meta: expect.anything() });
      ran += 1;
    }
    expect(ran).toBeGreaterThan(25);
  });

  test('runs what reads by run, and what changes by change alone', async () => {
    const client = await connected('small', await app.session());
    const { body } = await app.get('/v2/quotes?symbols=SPY', { credential: key });
    const read = await answer(client, 'run', { operation: 'quotes', arguments: { symbols: 'SPY' } });
    expect(read.data).toEqual(body.data);
    const put = { operation: 'put_watchlist', arguments: { id: 'mine', body: { name: 'Mine', symbols: ['SPY'] } } };
    expect((await failure(client, 'run', put)).message).toContain('call change');
    await answer(client, 'change', put);
    expect((await answer(client, 'run', { operation: 'watchlists' })).data).toMatchObject([{ id: 'mine' }]);
    expect((await failure(client, 'change', { operation: 'quotes' })).message).toContain('call run');
    expect((await answer(client, 'run', { operation: 'desk_quote' })).data.symbol.quote.spot).toBe(body.data[0].spot);
    for (const operation of ['stream_ticket', 'nothing', 'constructor'])
      expect(await failure(client, 'run', { operation })).toMatchObject({ code: 'invalid_params' });
  });

  test('shows a caller no operation that its key cannot use, and answers by its rights', async () => {
    const client = await connected('small', await app.key({ apiTier: 'free' }));
    const names = (await found(client, 'large option trades', { kind: 'operation' })).map(({ name }) => name);
    expect(names).not.toContain('large_trades');
    expect((await failure(client, 'describe', { name: 'large_trades' })).code).toBe('invalid_params');
    const refused = await failure(client, 'run', { operation: 'large_trades', arguments: { symbol: 'SPY' } });
    expect(refused.code).toBe('not_entitled_tier');
  });

  test('shows a route in either mode until it ends', async () => {
    const { nowMs } = app.clock;
    onTestFinished(() => {
      app.clock.nowMs = nowMs;
    });
    const name = 'legacy_strikes';
    const shown = async () => ({
      listed: (await (await connected('all')).listTools()).tools.some((tool) => tool.name === name),
      found: (await found(await connected(), 'legacy strikes', { kind: 'operation' })).some(
        (each) => each.name === name,
      ),
    });
    app.clock.nowMs = Date.parse('2026-12-31T23:59:59Z');
    expect(await shown()).toEqual({ listed: true, found: true });
    app.clock.nowMs = Date.parse('2027-01-01T00:00:00Z');
    expect(await shown()).toEqual({ listed: false, found: false });
  });

  test('describes types with the fields that return them, fields, and sections', async () => {
    const client = await connected();
    const type = await answer(client, 'describe', { name: 'GexCapture' });
    expect(type.sdl).toContain('netGex');
    expect(type.returnedBy).toContain('SymbolGex.latest');
    const field = await answer(client, 'describe', { name: 'SymbolGex.latest' });
    expect(field.arguments.map(({ name }: Json) => name)).toContain('topStrikes');
    const [section] = await found(client, 'zero gamma', { kind: 'document' });
    expect((await answer(client, 'describe', { name: section!.name })).text).toMatch(/^##/);
    expect((await failure(client, 'describe', { name: 'GexCaptur' })).message).toContain('GexCapture');
  });

  test('charges each call one request, and refuses what it does not know', async () => {
    const send = (method: string, params: object, address = '/mcp?tools=small') =>
      app.send('POST', address, {
        headers: { accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
    const left = async (name: string, sent: object) =>
      Number((await send('tools/call', { name, arguments: sent })).headers['x-ratelimit-remaining']);
    const first = await left('search', { query: 'gamma' });
    expect(await left('describe', { name: 'Symbol' })).toBe(first - 1);
    expect(await left('search', { query: 5 })).toBe(first - 2);
    expect(await left('run', { operation: 'quotes', arguments: { symbols: 'SPY' } })).toBe(first - 3);
    expect((await send('tools/list', {}, '/mcp?tools=tiny')).status).toBe(400);
    const client = await connected();
    for (const [name, sent] of [
      ['search', { query: 'x'.repeat(201) }],
      ['search', { query: 'x', limit: 1000 }],
      ['search', { query: 'x', kind: 'route' }],
      ['describe', { name: '' }],
      ['run', { operation: 'quotes', arguments: [] }],
      ['run', { operation: 'quotes', symbols: 'SPY' }],
    ] as const)
      expect((await failure(client, name, sent)).code).toBe('invalid_params');
    await expect(client.callTool({ name: 'quotes', arguments: {} })).rejects.toThrow('Unknown tool');
  });
});

describe.each(['all', 'small'] as const)('prompts with %s tools', (mode) => {
  const values: Record<string, string> = {
    symbol: 'SPY',
    symbols: 'SPY,NVDA',
    from: '2026-11-27',
    to: '2026-11-30',
    criteria: 'falling',
    which: 'the sweep',
  };

  test('name only tools and operations that are there, and their documents run', async () => {
    const client = await connected(mode);
    const tools = new Set((await client.listTools()).tools.map(({ name }) => name));
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThanOrEqual(4);
    for (const { name, arguments: taken = [] } of prompts) {
      const given = Object.fromEntries(taken.map((each) => [each.name, values[each.name]!]));
      const { messages } = await client.getPrompt({ name, arguments: given });
      const { text } = messages[0]!.content as { text: string };
      for (const each of taken) expect(text).toContain(values[each.name]);
      const named = [...text.matchAll(/`(\w+)`/g)].map((match) => match[1]!);
      expect(named.length, name).toBeGreaterThan(0);
      expect(named.filter((tool) => !tools.has(tool))).toEqual([]);
      for (const [, operation] of text.matchAll(/"operation":"(\w+)"/g))
        expect(await answer(client, 'describe', { name: operation })).toMatchObject({ kind: 'operation' });
      for (const [, query] of text.matchAll(/: (\{ (?:symbol|screener).*\})(?=$)/gm))
        expect((await answer(client, 'graphql', { query })).errors).toBeUndefined();
      for (const [, tool, sent] of text.matchAll(/call `(\w+)` with (\{(?:[^{}]|\{[^{}]*\})*\})/g))
        if (!sent!.includes('contract"') && !sent!.includes('the ticker'))
          await answer(client, tool!, JSON.parse(sent!));
    }
  });

  test('complete tickers, of a list the last one', async () => {
    const client = await connected(mode);
    const complete = async (prompt: string, argument: { name: string; value: string }) =>
      (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument })).completion.values;
    expect(await complete('morning_gamma_brief', { name: 'symbol', value: 'sp' })).toEqual(['SPX', 'SPY']);
    expect(await complete('check_my_data', { name: 'symbols', value: 'SPY, n' })).toEqual(['SPY, NVDA']);
    expect(await complete('screen_for', { name: 'criteria', value: 'sp' })).toEqual([]);
  });

  test('refuse an unknown prompt, and a missing, unknown or long argument', async () => {
    const client = await connected(mode);
    const get = (name: string, sent: Record<string, string>) => client.getPrompt({ name, arguments: sent });
    await expect(get('nothing', {})).rejects.toThrow('Unknown prompt nothing');
    await expect(get('what_changed', { symbol: 'SPY' })).rejects.toThrow('from: is required');
    await expect(get('check_my_data', { other: 'x' })).rejects.toThrow('other: is no argument');
    await expect(get('screen_for', { criteria: 'x'.repeat(301) })).rejects.toThrow('at most 300');
  });
});
