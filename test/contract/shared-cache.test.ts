import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { topicKinds } from '../../src/rest/stream/stream-topics.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';
import { notRun } from '../support/not-run.ts';
import { type SharedCache, sharedCache } from '../support/servers/shared-cache.ts';
import { varnish, varnishPath } from '../support/servers/varnish.ts';
import { about, knownRoutes } from './known-routes.ts';

if (varnishPath === null)
  notRun('the answers behind Varnish', 'there is no Varnish (VARNISHD); the cache of the suite stands for it');

let first: TestApp;
let app: TestApp;
let sampleKey: string;
beforeAll(async () => {
  first = await filledApp();
  sampleKey = await first.key();
  app = await testApp({ nowMs: filledNowMs, sampleKey, store: { ...first.store, close: async () => {} } });
});
afterAll(async () => {
  await app.close();
  await first.close();
});

/** A request of any caller. */
interface Ask {
  name: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const json = { 'content-type': 'application/json' };
const stream = { accept: 'text/event-stream' };

const subscriptions: Record<keyof typeof topicKinds, string> = {
  quotes: 'quotes(symbols: ["SPY"]) { symbol spot }',
  bars: 'bars(symbol: "SPY", timeframe: "1m") { tsMs close }',
  gex: 'gexCaptured(symbol: "SPY") { netGex }',
  'large-trades': 'largeTrades(symbol: "SPY") { seq }',
  'cross-section': 'crossSection(symbol: "SPY") { seq }',
};

async function restAsks(owner: string): Promise<Ask[]> {
  const asks: Ask[] = [];
  for (const [i, { name, route, known }] of knownRoutes().entries()) {
    const id = known.prepare ? await known.prepare(app, owner) : 'none';
    const path = about(known.path, 'SPY', id);
    const body = known.body === undefined ? {} : { body: about(known.body, 'SPY', id) };
    const headers = { 'content-type': known.contentType ?? 'application/json' };
    asks.push({ name, method: route.method, path, ...body, headers });
    if (route.method !== 'GET') continue;
    const others: Ask[] = [
      { name: `${name} as CSV`, method: 'GET', path, headers: { accept: 'text/csv' } },
      { name: `HEAD ${path}`, method: 'HEAD', path },
      ...(path.includes('SPY') ? [{ name: `${name}, unknown`, method: 'GET', path: path.replace('SPY', 'QQQQ') }] : []),
      ...(path.includes('?') ? [{ name: `${name}, bare`, method: 'GET', path: path.split('?')[0]! }] : []),
    ];
    // The same code answers them on every route: each route is asked one of them in turn.
    asks.push(others[i % others.length]!);
  }
  const sealed = '/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01';
  const tag = (await app.get(sealed)).headers.etag!;
  return [
    ...asks,
    { name: 'in gzip', method: 'GET', path: sealed, headers: { 'accept-encoding': 'gzip' } },
    { name: 'as protobuf', method: 'GET', path: sealed, headers: { accept: 'application/x-protobuf' } },
    { name: 'its methods', method: 'OPTIONS', path: sealed },
    { name: 'below it', method: 'GET', path: '/v2/stocks/SPY/bars/none' },
    { name: 'what holds already', method: 'GET', path: sealed, headers: { 'if-none-match': tag } },
    { name: 'GET where there is POST alone', method: 'GET', path: '/v2/journal/import' },
    { name: 'a body too large', method: 'PUT', path: '/v2/watchlists/x', headers: json, body: ' '.repeat(70_000) },
    {
      name: 'a body of another type',
      method: 'PUT',
      path: '/v2/watchlists/x',
      headers: { 'content-type': 'text/html' },
      body: '{}',
    },
    { name: 'an address that is none', method: 'GET', path: '/v2/symbols/%ZZ' },
  ];
}

function graphAsks(): Ask[] {
  const documents = knownRoutes().map(({ name, known }): [string, string] => [name, about(known.graphql, 'SPY')]);
  const all: [string, string][] = [...documents, ['a bad document', '{ nothing }'], ['no document', '']];
  return all.flatMap(([name, query], i): Ask[] => {
    const path = `/graphql?query=${encodeURIComponent(query)}`;
    const get: Ask = { name: `GET ${name}`, method: 'GET', path };
    return [
      get,
      i % 2 === 0
        ? { ...get, name: `${get.name}, as a response`, headers: { accept: 'application/graphql-response+json' } }
        : { name: `POST ${name}`, method: 'POST', path: '/graphql', headers: json, body: JSON.stringify({ query }) },
    ];
  });
}

function streamAsks(): Ask[] {
  return Object.entries(subscriptions).flatMap(([kind, selection]): Ask[] => {
    const query = `subscription { ${selection} }`;
    return [
      { name: `topic ${kind}`, method: 'GET', path: `/v2/stream?topics=${kind}:SPY`, headers: stream },
      {
        name: `subscription ${kind}`,
        method: 'GET',
        path: `/graphql?query=${encodeURIComponent(query)}`,
        headers: stream,
      },
      {
        name: `posted ${kind}`,
        method: 'POST',
        path: '/graphql',
        headers: { ...json, ...stream },
        body: JSON.stringify({ query }),
      },
    ];
  });
}

function mcpAsks(): Ask[] {
  const headers = { ...json, accept: 'application/json, text/event-stream' };
  const call = (name: string, args: object) => ({ name: 'tools/call', params: { name, arguments: args } });
  const messages = [
    { name: 'tools/list', params: {} },
    { name: 'resources/list', params: {} },
    call('symbols', {}),
    call('stock_bars', { symbol: 'SPY', from: '2026-11-30', to: '2026-12-01' }),
    call('graphql', { query: '{ me { tier } }' }),
    call('none', {}),
  ];
  return [
    ...messages.map(({ name, params }, id) => ({
      name: `MCP ${name} ${JSON.stringify(params)}`,
      method: 'POST',
      path: '/mcp',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id, method: name, params }),
    })),
    { name: 'GET /mcp', method: 'GET', path: '/mcp', headers: stream },
    { name: 'DELETE /mcp', method: 'DELETE', path: '/mcp' },
    { name: 'MCP from another page', method: 'GET', path: '/mcp', headers: { origin: 'https://evil.example' } },
  ];
}

/** Everything that stands behind a credential, or tells of one. */
async function guardedAsks(owner: string): Promise<Ask[]> {
  return [
    ...(await restAsks(owner)),
    ...graphAsks(),
    ...streamAsks(),
    ...mcpAsks(),
    { name: 'the stream, bare', method: 'GET', path: '/v2/stream', headers: stream },
    { name: 'GraphiQL', method: 'GET', path: '/graphql', headers: { accept: 'text/html' } },
    { name: 'introspection', method: 'GET', path: `/graphql?query=${encodeURIComponent('{ __typename }')}` },
    { name: 'an unknown address', method: 'GET', path: '/none' },
    { name: '/healthz', method: 'GET', path: '/healthz' },
    { name: '/readyz', method: 'GET', path: '/readyz' },
    { name: '/metrics', method: 'GET', path: '/metrics' },
  ];
}

const publicAsks: Ask[] = [
  '/v2/openapi.json',
  '/v2/rest-protocol.proto',
  '/v2/stream-protocol.proto',
  '/v2/ws-protocol.proto',
  '/v2/ws-protocol.json',
  '/schema.graphql',
  '/llms.txt',
  '/asyncapi.json',
  '/widgets.json',
  '/apps.json',
  '/docs',
  '/dashboard',
  '/dashboard/SPY',
  '/',
].map((path) => ({ name: path, method: 'GET', path, headers: { accept: 'text/html, */*' } }));

interface Received {
  /** The id that was sent, of which an answer to this very request has a copy. */
  sentId: string;
  answer: IncomingMessage;
  body: string;
}

const agent = new http.Agent({ keepAlive: true });
afterAll(() => agent.destroy());

/** Sends a request; of an unending answer only the headers are awaited. */
async function send(
  url: string,
  { method, path, headers, body }: Ask,
  credential: Record<string, string>,
): Promise<Received> {
  const sentId = randomUUID();
  const all = { ...headers, ...credential, 'x-request-id': sentId };
  const request = http.request(url + path, { method, headers: all, agent });
  request.on('error', () => {});
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  if (answer.headers['content-type']?.startsWith('text/event-stream')) {
    request.destroy();
    return { sentId, answer, body: '' };
  }
  return { sentId, answer, body: (await buffer(answer)).toString() };
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });
const xApiKey = (key: string) => ({ 'x-api-key': key });

/** The credentials that ask for everything, in this order: first those who may read it. */
async function callers(owner: string): Promise<[string, Record<string, string>][]> {
  const entitled = (await app.access.keys.create({ accountId: owner, name: null, expiresAt: null })).key;
  const free = await app.key({ apiTier: 'free', siteTier: 'free', classification: null });
  const session = await app.access.sessions.create(owner, 3_600_000);
  return [
    ['an entitled key in X-API-Key', xApiKey(entitled)],
    ['an entitled key', bearer(entitled)],
    ['an entitled session', bearer(session)],
    ['a free key in X-API-Key', xApiKey(free)],
    ['a free key', bearer(free)],
    ['nobody', {}],
    ['a bad key', xApiKey('tg_live_garbage')],
  ];
}

const caches: [string, boolean, (url: string) => Promise<SharedCache>][] = [
  ['a cache that stores all that RFC 9111 allows', true, sharedCache],
  ['a stock Varnish', varnishPath !== null, varnish],
];

describe.each(caches)('behind %s', (_name, there, start) => {
  let cache: SharedCache;
  beforeAll(async () => {
    if (there) cache = await start(app.url);
  });
  afterAll(() => cache?.close());

  test.skipIf(!there)(
    'nobody gets another’s answer, at any endpoint',
    async () => {
      const owner = await app.account();
      const everybody = await callers(owner);
      const strangers: string[] = [];
      for (const ask of await guardedAsks(owner)) {
        for (const [who, credential] of everybody) {
          const { sentId, answer } = await send(cache.url, ask, credential);
          if (answer.headers['x-request-id'] !== sentId) strangers.push(`${ask.name}: ${who} got another’s answer`);
        }
      }
      expect(strangers).toEqual([]);
    },
    240_000,
  );

  test.skipIf(!there)('a client gets the encoding that it reads, also where another one filled the cache', async () => {
    for (const ask of publicAsks) {
      for (const accepted of ['br', 'gzip', 'identity']) {
        const headers = { ...ask.headers, 'accept-encoding': accepted };
        const { answer } = await send(cache.url, { ...ask, headers }, {});
        const sent = answer.headers['content-encoding'] ?? 'identity';
        expect([ask.name, accepted, sent]).toEqual([ask.name, accepted, accepted]);
      }
    }
  });

  test.skipIf(!there)('what is the same for everybody may come from the cache, and holds no key', async () => {
    const everybody = await callers(await app.account());
    for (const ask of publicAsks) {
      const bodies = new Set<string>();
      for (const [, credential] of everybody) bodies.add((await send(cache.url, ask, credential)).body);
      expect([ask.name, bodies.size]).toEqual([ask.name, 1]);
      expect([...bodies][0]).not.toContain(sampleKey);
    }
    const again = await send(cache.url, publicAsks[0]!, {});
    expect(again.answer.headers['x-request-id']).not.toBe(again.sentId);
  });
});

describe('the caches these tests put in front', () => {
  test.each(caches)('give again what an origin lets them: %s', async (_name, there, start) => {
    if (!there) return;
    // A gateway that says nothing of caching.
    const origin = http.createServer((request, response) => {
      response.setHeader('x-request-id', String(request.headers['x-request-id']));
      const { authorization = 'nobody' } = request.headers;
      response.end(`for ${request.headers['x-api-key'] ?? authorization.replace('Bearer ', '')}`);
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const cache = await start(`http://127.0.0.1:${(origin.address() as AddressInfo).port}`);
    const ask = { name: '', method: 'GET', path: '/data' };
    expect((await send(cache.url, ask, xApiKey('ana'))).body).toBe('for ana');
    expect((await send(cache.url, ask, xApiKey('bob'))).body).toBe('for ana');
    expect((await send(cache.url, { ...ask, path: '/more' }, bearer('ana'))).body).toBe('for ana');
    expect((await send(cache.url, { ...ask, path: '/more' }, {})).body).toBe('for nobody');
    await cache.close();
    origin.closeAllConnections();
    origin.close();
  });
});

describe('every answer behind a credential', () => {
  test('says no-store, or private, and varies by all that may decide it', async () => {
    const owner = await app.account();
    const everybody = (await callers(owner)).filter(([who]) => who.startsWith('an entitled key') || who === 'nobody');
    const wrong: string[] = [];
    for (const ask of await guardedAsks(owner)) {
      for (const [who, credential] of everybody) {
        const { headers } = (await send(app.url, ask, credential)).answer;
        const sealed = ask.path.startsWith('/graphql') || ask.path.startsWith('/mcp') ? [] : ['private'];
        if (!['no-store', ...sealed].includes(String(headers['cache-control'])))
          wrong.push(`${ask.name} to ${who}: Cache-Control ${headers['cache-control']}`);
        if (!String(headers.vary).startsWith('Accept, Accept-Encoding, Authorization, X-API-Key'))
          wrong.push(`${ask.name} to ${who}: Vary ${headers.vary}`);
      }
    }
    expect(wrong).toEqual([]);
  }, 120_000);
});
