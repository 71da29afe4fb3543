import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Json, type Sending, type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';
import { goneWith } from '../support/servers/gone-pool.ts';
import { about, type KnownRoute, knownRoutes } from './known-routes.ts';

let app: TestApp;
let accountId: string;
let key: string;
let session: string;

beforeAll(async () => {
  app = await filledApp({ env: { CORS_ORIGINS: 'https://app.example.com' } });
  accountId = await app.account();
  key = (await app.access.keys.create({ accountId, name: null, expiresAt: null })).key;
  session = await app.access.sessions.create(accountId, 3_600_000);
});
afterAll(() => app.close());

/** Another application over the same store, which stays open. */
function anotherApp(env: Record<string, string>): Promise<TestApp> {
  return testApp({ nowMs: filledNowMs, env, store: { ...app.store, close: async () => {} } });
}

/** Sends a route's usual request, by default with a session. */
async function usual(known: KnownRoute, sending: Sending = {}, on = app, owner = accountId): Promise<Answer> {
  const { path, body, contentType, prepare } = known.known;
  const id = prepare ? await prepare(on, owner) : 'none';
  return on.send(known.route.method, about(path, 'SPY', id), {
    credential: session,
    ...(body ? { body: about(body, 'SPY', id) } : {}),
    ...(contentType ? { contentType } : {}),
    ...sending,
  });
}

const routesOf = (method: string) => knownRoutes().filter(({ route }) => route.method === method);
const publicPaths = ['/healthz', '/readyz', '/v2/openapi.json', '/v2/rest-protocol.proto', '/v2/ws-protocol.json'];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function expectError({ status, body, headers }: Answer, wanted: number, code: string): void {
  expect([status, body?.error?.code]).toEqual([wanted, code]);
  expect(Object.keys(body)).toEqual(['error']);
  expect(body.error.message).toEqual(expect.any(String));
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-request-id']).toBeDefined();
}

/** Sends bytes as they are and gives back what came until the server closed the connection or fell silent. */
function raw(text: string, silentMs = 400): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setTimeout(silentMs, () => socket.destroy());
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('x-request-id', () => {
  test('is on every answer of every route, good and bad; a well-formed one that was sent is kept', async () => {
    for (const known of knownRoutes()) {
      for (const credential of [session, null]) {
        const sent = await usual(known, { credential, headers: { 'x-request-id': 'mine.1:2-3_4' } });
        expect([known.name, sent.headers['x-request-id']]).toEqual([known.name, 'mine.1:2-3_4']);
        expect((await usual(known, { credential })).headers['x-request-id']).toMatch(uuid);
      }
    }
  });

  test('one that is not well-formed gives way to a new one', async () => {
    for (const sent of ['', 'with space', 'a'.repeat(129), 'semi;colon', '"quoted"']) {
      const { headers } = await app.get('/healthz', { credential: null, headers: { 'x-request-id': sent } });
      expect(headers['x-request-id']).toMatch(uuid);
    }
  });

  test('is on what is public, on 304, 404, 405, 413, 415, and on both kinds of GraphQL answer', async () => {
    const headers = { 'x-request-id': 'kept' };
    const sealed = '/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01';
    const tag = (await app.get(sealed)).headers.etag!;
    const answers: [number, Answer][] = [
      ...(await Promise.all(
        publicPaths.map(async (path): Promise<[number, Answer]> => [200, await app.get(path, { headers })]),
      )),
      [304, await app.get(sealed, { headers: { ...headers, 'if-none-match': tag } })],
      [404, await app.get('/v2/none', { headers })],
      [404, await app.get('/none', { headers })],
      [405, await app.send('PUT', '/v2/quotes', { headers })],
      [413, await app.send('PUT', '/v2/watchlists/x', { headers, body: ' '.repeat(70_000) })],
      [415, await app.send('PUT', '/v2/watchlists/x', { headers, body: '{}', contentType: 'text/html' })],
      [200, (await app.graphql('{ me { tier } }', {}, { headers })).answer],
      [401, (await app.graphql('{ me { tier } }', {}, { headers, credential: null })).answer],
      [200, (await app.graphql('{ none }', {}, { headers })).answer],
    ];
    for (const [status, answer] of answers) {
      expect([answer.status, answer.headers['x-request-id']]).toEqual([status, 'kept']);
    }
  });
});

describe('addresses and methods', () => {
  test('another method is a 405 whose Allow lists those there are, HEAD with GET', async () => {
    const allowed = new Map<string, Set<string>>();
    for (const { route } of knownRoutes()) {
      const methods = allowed.get(route.path) ?? new Set();
      allowed.set(route.path, methods.add(route.method));
      if (route.method === 'GET') methods.add('HEAD');
    }
    for (const [path, methods] of allowed) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !methods.has(one))) {
        const answer = await app.send(
          method,
          path.replace(/:contract/, 'O:SPY261218C00600000').replace(/:\w+/g, 'SPY'),
        );
        // A path may be another route's parameter: /v2/symbols/lookup is a symbol's path, too.
        expectError(answer, 405, 'invalid_params');
        expect(new Set(answer.headers.allow!.split(', '))).toEqual(methods);
      }
    }
  });

  test('an unknown path is a 404 in the envelope: near misses too, without a redirect', async () => {
    const misses = ['/v2', '/v2/', '/v3/quotes', '/v2/none', '/v2/symbols/SPY/none', '/v1/symbols', '/gex', '/none'];
    for (const path of misses) expectError(await app.get(path), 404, 'not_found');
    for (const { known } of routesOf('GET')) {
      const [path, query = ''] = about(known.path, 'SPY', 'x').split('?') as [string, string?];
      const upper = path.replace(/^\/\w+/, (word) => word.toUpperCase());
      for (const near of [`/${path}`, upper, path.replace(/^\/\w+/, '$&/')]) {
        const { status } = await app.get(`${near}?${query}`);
        expect([near, status]).toEqual([near, 404]);
      }
      const { status } = await app.get(`${path}/?${query}`, { credential: session });
      expect([path, [200, 404]]).toEqual([path, expect.arrayContaining([status])]);
    }
  });

  test('the words of a path are written as they are, in no other case', async () => {
    expect((await app.get('/v2/Quotes?symbols=SPY')).status).toBe(404);
    expect((await app.get('/v2/symbols/spy')).status).toBe(200);
  });

  test('HEAD answers as GET does, without a body', async () => {
    for (const known of routesOf('GET')) {
      const path = about(known.known.path, 'SPY');
      const get = await app.get(path, { credential: session });
      const head = await app.send('HEAD', path, { credential: session });
      expect([known.name, head.status, head.bytes.length]).toEqual([known.name, get.status, 0]);
      for (const name of ['content-type', 'etag', 'cache-control', 'vary']) {
        expect([known.name, name, head.headers[name]]).toEqual([known.name, name, get.headers[name]]);
      }
    }
  });

  test('parameters nobody knows are passed over', async () => {
    for (const known of knownRoutes()) {
      const { path } = known.known;
      const more = {
        ...known.known,
        path: `${path}${path.includes('?') ? '&' : '?'}unknown=1&unknown=2&__proto__=x&api_key=`,
      };
      expect([known.name, (await usual({ ...known, known: more })).status]).toEqual([known.name, 200]);
    }
  });
});

describe('credentials', () => {
  test('one in the query is none, whatever its name', async () => {
    for (const name of ['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'X-API-Key']) {
      const answer = await app.get(`/v2/symbols/SPY?${name}=${key}`, { credential: null });
      expectError(answer, 401, 'unauthenticated');
    }
  });

  test('X-API-Key is taken, and Bearer in any case; another scheme is none', async () => {
    const status = async (headers: Record<string, string>) =>
      (await app.get('/v2/symbols/SPY', { credential: null, headers })).status;
    expect(await status({ 'x-api-key': key })).toBe(200);
    expect(await status({ authorization: `bEaReR ${key}` })).toBe(200);
    expect(await status({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` })).toBe(401);
    expect(await status({ authorization: key })).toBe(401);
  });

  test('a 401 says how to come in', async () => {
    for (const known of knownRoutes()) {
      const answer = await usual(known, { credential: null });
      expectError(answer, 401, 'unauthenticated');
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
    const { answer } = await app.graphql('{ me { tier } }', {}, { credential: null });
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  test('what is public is so with a bad credential, too', async () => {
    for (const path of publicPaths) {
      expect([path, (await app.get(path, { credential: 'garbage' })).status]).toEqual([path, 200]);
    }
    const { data, answer } = await app.graphql('{ __schema { queryType { name } } }', {}, { credential: 'garbage' });
    expect([answer.status, data.__schema.queryType.name]).toEqual([200, 'Query']);
    const page = await app.get('/graphql', { credential: 'garbage', headers: { accept: 'text/html' } });
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)]);
  });
});

describe('caching', () => {
  test('Vary names what an answer depends on; Cache-Control follows the plane; only sealed answers carry a tag', async () => {
    const planes = new Set<string>();
    for (const known of knownRoutes()) {
      const { status, headers, body } = await usual(known);
      expect([known.name, status]).toEqual([known.name, 200]);
      const vary = String(headers.vary).split(/, */);
      expect(vary).toEqual(expect.arrayContaining(['Accept', 'Accept-Encoding', 'Authorization', 'X-API-Key']));
      const { plane } = body.meta;
      planes.add(plane);
      const changes = plane === 'live' || known.route.method !== 'GET';
      expect([known.name, headers['cache-control']]).toEqual([known.name, changes ? 'no-store' : 'private']);
      expect([known.name, headers.etag !== undefined]).toEqual([known.name, plane === 'archive']);
    }
    expect(planes).toEqual(new Set(['live', 'archive', 'registry']));
  });

  test('each encoding of a sealed answer has a tag of its own, answers it with 304, and holds the same', async () => {
    for (const known of routesOf('GET')) {
      const plain = await usual(known);
      if (plain.headers.etag === undefined) continue;
      const tags = new Set<string>();
      for (const encoding of ['identity', 'gzip', 'br']) {
        const headers = { 'accept-encoding': encoding };
        const answer = await usual(known, { headers });
        const used = answer.headers['content-encoding'] ?? 'identity';
        tags.add(`${answer.headers.etag} ${used}`);
        expect(answer.headers.etag).toMatch(/^"[^"]+"$/);
        const again = await usual(known, { headers: { ...headers, 'if-none-match': `"x", W/${answer.headers.etag}` } });
        expect([known.name, again.status, again.bytes.length]).toEqual([known.name, 304, 0]);
        expect(again.headers).toMatchObject({ etag: answer.headers.etag, vary: plain.headers.vary });
        expect(again.headers['cache-control']).toBe(plain.headers['cache-control']);
      }
      expect(new Set([...tags].map((tag) => tag.split(' ')[0])).size).toBe(tags.size);
    }
  });
});

describe('CORS', () => {
  test('a configured origin is let in, another not; a preflight needs no credential', async () => {
    const headersFor = async (origin: string) => (await app.get('/v2/symbols/SPY', { headers: { origin } })).headers;
    const allowed = await headersFor('https://app.example.com');
    expect(allowed['access-control-allow-origin']).toBe('https://app.example.com');
    expect(allowed['access-control-allow-credentials']).toBeUndefined();
    expect(String(allowed['access-control-expose-headers'])).toContain('ETag');
    expect(allowed.vary).toContain('Origin');
    for (const origin of [
      'https://evil.example.com',
      'https://app.example.com.evil.com',
      'null',
      'http://app.example.com',
    ]) {
      expect((await headersFor(origin))['access-control-allow-origin']).toBeUndefined();
    }
    for (const path of ['/v2/quotes', '/v2/watchlists/x', '/graphql']) {
      const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' };
      const preflight = await app.send('OPTIONS', path, { credential: null, headers });
      expect([path, preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([
        path,
        204,
        'https://app.example.com',
      ]);
      expect(preflight.headers['access-control-allow-headers']).toContain('Authorization');
    }
  });

  test('pages of an allowed origin can read what beside a body belongs to an answer', async () => {
    const headers = { origin: 'https://app.example.com', accept: 'text/csv' };
    const answer = await app.get('/v2/gex/SPY/history?date=2026-11-19', { headers });
    const readable = answer.headers['access-control-expose-headers']!.split(', ');
    expect(readable).toEqual(
      expect.arrayContaining([
        'ETag',
        'x-request-id',
        'x-itm-plane',
        'x-itm-caps',
        'x-itm-extra',
        'x-itm-data',
        'Sunset',
      ]),
    );
    for (const name of readable.filter((each) => each.startsWith('x-'))) expect(answer.headers).toHaveProperty(name);
  });

  test('without configured origins nobody is', async () => {
    const closed = await anotherApp({});
    const headers = { origin: 'https://app.example.com' };
    expect((await closed.get('/v2/symbols/SPY', { headers })).headers['access-control-allow-origin']).toBeUndefined();
    await closed.close();
  });
});

describe('rate', () => {
  test('every answer to a key or a session says how its minute stands, also one that fails', async () => {
    const told = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
    for (const known of knownRoutes()) {
      for (const { headers } of [await usual(known, { credential: key }), await usual(known)])
        expect([known.name, told.filter((name) => !/^\d+$/.test(String(headers[name])))]).toEqual([known.name, []]);
    }
    const bad = await app.get('/v2/quotes', { credential: key });
    expect([bad.status, bad.headers['x-ratelimit-limit']]).toEqual([400, '1000000']);
  });

  test('a request that nothing serves costs 1 and is told so too: unknown path, other method, no GraphQL, refused document', async () => {
    const refused: [string, string, number, Sending][] = [
      ['GET', '/v2/nothing', 404, {}],
      ['POST', '/v2/quotes', 405, {}],
      ['GET', '/v2/symbols/%ZZ', 404, {}],
      ['POST', '/graphql', 400, { body: '{' }],
      ['POST', '/graphql', 415, { body: 'x', contentType: 'text/csv' }],
      ['POST', '/graphql', 200, { body: '{"query":"{ nothing }"}' }],
    ];
    const standing = async () =>
      Number((await app.get('/v2/symbols/SPY', { credential: key })).headers['x-ratelimit-remaining']);
    let left = await standing();
    for (const [method, path, status, sending] of refused) {
      const { headers, ...answer } = await app.send(method, path, { ...sending, credential: key });
      left -= 1;
      expect([method, path, answer.status, headers['x-ratelimit-remaining']]).toEqual([
        method,
        path,
        status,
        String(left),
      ]);
      expect(headers['x-ratelimit-limit']).toBe('1000000');
    }
    expect(await standing()).toBe(left - 1);
  });

  test('what nothing serves is a 429 too when nothing is left', async () => {
    const tight = await testApp({ nowMs: filledNowMs, env: { RATE_PRO: '1' } });
    try {
      for (const send of [
        (credential: string) => tight.get('/v2/nothing', { credential }),
        (credential: string) => tight.send('POST', '/graphql', { body: '{"query":"{ nothing }"}', credential }),
      ]) {
        const credential = await tight.key();
        const statuses = [(await send(credential)).status, (await send(credential)).status];
        expect(statuses[1]).toBe(429);
        expect(statuses[0]).not.toBe(429);
      }
    } finally {
      await tight.close();
    }
  });

  test('more than the rate is a 429 with Retry-After over either door, counted together, by key and by account', async () => {
    const tight = await anotherApp({ RATE_FREE: '2', RATE_BASIC: '3', RATE_PRO: '4' });
    try {
      for (const [tier, limit] of [
        ['free', 2],
        ['basic', 3],
        ['pro', 4],
      ] as const) {
        const owner = await tight.account({ apiTier: tier, siteTier: tier });
        for (const credential of [
          (await tight.access.keys.create({ accountId: owner, name: null, expiresAt: null })).key,
          await tight.access.sessions.create(owner, 3_600_000),
        ]) {
          for (let i = 0; i < limit; i++) {
            const passed =
              i % 2
                ? await tight.get('/v2/symbols/SPY', { credential })
                : (await tight.graphql('{ me { tier } }', {}, { credential })).answer;
            expect(passed.status).toBe(200);
          }
          const over = await tight.get('/v2/symbols/SPY', { credential });
          expectError(over, 429, 'rate_limited');
          expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
          const { errors, answer } = await tight.graphql('{ me { tier } }', {}, { credential });
          expect([answer.status, errors?.[0].extensions.code]).toEqual([429, 'rate_limited']);
          expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        }
      }
    } finally {
      await tight.close();
    }
  });
});

describe('usage', () => {
  test('every route counts one request in its group, over REST and over GraphQL', async () => {
    for (const known of knownRoutes()) {
      for (const door of ['rest', 'graphql'] as const) {
        const owner = await app.account();
        const credential = await app.access.sessions.create(owner, 60_000);
        const id = known.known.prepare ? await known.known.prepare(app, owner) : 'none';
        if (door === 'rest') await usual(known, { credential }, app, owner);
        else {
          const { errors } = await app.graphql(about(known.known.graphql, 'SPY', id), {}, { credential });
          expect([known.name, errors]).toEqual([known.name, undefined]);
        }
        const counted = await app.access.usage.read(owner);
        // In the graph, market data below data of the account counts in both groups.
        const groups = [...(door === 'graphql' && known.route.isOwn ? ['account'] : []), known.route.scopeGroup];
        expect([known.name, door, counted.map(({ scopeGroup, count }) => [scopeGroup, count])]).toEqual([
          known.name,
          door,
          groups.map((group) => [group, 1]),
        ]);
      }
    }
  });

  test('a request that is refused counts when it is known who sent it, and only then', async () => {
    const owner = await app.account({ siteTier: 'free', classification: null });
    const credential = await app.access.sessions.create(owner, 60_000);
    expect((await app.get('/v2/flow/large-trades', { credential })).status).toBe(403);
    await app.get('/v2/flow/large-trades', { credential: null });
    const counted = await app.access.usage.read(owner);
    expect(counted.map(({ scopeGroup, count }) => [scopeGroup, count])).toEqual([['analytics.flow', 1]]);
  });
});

describe('when something is missing', () => {
  test('a store that goes away is a 502 on every route, 503 for option bars, not ready, and it comes back without a restart', async () => {
    const fragile = await testApp({ nowMs: filledNowMs });
    const { pool } = fragile.store;
    const works = { query: pool.query, connect: pool.connect };
    const gone = goneWith('the server closed the connection, password=secret');
    try {
      const owner = await fragile.account();
      const other = await fragile.access.sessions.create(owner, 3_600_000);
      const unknown = await fragile.session();
      for (const known of knownRoutes()) {
        const id = known.known.prepare ? await known.known.prepare(fragile, owner) : 'none';
        // An account it has not met: who asks must be looked up first.
        const credential = await fragile.session();
        Object.assign(pool, { query: gone, connect: gone });
        const answer = await fragile.send(known.route.method, about(known.known.path, 'SPY', id), { credential });
        if (known.route.sourceFailure) expectError(answer, 503, 'provider_unavailable');
        else expectError(answer, 502, 'internal');
        expect(answer.bytes.toString()).not.toContain('secret');
        Object.assign(pool, works);
      }
      Object.assign(pool, { query: gone, connect: gone });
      const ready = await fragile.get('/readyz', { credential: null });
      expect([ready.status, ready.body]).toEqual([503, { status: 'not_ready' }]);
      expect((await fragile.get('/healthz', { credential: null })).status).toBe(200);
      const known = await fragile.graphql('{ watchlists { rows { id } } }', {}, { credential: other });
      expect(known.errors?.[0].extensions.code).toBe('internal');
      expect(JSON.stringify(known.errors)).not.toContain('secret');
      const unheardOf = { credential: unknown };
      const { answer, errors } = await fragile.graphql('{ me { tier } }', {}, unheardOf);
      expect([answer.status, errors?.[0].extensions.code]).toEqual([502, 'internal']);
      Object.assign(pool, works);
      expect((await fragile.get('/readyz', { credential: null })).body).toEqual({ status: 'ready' });
      for (const known of routesOf('GET')) {
        expect([known.name, (await usual(known, { credential: other }, fragile, owner)).status]).toEqual([
          known.name,
          200,
        ]);
      }
    } finally {
      Object.assign(pool, works);
      await fragile.close();
    }
  });

  /** A source that each route requires by spec 4, one of several if there are; every other route works without any. */
  const sourceOf: Record<string, string> = {
    'GET /v2/quotes': 'bars',
    'GET /v2/symbols/:symbol/spot': 'bars',
    'GET /v2/stocks/:symbol/bars': 'bars',
    'GET /v2/screener/sectors': 'bars',
    'GET /v2/screener/movers': 'bars',
    'GET /v2/screener/screen': 'bars',
    'GET /v2/screener/screens/:id/result': 'bars',
    'GET /v2/gex/:symbol/history': 'chain',
    'GET /v2/gex/:symbol/grid': 'chain',
    'GET /v2/gex/:symbol/reference': 'chain',
    'GET /v2/gex/:symbol/exposures': 'chain',
    'GET /v2/gex/:symbol/figures': 'chain',
    'GET /v2/gex/:symbol/change': 'chain',
    'GET /v2/levels/:symbol': 'chain',
    'GET /gex/:underlying/strikes': 'chain',
    'GET /v2/chain/:symbol': 'chain',
    'GET /v2/chain/:symbol/expirations': 'chain',
    'GET /v2/options/:symbol/vol/term': 'option_tape or chain',
    'GET /v2/options/:symbol/vol/surface': 'option_tape or chain',
    'GET /v2/options/:symbol/vol/figures': 'option_tape or chain',
    'GET /v2/options': 'chain',
    'GET /v2/options/:contract/history': 'chain or option_bars',
    'GET /v2/flow/large-trades': 'option_tape',
    'GET /v2/flow/eod': 'option_tape',
    'GET /v2/flow/:symbol/cross-section': 'option_tape',
    'GET /v2/flow/:symbol/unusual': 'option_tape',
    'GET /v2/options/:contract/greeks': 'option_tape or chain',
    'GET /v2/options/:contract/bars': 'option_bars',
    'GET /v2/offexchange/:symbol/concentration': 'stock_tape',
    'GET /v2/offexchange/:symbol/activity': 'stock_tape',
    'GET /v2/offexchange/:symbol/composition': 'stock_tape',
    'GET /v2/offexchange/:symbol/profile': 'stock_tape',
  };

  test('a source that is not configured is a 503 on the routes that need it, and on no other', async () => {
    const sources = ['bars', 'chain', 'option_tape', 'stock_tape', 'option_bars'];
    for (const without of [...sources, 'none']) {
      const SOURCES = without === 'none' ? 'none' : sources.filter((source) => source !== without).join(',');
      const bare = await anotherApp({ SOURCES });
      try {
        const owner = await bare.account();
        const credential = await bare.access.sessions.create(owner, 60_000);
        for (const known of knownRoutes()) {
          const needed = sourceOf[known.name];
          const off = needed !== undefined && (without === 'none' || needed === without);
          const answer = await usual(known, { credential }, bare, owner);
          expect([without, known.name, answer.status]).toEqual([without, known.name, off ? 503 : 200]);
          if (off) expectError(answer, 503, 'internal');
          if (!off || without !== 'none') continue;
          const id = await known.known.prepare?.(bare, owner);
          const { errors } = await bare.graphql(about(known.known.graphql, 'SPY', id), {}, { credential });
          expect([known.name, errors?.[0].extensions.code]).toEqual([known.name, 'internal']);
        }
        if (without === 'none') {
          const beside =
            '{ symbol(symbol: "SPY") { symbol } quotes(symbols: "SPY") { rows { spot } } sectors { rows { count } } movers { rows { spot } } }';
          const { data, errors } = await bare.graphql(beside, {}, { credential });
          expect(data).toEqual({ symbol: { symbol: 'SPY' }, quotes: null, sectors: null, movers: null });
          expect(errors?.map(({ path }) => path)).toEqual([['quotes'], ['sectors'], ['movers']]);
        }
      } finally {
        await bare.close();
      }
    }
  });
});

describe('bodies', () => {
  const withBody = knownRoutes().filter(({ route }) => route.body);

  test.each(withBody)(
    '$name: 415 for another content type, 413 for too much, 400 for what cannot be read',
    async (known) => {
      const send = (sending: Sending) => usual(known, sending);
      for (const contentType of [
        'text/html',
        'multipart/form-data; boundary=x',
        'application/x-www-form-urlencoded',
        '',
      ]) {
        expectError(await send({ body: 'x', contentType }), 415, 'invalid_params');
      }
      const type = known.route.body!.mediaTypes[0]!;
      expectError(
        await send({ body: ' '.repeat(known.route.body!.maxBytes + 1), contentType: type }),
        413,
        'invalid_params',
      );
      if (type.includes('json')) {
        for (const body of ['{', 'null', '[]', '"x"', '{"a":1}x', Buffer.from([0xff, 0xfe, 0x00])]) {
          expectError(await send({ body, contentType: type }), 400, 'invalid_params');
        }
      }
      const encoded = await send({ body: 'x', contentType: type, headers: { 'content-encoding': 'gzip' } });
      expectError(encoded, 415, 'invalid_params');
      const charset = await send({ contentType: `${type}; charset=utf-8` });
      expect([known.name, charset.status]).toEqual([known.name, 200]);
    },
  );

  test('a body that never ends is a 413 as soon as it is too long, without waiting for the rest', async () => {
    const head = `PUT /v2/watchlists/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session}\r\nContent-Type: application/json\r\n`;
    const chunk = `${(60_000).toString(16)}\r\n${' '.repeat(60_000)}\r\n`;
    const chunked = await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`);
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
    const declared = await raw(`${head}Content-Length: 99999999999\r\n\r\n{}`);
    expect(declared).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('what is no GraphQL request', () => {
  test('is told so with a status and a code of the contract, whatever is accepted', async () => {
    const json = { 'content-type': 'application/json' };
    const form = { 'content-type': 'text/csv' };
    const odd: [string, string, number, Sending][] = [
      ['POST', '/graphql', 415, { body: 'x', headers: form }],
      ['POST', '/graphql', 415, { body: 'x', headers: { ...form, accept: 'text/event-stream' } }],
      ['POST', '/graphql', 415, { body: '{ me { tier } }', headers: { 'content-type': 'application/graphql' } }],
      [
        'POST',
        '/graphql',
        415,
        { body: 'query=%7Bme%7Btier%7D%7D', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      ],
      ['POST', '/graphql', 400, { body: '{', headers: json }],
      ['POST', '/graphql', 400, { body: 'null', headers: { ...json, accept: 'image/png' } }],
      ['POST', '/graphql', 400, { body: '{', headers: { ...json, accept: 'text/html' } }],
      [
        'POST',
        '/graphql',
        200,
        { body: '{"query":"subscription { none }"}', headers: { ...json, accept: 'multipart/mixed' } },
      ],
      ['GET', '/graphql?query={me{tier}}&variables=x', 400, {}],
      ['GET', '/graphql?query={me{tier}}&extensions=x', 400, {}],
      ['PUT', '/graphql', 405, { body: '{}' }],
    ];
    for (const [method, path, status, sending] of odd) {
      const answer = await app.send(method, path, sending);
      const said = /^data: (\{.*)$/m.exec(answer.bytes.toString())?.[1] ?? answer.bytes.toString();
      expect([path, answer.status, JSON.parse(said).errors?.[0].extensions.code]).toEqual([
        path,
        status,
        'invalid_params',
      ]);
      // The answer repeats neither the parser's error nor the body.
      expect(said).not.toContain('originalError');
    }
  });

  test('an Accept that nothing fits is answered in JSON; what lies below the address is unknown', async () => {
    for (const accept of ['image/png', '*', ',,,', 'application/x-protobuf', 'application/json;q=0', 'text/html']) {
      const { data, answer } = await app.graphql('{ me { tier } }', {}, { headers: { accept } });
      expect([accept, answer.status, data?.me.tier]).toEqual([accept, 200, 'pro']);
    }
    for (const path of ['/graphql/x', '/graphql/%2F', '/GraphQL']) {
      expectError(await app.send('POST', path, { body: '{}' }), 404, 'not_found');
    }
  });
});

describe('the shape of every success', () => {
  test('is {data, meta}, meta with caps of the tier and a plane', async () => {
    for (const known of knownRoutes()) {
      const { body }: { body?: Json } = await usual(known, { credential: key.length > 0 ? session : key });
      expect([known.name, Object.keys(body)]).toEqual([known.name, ['data', 'meta']]);
      expect(body.meta.caps).toMatchObject({ applied: [], tier: 'pro' });
      expect(['live', 'archive', 'registry']).toContain(body.meta.plane);
    }
  });
});
