import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putScreen } from '../../src/store/account/saved-screens.ts';
import { type Answer, type Json, type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';
import { goneWith } from '../support/servers/gone-pool.ts';
import { dereferenced, misfits } from './json-schema.ts';
import { about, journalTrade, type KnownRoute, knownRoutes } from './known-routes.ts';
import { type MadeRequest, madeRequests, pathOf } from './requests.ts';

let app: TestApp;
/** The document as it is served, and with its references resolved. */
let published: Json;
let description: Json;
let callers: { name: string; accountId: string; credential: string }[];
/** Statuses each route really answered with. */
const answered = new Map<string, Set<number>>();
/** Routes and callers that were answered that nothing has changed. */
const unchanged = new Set<string>();

beforeAll(async () => {
  app = await filledApp();
  published = (await app.get('/v2/openapi.json', { credential: null })).body;
  description = dereferenced(published, published);
  const accountId = await app.account();
  const free = await app.account({ apiTier: 'free', siteTier: 'free', classification: null });
  const keyOf = async (id: string) =>
    (await app.access.keys.create({ accountId: id, name: null, expiresAt: null })).key;
  callers = [
    { name: 'session', accountId, credential: await app.access.sessions.create(accountId, 3_600_000) },
    { name: 'key', accountId, credential: await keyOf(accountId) },
    { name: 'free key', accountId: free, credential: await keyOf(free) },
    { name: 'free session', accountId: free, credential: await app.access.sessions.create(free, 3_600_000) },
  ];
});
afterAll(() => app.close());

function operationOf({ route }: KnownRoute): Json {
  return description.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
}

/** Parts of an answer that the description lacks. */
function undescribed(known: KnownRoute, { status, body, headers }: Answer): string[] {
  answered.set(known.name, (answered.get(known.name) ?? new Set()).add(status));
  const described = operationOf(known).responses[status];
  if (!described) return [`status ${status} is not described: ${JSON.stringify(body)}`];
  const strange = undescribedHeaders(described, headers);
  if (status === 304) return strange;
  if (!headers['content-type']?.startsWith('application/json')) return [`content type ${headers['content-type']}`];
  return [...strange, ...misfits(described.content['application/json'].schema, body, String(status))];
}

/** Headers that HTTP itself gives an answer, and those that protect pages. */
const ofHttp =
  /^(date|connection|keep-alive|upgrade|content-(type|length|encoding|security-policy)|transfer-encoding|x-content-type-options|x-frame-options|referrer-policy)$/;

/** Headers of an answer that the description lacks, and those that it promises in vain. */
function undescribedHeaders({ headers: described = {} }: Json, headers: Answer['headers']): string[] {
  const names = new Map(Object.entries<Json>(described).map(([name, header]) => [name.toLowerCase(), header]));
  return [
    ...Object.keys(headers)
      .filter((name) => !names.has(name) && !ofHttp.test(name))
      .map((name) => `header ${name} is not described`),
    ...[...names]
      .filter(([name, header]) => header.required && headers[name] === undefined)
      .map(([name]) => `header ${name} is missing`),
  ];
}

async function send(known: KnownRoute, request: MadeRequest, to = app, credential?: string | null): Promise<string[]> {
  const { method, path, texts: _, ...sent } = request;
  const sending = { ...sent, ...(credential === undefined ? {} : { credential }) };
  const answer = await to.send(method, path, sending);
  const { etag } = answer.headers;
  const asker = `${known.name} ${credential}`;
  const again =
    etag && !unchanged.has(asker)
      ? [await to.send(method, path, { ...sending, headers: { 'if-none-match': etag } })]
      : [];
  if (again[0]?.status === 304) unchanged.add(asker);
  return [answer, ...again].flatMap((one) => undescribed(known, one)).map((problem) => `${method} ${path}: ${problem}`);
}

/** The request that a pro, attested caller is answered 200, and those like it. */
async function usual(known: KnownRoute, accountId: string, on = app, symbol = 'SPY'): Promise<MadeRequest> {
  const { known: told, route } = known;
  const id = told.prepare ? await told.prepare(on, accountId) : 'none';
  return {
    method: route.method,
    path: about(told.path, symbol, id),
    texts: {},
    ...(told.body ? { body: about(told.body, symbol, id) } : {}),
    ...(told.contentType ? { contentType: told.contentType } : {}),
  };
}

describe('/v2/openapi.json', () => {
  test('is an OpenAPI 3.1 document: its parts are there, and of the form they must have', () => {
    expect(description).toMatchObject({ openapi: '3.1.0', info: { title: 'Tapegraph', version: '2' } });
    const ids = new Set<string>();
    for (const [path, item] of Object.entries<Json>(description.paths)) {
      expect(path).toMatch(/^\/[\w/{}.-]*$/);
      for (const [method, operation] of Object.entries<Json>(item)) {
        expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method);
        expect(ids.has(operation.operationId)).toBe(false);
        ids.add(operation.operationId);
        expect(operation).toMatchObject({ summary: expect.any(String), description: expect.any(String) });
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
        const described = (operation.parameters ?? [])
          .filter((one: Json) => one.in === 'path')
          .map((one: Json) => one.name);
        expect(described.sort()).toEqual(inPath.sort());
        for (const one of operation.parameters ?? []) {
          expect(one).toMatchObject({ name: expect.any(String), description: expect.any(String), schema: {} });
          expect(one.in === 'path' ? one.required : typeof one.required).toBe(one.in === 'path' ? true : 'boolean');
        }
        for (const [status, response] of Object.entries<Json>(operation.responses)) {
          expect(status).toMatch(/^(101|[2-5]\d\d)$/);
          // A connection that becomes a WebSocket has no body, whichever status says so.
          const isSocket = path === '/v2/ws' && status === '200';
          const content = isSocket || ['101', '304'].includes(status) ? undefined : expect.any(Object);
          expect(response).toEqual(
            expect.objectContaining({ description: expect.any(String), ...(content && { content }) }),
          );
        }
      }
    }
    for (const scheme of description.security.flatMap(Object.keys)) {
      expect(description.components.securitySchemes).toHaveProperty(scheme);
    }
  });

  test('writes each schema once, under the name of what it describes', () => {
    const named = Object.keys(published.components.schemas);
    expect(named).toEqual(
      expect.arrayContaining(['Quote', 'Bar', 'GexCapture', 'OptionContract', 'Caps', 'ErrorEnvelope']),
    );
    const repeated = new Map<string, number>();
    const objects = JSON.stringify(published, (_key, value) => {
      if (value?.type === 'object' && value.properties) {
        const text = JSON.stringify(value.properties);
        repeated.set(text, (repeated.get(text) ?? 0) + 1);
      }
      return value;
    });
    expect(objects).not.toBe('');
    expect([...repeated].filter(([, times]) => times > 1).map(([text]) => text)).toEqual([]);
    for (const [path, item] of Object.entries<Json>(published.paths)) {
      for (const { responses } of Object.values<Json>(item)) {
        const json = responses[200]?.content?.['application/json'];
        if (json && !['/v2/openapi.json', '/v2/ws-protocol.json', '/asyncapi.json'].includes(path))
          expect(json.schema).toEqual({ $ref: expect.any(String) });
      }
    }
  });

  test('leaves meta.plane open, and every enum of the contract closed', () => {
    expect(published.components.schemas.QuotesMeta.properties.plane).toMatchObject({ type: ['string', 'null'] });
    expect(published.components.schemas.QuotesMeta.properties.plane.enum).toBeUndefined();
    expect(published.components.schemas.Tier.enum).toEqual(['basic', 'free', 'pro']);
  });

  test('describes the streaming channel: what a client without a handshake gets, and its topics', async () => {
    const { get } = description.paths['/v2/ws'];
    const { status, headers, body } = await app.get('/v2/ws', { credential: null });
    expect(misfits(get.responses[status].content['application/json'].schema, body, '426')).toEqual([]);
    expect(undescribedHeaders(get.responses[status], headers)).toEqual([]);
    for (const topic of ['stocks (want, timeframe, since)', 'gex (expiries, since)', 'spot', 'index', 'chain'])
      expect(get.description).toContain(topic);
    expect(get.responses).toHaveProperty('101');
  });

  test('serves the protocol of frames under each of its names', async () => {
    const proto = (await app.get('/v2/stream-protocol.proto', { credential: null })).bytes.toString();
    const alias = await app.get('/v2/ws-protocol.proto', { credential: null });
    expect(alias.bytes.toString()).toBe(proto);
    const { body } = await app.get('/v2/ws-protocol.json', { credential: null });
    const frame = (root: protobuf.Root) => {
      const type = root.lookupType('tapegraph.stream.v2.Frame');
      const fields = { symbol: 'SPY', chainDelta: { capturedAtMs: 1, rows: [{ right: 1, root: 'SPY', bid: 2 }] } };
      return Buffer.from(type.encode(type.fromObject(fields)).finish()).toString('hex');
    };
    expect(frame(protobuf.Root.fromJSON(body))).toBe(frame(protobuf.parse(proto).root));
  });

  test('names the values of source, has an example of each cursor, and says how dte and expiries relate', () => {
    const parameterOf = (path: string, name: string) =>
      description.paths[path].get.parameters.find((one: Json) => one.name === name);
    expect(parameterOf('/v2/stocks/{symbol}/bars', 'source').schema.enum).toEqual(['trade']);
    const cursors = Object.values<Json>(description.paths).flatMap(({ get }) =>
      (get?.parameters ?? []).filter(({ name }: Json) => name === 'cursor'),
    );
    expect(cursors).toHaveLength(10);
    for (const { example } of cursors) expect(example).toMatch(/^[\w-]{20,}$/);
    expect(description.paths['/v2/gex/{symbol}/grid'].get.description).toMatch(/dte=0 .* expiries.*400/);
  });

  test('a key that is absent instead of null is optional, and never null', () => {
    const cursors = Object.values<Json>(published.components.schemas).filter(({ properties }) => properties?.cursor);
    expect(cursors.length).toBeGreaterThan(3);
    for (const { properties, required } of cursors)
      expect([properties.cursor.type, required.includes('cursor')]).toEqual(['string', false]);
  });

  test('describes what needs no credential', async () => {
    // A WebSocket needs a ticket, and a handshake.
    const free = Object.entries<Json>(published.paths).filter(
      ([path, { get }]) => get?.security?.length === 0 && path !== '/v2/ws',
    );
    expect(free.map(([path]) => path)).toEqual(
      expect.arrayContaining(['/healthz', '/readyz', '/v2/openapi.json', '/v2/rest-protocol.proto']),
    );
    for (const [path] of free) {
      const { status, headers, body } = await app.get(path, { credential: null });
      const described = description.paths[path].get.responses[status];
      const media = headers['content-type']!.split(';')[0]!;
      expect(Object.keys(described.content)).toEqual([media]);
      if (path.endsWith('z')) expect(misfits(described.content[media].schema, body, path)).toEqual([]);
    }
  });

  test.each(knownRoutes())('$name: its examples, sent together, are answered', async (known) => {
    const { route } = known;
    const { parameters, requestBody } = operationOf(known);
    const texts = new Map<string, string>(
      parameters
        .filter(({ example }: Json) => example !== undefined)
        .map(({ name, example }: Json) => [name, String(example)]),
    );
    for (const { name, required } of parameters) if (required) expect(texts.has(name), name).toBe(true);
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(texts.get(name)!));
    const query = new URLSearchParams(
      parameters
        .filter((one: Json) => one.in === 'query' && texts.has(one.name))
        .map(({ name }: Json) => [name, texts.get(name)!]),
    );
    for (const [contentType, { schema }] of Object.entries<Json>(requestBody?.content ?? { '': { schema: {} } })) {
      const [example] = schema.examples ?? [];
      const sent = typeof example === 'string' ? example : JSON.stringify(example);
      const { status, body } = await app.send(route.method, `${path}?${query}`, {
        credential: callers[0]!.credential,
        ...(requestBody ? { body: sent, contentType } : {}),
      });
      // An id of an example belongs to nobody.
      expect([200, ...(texts.has('id') ? [404] : [])], JSON.stringify(body)).toContain(status);
    }
  });

  test.each(knownRoutes())('$name: an example of each parameter is one the route takes', async (known) => {
    for (const { name, example } of operationOf(known).parameters) {
      // A cursor is bound to the other examples, and was sent with them above.
      if (example === undefined || name === 'cursor') continue;
      const path = pathOf(known, { ...madeRequests(known, 0)[0]!.texts, [name]: String(example) });
      const { status, body } = await app.send(known.route.method, path, { credential: callers[0]!.credential });
      if (status === 400) expect(body.error.details?.parameter).not.toBe(name);
    }
  });
});

describe('what a route really answers is what the description says, key for key', () => {
  test.each(knownRoutes())('$name', async (known) => {
    const problems: string[] = [];
    for (const { name, accountId, credential } of callers) {
      for (const sent of [{}, ...(known.known.bodies ?? [])]) {
        problems.push(...(await send(known, { ...(await usual(known, accountId)), ...sent }, app, credential)));
      }
      // A free caller is mostly refused, by route or symbol, whatever the other parameters.
      for (const symbol of ['NVDA', 'XSP'])
        problems.push(...(await send(known, await usual(known, accountId, app, symbol), app, credential)));
      const every = name.startsWith('free') ? 4 : 1;
      for (const request of madeRequests(known, 2, name.length).filter((_, i) => i % every === 0)) {
        problems.push(...(await send(known, request, app, credential)));
      }
    }
    expect(problems).toEqual([]);
  });

  test('without a credential, with a body too large or of another kind', async () => {
    for (const known of knownRoutes()) {
      const at = await usual(known, callers[0]!.accountId);
      expect(await send(known, at, app, null)).toEqual([]);
      if (!known.route.body) continue;
      const huge = { ...at, body: ' '.repeat(known.route.body.maxBytes + 1) };
      expect(await send(known, huge, app, callers[0]!.credential)).toEqual([]);
      expect(await send(known, { ...at, contentType: 'image/png', body: 'x' })).toEqual([]);
    }
  });

  test('of a saved screen as of a session, and of one whose figures may not be read', async () => {
    const flow = { name: 'Flow', where: '{"callPremiumUsd":{"gt":1}}' };
    const [save, run] = ['put-screen', 'screen-result'].map(
      (name) => knownRoutes().find(({ route }) => route.name === name)!,
    );
    for (const { accountId, credential } of [callers[0]!, callers[2]!]) {
      const saved = { ...(await usual(save!, accountId)), body: JSON.stringify(flow) };
      expect(await send(save!, saved, app, credential)).toEqual([]);
      const definition = JSON.stringify({ where: JSON.parse(flow.where), orderBy: null });
      const own = { accountId, maxScreens: 1000 };
      await putScreen(app.store, own, { id: 'flow', name: 'Own', definition }, filledNowMs);
      const path = '/v2/screener/screens/flow/result?at=2026-11-30';
      expect(await send(run!, { ...(await usual(run!, accountId)), path }, app, credential)).toEqual([]);
    }
    expect([...answered.get(run!.name)!]).toEqual(expect.arrayContaining([200, 304, 403]));
    expect(answered.get(save!.name)).toContain(403);
  });

  test('of what it is refused for', async () => {
    const { accountId, credential } = callers[0]!;
    const known = knownRoutes().find(({ route }) => route.name === 'delete-journal-account')!;
    await journalTrade(app, accountId);
    const path = about(known.known.path, 'SPY', 'main');
    expect(await send(known, { ...(await usual(known, accountId)), path }, app, credential)).toEqual([]);
    expect(answered.get(known.name)).toContain(400);
  });

  test('of an id that is not there', async () => {
    const withIds = knownRoutes().filter(({ route }) => route.path.includes(':id'));
    const { accountId, credential } = callers[0]!;
    // Each its own, since a PUT creates it.
    for (const [i, known] of withIds.entries()) {
      const path = about(known.known.path, 'SPY', `not-there-${i}`);
      expect(await send(known, { ...(await usual(known, accountId)), path }, app, credential)).toEqual([]);
    }
  });

  test('to an address that is too long', async () => {
    for (const known of knownRoutes()) {
      const at = await usual(known, callers[0]!.accountId);
      const path = `${at.path}${at.path.includes('?') ? '&' : '?'}x=${'x'.repeat(16 * 1024)}`;
      expect(await send(known, { ...at, path })).toEqual([]);
      expect(answered.get(known.name)).toContain(414);
    }
  });

  test('with a parameter that is sent twice', async () => {
    for (const known of knownRoutes()) {
      for (const name of Object.keys(known.route.queryParams)) {
        const at = await usual(known, callers[0]!.accountId);
        const path = `${at.path}${at.path.includes('?') ? '&' : '?'}${name}=1&${name}=1`;
        expect(await send(known, { ...at, path })).toEqual([]);
        expect(answered.get(known.name)).toContain(400);
      }
    }
  });

  test('over the rate, and when no source is configured', async () => {
    const bare = await testApp({ nowMs: filledNowMs, env: { SOURCES: 'none', RATE_PRO: '1' } });
    try {
      for (const known of knownRoutes()) {
        const accountId = await bare.account();
        const credential = await bare.access.sessions.create(accountId, 3_600_000);
        const at = await usual(known, accountId, bare);
        expect(await send(known, at, bare, credential)).toEqual([]);
        expect(await send(known, at, bare, credential)).toEqual([]);
        expect(answered.get(known.name)).toContain(429);
      }
    } finally {
      await bare.close();
    }
  });

  test('when the store fails, and when a route is past its sunset', async () => {
    const failing = await testApp({ nowMs: filledNowMs });
    const { pool } = failing.store;
    const works = { query: pool.query, connect: pool.connect };
    const accountId = await failing.account();
    try {
      for (const known of knownRoutes()) {
        Object.assign(pool, works);
        const at = await usual(known, accountId, failing);
        const credential = await failing.access.sessions.create(accountId, 3_600_000);
        const gone = goneWith('gone');
        Object.assign(pool, { query: gone, connect: gone });
        expect(await send(known, at, failing, credential)).toEqual([]);
        expect(answered.get(known.name)).toContain(known.route.sourceFailure ? 503 : 502);
      }
      Object.assign(pool, works);
      failing.clock.nowMs = Date.parse('2027-01-01T00:00Z');
      for (const known of knownRoutes().filter(({ route }) => route.sunset)) {
        expect(await send(known, await usual(known, accountId, failing), failing, await failing.session())).toEqual([]);
        expect(answered.get(known.name)).toContain(410);
      }
    } finally {
      Object.assign(pool, works);
      await failing.close();
    }
  });

  test('every status a route describes, but 500, is one it was seen to answer', () => {
    const unseen = knownRoutes().flatMap((known) =>
      Object.keys(operationOf(known).responses)
        .map(Number)
        .filter((status) => status !== 500 && !answered.get(known.name)?.has(status))
        .map((status) => `${known.name} ${status}`),
    );
    expect(unseen).toEqual([]);
  });
});
