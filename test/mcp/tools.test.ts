import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answerCharacters } from '../../src/mcp/results.ts';
import { compiledRoutes } from '../../src/rest/routes.ts';
import type { Needs } from '../../src/schema/field-options.ts';
import { misfits } from '../contract/json-schema.ts';
import { about, type KnownRoute, knownRoutes, routesWithoutTool } from '../contract/known-routes.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await filledApp();
  key = await app.key();
});
afterAll(() => app.close());

/** The official client, connected under a credential: one that shakes hands first, or one of the newest revision. */
async function connected(credential = key, to = app, mode: 'legacy' | 'auto' = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${credential}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', to.url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

const toolOf = ({ route }: KnownRoute) => route.name.replaceAll('-', '_');

const toolRoutes = () => knownRoutes().filter(({ route }) => !routesWithoutTool.has(route.name));

/** The arguments by which a tool is asked what `path` asks its route. */
function argumentsOf({ route, known }: KnownRoute, id = 'none'): Record<string, unknown> {
  const url = new URL(about(known.path, 'SPY', id), app.url);
  const names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`);
  const inPath = pattern.exec(decodeURIComponent(url.pathname))!.slice(1);
  const body = known.body === undefined ? undefined : about(known.body, 'SPY', id);
  return {
    ...Object.fromEntries(names.map((name, index) => [name, inPath[index]])),
    ...Object.fromEntries(url.searchParams),
    ...(body === undefined ? {} : { body: known.contentType === 'text/plain' ? body : JSON.parse(body) }),
  };
}

describe('/mcp', () => {
  test('every route but the known exceptions is a tool, and tells whether it reads, changes or destroys', async () => {
    const { tools } = await (await connected(await app.session())).listTools();
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    for (const known of toolRoutes()) {
      const tool = byName.get(toolOf(known));
      const { method } = known.route;
      expect(tool?.annotations, known.name).toMatchObject({
        readOnlyHint: method === 'GET',
        // Professional is final.
        destructiveHint: ['PUT', 'PATCH', 'DELETE'].includes(method) || known.route.name === 'classify',
        openWorldHint: false,
      });
      expect(tool!.description).toContain(known.route.description);
      expect(tool!.name).toMatch(/^[a-z_]{1,64}$/);
    }
    expect([...byName.keys()].sort()).toEqual([...toolRoutes().map(toolOf), 'graphql', 'estimate'].sort());
  });

  test('what may be sent again without doing more says so', async () => {
    const { tools } = await (await connected(await app.session())).listTools();
    const repeatable = tools.filter(({ annotations }) => annotations?.idempotentHint && !annotations.readOnlyHint);
    expect(repeatable.map(({ name }) => name).sort()).toEqual([
      'classify',
      'delete_journal_account',
      'delete_journal_trade',
      'delete_watchlist',
      'journal_import',
      'put_watchlist',
      'replace_journal_account',
      'replace_journal_trade',
      'revoke_key',
    ]);
  });

  test('a key is offered what a key of its tier can use; a session everything', async () => {
    const offered = async (credential: string) =>
      new Set((await (await connected(credential)).listTools()).tools.map(({ name }) => name));
    const all = [...toolRoutes().map(toolOf), 'graphql', 'estimate'];
    const without = async (credential: string) => {
      const names = await offered(credential);
      return all.filter((name) => !names.has(name)).sort();
    };
    const needing = (...needs: Needs[]) =>
      toolRoutes()
        .filter(({ route }) => needs.includes(route.needs))
        .map(toolOf)
        .sort();
    const people = needing('site-session', 'declared-site-session');
    const [flow, offExchange] = [needing('flow'), needing('off-exchange')];
    expect(flow).toContain('large_trades');
    expect(offExchange).toContain('off_exchange_activity');
    expect(people).toContain('create_key');
    expect(await without(await app.session({ siteTier: 'free', classification: null }))).toEqual([]);
    expect(await without(key)).toEqual(people);
    // The declaration can be made by a tool.
    expect(await without(await app.key({ classification: null }))).toEqual(people);
    expect(await without(await app.key({ apiTier: 'basic' }))).toEqual([...people, ...flow].sort());
    expect(await without(await app.key({ apiTier: 'free' }))).toEqual([...people, ...flow, ...offExchange].sort());
  });

  test('no credential is offered a ticket for a WebSocket, nor can any call for one', async () => {
    for (const credential of [key, await app.session()]) {
      const client = await connected(credential);
      expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('stream_ticket');
      await expect(client.callTool({ name: 'stream_ticket', arguments: {} })).rejects.toThrow('Unknown tool');
    }
  });

  test('the list of tools is small enough for a model to hold', async () => {
    const answer = await app.send('POST', '/mcp', {
      credential: await app.session(),
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(answer.body.result.tools).toHaveLength(toolRoutes().length + 2);
    expect(answer.bytes.length).toBeLessThan(60_000);
  });

  test.each(toolRoutes())('$name: the tool gives what the route answers', async (known) => {
    const accountId = await app.account();
    const credential = await app.access.sessions.create(accountId, 3_600_000);
    const client = await connected(credential);
    const id = known.known.prepare ? await known.known.prepare(app, accountId) : 'none';
    if (known.route.method !== 'GET') {
      const result: Json = await client.callTool({ name: toolOf(known), arguments: argumentsOf(known, id) });
      expect(result.isError, result.content[0].text).toBeFalsy();
      expect(result.structuredContent).toMatchObject({ data: expect.anything(), meta: expect.anything() });
      return;
    }
    const { body } = await app.get(about(known.known.path, 'SPY', id), { credential });
    const result: Json = await client.callTool({
      name: toolOf(known),
      arguments: { ...argumentsOf(known, id), max_items: 500 },
    });
    expect(result.isError, result.content[0].text).toBeFalsy();
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    // Usage counts the request between the two; times of computing differ.
    const told = (answer: Json) => ({ ...answer, meta: { ...answer.meta, computed_at: 0, as_of: 0, cached: 0 } });
    if (known.route.name !== 'account-usage' && result.content.length === 1)
      expect(told(result.structuredContent)).toEqual(told(body));
  });

  test.each(['legacy', 'auto'] as const)('serves clients of either form of the protocol (%s)', async (mode) => {
    const client = await connected(key, app, mode);
    expect(client.getNegotiatedProtocolVersion()?.slice(0, 4)).toBe(mode === 'auto' ? '2026' : '2025');
    expect(client.getInstructions()).toContain('epoch milliseconds');
    expect((await client.listTools()).tools.length).toBeGreaterThan(30);
    const quotes: Json = await client.callTool({ name: 'quotes', arguments: { symbols: 'SPY' } });
    expect(quotes.structuredContent.data[0].symbol).toBe('SPY');
    const refused: Json = await client.callTool({ name: 'symbol', arguments: { symbol: 'QQQQ' } });
    expect(refused.isError).toBe(true);
    const graph: Json = await client.callTool({ name: 'graphql', arguments: { query: '{ me { tier } }' } });
    expect(graph.structuredContent.data.me.tier).toBe('pro');
  });

  test('an argument that a route does not take, or takes otherwise, is told in the contract’s words', async () => {
    const client = await connected();
    const call = async (name: string, sent: Record<string, unknown>) => {
      const result: Json = await client.callTool({ name, arguments: sent });
      expect(result.isError).toBe(true);
      return JSON.parse(result.content[0].text).error;
    };
    expect(await call('quotes', {})).toMatchObject({ code: 'invalid_params', details: { parameter: 'symbols' } });
    expect(await call('quotes', { symbols: 'SPY', symbol: 'SPY' })).toMatchObject({ details: { parameter: 'symbol' } });
    expect(await call('gex_history', { symbol: 'SPY', date: 'today' })).toMatchObject({
      details: { parameter: 'date' },
    });
    expect(await call('symbol', { symbol: 'QQQQ' })).toMatchObject({ code: 'not_found' });
    expect(await call('put_watchlist', { id: 'x', body: { name: 1, symbols: [] } })).toMatchObject({
      details: { parameter: 'name' },
    });
    expect(await call('quotes', { symbols: 'SPY', max_items: 0 })).toMatchObject({
      details: { parameter: 'max_items' },
    });
    await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow('Unknown tool');
  });

  test('numbers, flags and lists may come as what they are', async () => {
    const client = await connected();
    const quotes: Json = await client.callTool({ name: 'quotes', arguments: { symbols: ['SPY', 'aapl'] } });
    expect(quotes.structuredContent.data.map((row: Json) => row.symbol)).toEqual(['SPY', 'AAPL']);
    const grid: Json = await client.callTool({
      name: 'gex_grid',
      arguments: { symbol: 'SPY', top: 2, by_expiry: true },
    });
    expect(new Set(grid.structuredContent.data.strikes.map((row: Json) => row.strike)).size).toBe(2);
  });

  test('a caller is told what it may not have, and is charged and counted as over REST', async () => {
    const accountId = await app.account({ apiTier: 'free', classification: null });
    const free = (await app.access.keys.create({ accountId, name: null, expiresAt: null })).key;
    const client = await connected(free);
    const flow: Json = await client.callTool({ name: 'large_trades', arguments: {} });
    expect(JSON.parse(flow.content[0].text).error).toMatchObject({
      code: 'not_entitled_tier',
      details: { required_tier: 'pro' },
    });
    const usage: Json = await client.callTool({ name: 'account_usage', arguments: {} });
    expect(usage.structuredContent.data.by_day[0].counts ?? usage.structuredContent.data).toBeTruthy();
    expect(JSON.stringify(usage.structuredContent)).toContain('analytics.flow');
  });

  test('over the rate a tool fails and says when to ask again', async () => {
    const slow = await testApp({ nowMs: filledNowMs, env: { RATE_PRO: '5' } });
    onTestFinished(() => slow.close());
    const client = await connected(await slow.key(), slow);
    const results: Json[] = [];
    for (let i = 0; i < 6; i++) {
      const result = await client.callTool({ name: 'symbols', arguments: {} }).catch((error: unknown) => error);
      results.push(result);
    }
    const last = results.at(-1);
    expect(last.isError).toBe(true);
    expect(JSON.parse(last.content[0].text).error.code).toBe('rate_limited');
    expect(last.content[1].text).toMatch(/^Retry in \d+ seconds\.$/);
  });

  test('answers are cut to what a model can take, and say what was cut', async () => {
    const client = await connected();
    const chain: Json = await client.callTool({ name: 'chain', arguments: { symbol: 'SPY', max_items: 3 } });
    expect(chain.structuredContent.data.rows).toHaveLength(3);
    expect(chain.content[1].text).toMatch(/^Truncated\. data\.rows: the 3 of \d+ nearest the spot\. Set max_items/);
    for (const known of toolRoutes().filter(
      ({ route }) => route.method === 'GET' && !route.needs.includes('session'),
    )) {
      const result: Json = await client.callTool({
        name: toolOf(known),
        arguments: { ...argumentsOf(known), max_items: 500 },
      });
      expect(result.content[0].text.length).toBeLessThanOrEqual(answerCharacters);
      // The shortened answer still fits the route's schema.
      const { answer } = compiledRoutes.find(({ route }) => route.operation === known.route.operation)!;
      expect(misfits(answer, result.structuredContent), known.name).toEqual([]);
    }
  });
});

describe('the tool graphql', () => {
  test('runs a query as the caller, with its errors beside what could be told', async () => {
    const client = await connected(await app.key({ apiTier: 'free' }));
    const query =
      'query Q($s: Ticker!) { symbol(symbol: $s) { symbol quote { spot } flow { crossSection { snapshot { seq } } } } }';
    const result: Json = await client.callTool({ name: 'graphql', arguments: { query, variables: { s: 'SPY' } } });
    expect(result.isError, result.content[0].text).toBeFalsy();
    expect(result.structuredContent.data.symbol.symbol).toBe('SPY');
    expect(result.structuredContent.errors[0].extensions.code).toBe('not_entitled_tier');
  });

  test('refuses what changes something, and what is no query', async () => {
    const client = await connected();
    const text = async (query: unknown): Promise<string> => {
      const result: Json = await client.callTool({ name: 'graphql', arguments: { query } as Record<string, unknown> });
      expect(result.isError).toBe(true);
      return result.content[0].text;
    };
    expect(await text('mutation { deleteWatchlist(id: "x") { deleted } }')).toContain('got a mutation');
    expect(await text('subscription { quotes(symbols: ["SPY"]) { spot } }')).toContain('got a subscription');
    expect(await text('{ nothing }')).toContain('nothing');
    expect(await text('{')).toContain('Syntax Error');
    expect(await text('')).toContain('is required');
  });
});

describe('the tool estimate', () => {
  test('says what a document would cost and what would be refused, and takes no requests', async () => {
    const credential = await app.key({ apiTier: 'free' });
    const client = await connected(credential);
    const left = async () => (await app.get('/v2/symbols', { credential })).headers['x-ratelimit-remaining'];
    // The client lists the tools before its first call, which takes a request.
    await client.callTool({ name: 'estimate', arguments: { query: '{ me { tier } }' } });
    // Beside that it asks for a stream of the server's messages, whenever it does.
    await expect.poll(async () => Number(await left()) - Number(await left())).toBe(1);
    const before = Number(await left());
    const query =
      'query Q($n: Int!) { symbols(first: $n) { nodes { symbol } } symbol(symbol: "SPY") { flow { unusual { callRatio } } } }';
    const result: Json = await client.callTool({
      name: 'estimate',
      arguments: { query, variables: { n: 3 }, operation_name: 'Q' },
    });
    expect(result.isError, result.content[0].text).toBeFalsy();
    const { maximum, fields, refused } = result.structuredContent;
    expect(maximum.requests).toBeGreaterThan(0);
    expect(fields.find(({ path }: Json) => path === 'symbols.nodes').items).toEqual({
      maximum: 3,
      expected: 3,
      boundBy: 'symbols(first)',
    });
    expect(refused).toMatchObject([{ path: 'symbol.flow.unusual', code: 'not_entitled_tier' }]);
    expect(Number(await left())).toBe(before - 1);
    const wrong: Json = await client.callTool({ name: 'estimate', arguments: { query: '' } });
    expect(wrong.isError).toBe(true);
  });
});

describe('resources of /mcp', () => {
  test('the graph with its units, and the methodology', async () => {
    const client = await connected();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'tapegraph://schema.graphql',
      'tapegraph://openapi.json',
      'tapegraph://methodology.md',
    ]);
    const described = await client.readResource({ uri: 'tapegraph://openapi.json' });
    expect(JSON.parse((described.contents[0] as Json).text).paths).toHaveProperty(['/v2/quotes']);
    const { contents } = await client.readResource({ uri: 'tapegraph://schema.graphql' });
    expect((contents[0] as Json).text).toContain('type Query');
    await expect(client.readResource({ uri: 'tapegraph://none' })).rejects.toThrow('Unknown resource');
  });
});
