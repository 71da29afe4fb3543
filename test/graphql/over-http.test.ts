import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { graphTransports } from '../support/graph-transports.ts';

// GraphQL over HTTP: statuses by the media type that a client asks for, and what clients ask beside documents.
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const response = 'application/graphql-response+json';
const quotes = 'query ($symbols: [Ticker!]!) { quotes(symbols: $symbols) { rows { symbol } } }';
const bars =
  'query ($from: PointInTime!) { symbol(symbol: "SPY") { bars(from: $from, to: "2026-11-20") { rows { close } } } }';
const patch = 'mutation ($patch: JournalTradePatch!) { patchJournalTrade(id: "x", patch: $patch) { trade { id } } }';

/** Requests that have no `data`, by what is wrong with them. */
const without: [string, Json][] = [
  ['no query', {}],
  ['a syntax error', { query: '{ me {' }],
  ['an unknown field', { query: '{ me { colour } }' }],
  ['an unknown operation', { query: 'query A { me { tier } } query B { me { tier } }', operationName: 'C' }],
  ['a missing variable', { query: quotes }],
  ['a variable of the wrong type', { query: quotes, variables: { symbols: 7 } }],
  ['a variable that is null', { query: quotes, variables: { symbols: null } }],
  ['a scalar that its parser refuses', { query: quotes, variables: { symbols: ['not a ticker'] } }],
  ['a date that is none', { query: bars, variables: { from: 'yesterday' } }],
  ['a patch that is none', { query: patch, variables: { patch: 'x' } }],
  ['a patch of a field that there is not', { query: patch, variables: { patch: { account_id: 'main' } } }],
  ['a literal that its parser refuses', { query: '{ symbol(symbol: "not a ticker") { symbol } }' }],
  [
    'a document that is too deep',
    {
      query: `{ symbols(first: 1) { nodes { ${'chain { rows { contract { underlying { '.repeat(9)} symbol ${'} } } }'.repeat(9)} } } }`,
    },
  ],
];

describe('an answer without data', () => {
  test.each(without)('%s: 4xx as application/graphql-response+json, by POST and by GET', async (_, body) => {
    const post = await app.send('POST', '/graphql', { headers: { accept: response }, body: JSON.stringify(body) });
    expect(post.body).not.toHaveProperty('data');
    expect(post.headers['content-type']).toContain(response);
    expect([post.status, post.body.errors[0].extensions.code]).toEqual([400, 'invalid_params']);
    expect(post.body.errors[0].extensions).not.toHaveProperty('http');
    if (body.query?.startsWith('mutation')) return;
    const parameters = Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const get = await app.get(`/graphql?${new URLSearchParams(parameters)}`, { headers: { accept: response } });
    expect([get.status, get.body.errors]).toEqual([400, post.body.errors]);
  });

  test('is 401, 429 or 5xx for what is not the document’s fault', async () => {
    const send = async (to: TestApp, credential: string | null) => {
      const headers = { accept: response };
      const { status, body } = await to.send('POST', '/graphql', {
        credential,
        headers,
        body: JSON.stringify({ query: '{ me { tier } }' }),
      });
      return [status, body];
    };
    expect(await send(app, null)).toEqual([401, expect.not.objectContaining({ data: expect.anything() })]);
    const slow = await testApp({ env: { RATE_PRO: '1' } });
    onTestFinished(() => slow.close());
    const key = await slow.key();
    expect((await send(slow, key))[0]).toBe(200);
    expect((await send(slow, key))[0]).toBe(429);
  });
});

test('an operation over a WebSocket is told no status of its own', async () => {
  const sent = { query: quotes, variables: '{"symbols":7}' };
  const { text } = await graphTransports['graphql-transport-ws']!(app, await app.key(), sent);
  expect(text).toContain('"code":"invalid_params"');
  expect(text).not.toContain('"http"');
});

describe('an answer with data', () => {
  test('is 200, whatever errors stand beside it', async () => {
    for (const accept of [response, 'application/json']) {
      const query = '{ symbol(symbol: "SPX") { quote { spot } flow { crossSection { snapshot { seq } } } } }';
      const credential = await app.key({ apiTier: 'free', classification: null });
      const { status, body } = await app.send('POST', '/graphql', {
        credential,
        headers: { accept },
        body: JSON.stringify({ query }),
      });
      expect(status).toBe(200);
      expect(body.data).toBeDefined();
      expect(body.errors.length).toBeGreaterThan(0);
      for (const { extensions } of body.errors) expect(extensions).not.toHaveProperty('http');
    }
  });
});

describe('a client with automatic persisted queries', () => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };
  const query = '{ me { tier } }';

  test('that probes with a hash is told to send whole queries, in the words that Apollo and urql know', async () => {
    const parameters = new URLSearchParams({ extensions: JSON.stringify(extensions) });
    const answers = [
      await app.send('POST', '/graphql', { body: JSON.stringify({ extensions, variables: {} }) }),
      await app.get(`/graphql?${parameters}`, { headers: { accept: 'application/json' } }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([
        { message: 'PersistedQueryNotSupported', extensions: { code: 'invalid_params' } },
      ]);
    }
  });

  test('gets an answer when it sends the query with the hash', async () => {
    const { status, body } = await app.send('POST', '/graphql', { body: JSON.stringify({ query, extensions }) });
    expect([status, body.data]).toEqual([200, { me: { tier: 'pro' } }]);
  });

  test.each([
    ['POST', false],
    ['GET', true],
  ])('that is Apollo’s probes by %s once, then sends whole queries', async (method, useGETForHashedQueries) => {
    const requests: { method: string; isWhole: boolean }[] = [];
    const watched: typeof fetch = (address, init) => {
      const sent = `${address} ${init?.body ?? ''}`;
      requests.push({ method: init?.method ?? 'GET', isWhole: sent.includes('tier') });
      return fetch(address, init);
    };
    const headers = { authorization: `Bearer ${await app.key()}` };
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const link = ApolloLink.from([
      new PersistedQueryLink({ sha256, useGETForHashedQueries }),
      new HttpLink({ uri: new URL('/graphql', app.url).href, headers, fetch: watched }),
    ]);
    const client = new ApolloClient({ cache: new InMemoryCache(), link });
    onTestFinished(() => client.stop());
    const ask = () => client.query<{ me: Json }>({ query: gql(query), fetchPolicy: 'network-only' });
    for (const { data, error } of [await ask(), await ask()])
      expect([data?.me.tier, error]).toEqual(['pro', undefined]);
    const whole = { method: 'POST', isWhole: true };
    expect(requests).toEqual([{ method, isWhole: false }, whole, whole]);
  });
});

describe('a failure that may be gone soon', () => {
  const range = 'from: "2026-11-18", to: "2026-11-20"';

  test('says in its extensions when to ask again, also where the rest of the answer stands', async () => {
    const credential = await app.key();
    const query = `{ symbol(symbol: "SPY") { symbol bars(${range}) { rows { close } } } }`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.graphql(query, {}, { credential })));
    const rejected = answers.filter(({ errors }) => errors);
    expect(rejected.length).toBeGreaterThan(0);
    for (const { errors } of rejected)
      expect(errors![0].extensions).toEqual({ code: 'rate_limited', details: { retry_after_seconds: 1 } });
  });

  test('says so over REST, and where the whole request is rejected', async () => {
    const slow = await testApp({ env: { RATE_PRO: '1' } });
    onTestFinished(() => slow.close());
    const credential = await slow.key();
    await slow.get('/v2/symbols', { credential });
    const { headers, body } = await slow.get('/v2/symbols', { credential });
    expect(body.error.details).toEqual({ retry_after_seconds: Number(headers['retry-after']) });
    const { errors } = await slow.graphql('{ me { tier } }', {}, { credential });
    expect(errors![0].extensions.details.retry_after_seconds).toBeGreaterThan(0);
  });
});

describe('what cannot be run is the client’s fault, at every endpoint of the graph', () => {
  const two = 'query A { me { tier } } query B { me { tier } }';
  const odd = { toString: null };
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['no operation of that name', { query: two, operationName: 'C' }, /^Could not determine what operation to execute/],
    ['several operations and no name', { query: two }, /^Could not determine what operation to execute/],
    [
      'an object as EpochMs',
      { query: 'query Q($v: EpochMs) { eod(toMs: $v) { __typename } }', variables: { v: odd } },
      /EpochMs must be an integer within 53 bits, got \{"toString": null\}/,
    ],
    [
      'an object as StrikeThousandths',
      {
        query: 'query Q($v: StrikeThousandths) { symbol(symbol: "SPY") { chain(strikeLte: $v) { spot } } }',
        variables: { v: odd },
      },
      /StrikeThousandths must be an integer within 53 bits, got \{"toString": null\}/,
    ],
    [
      'a text written where StrikeThousandths is asked',
      { query: '{ symbol(symbol: "SPY") { chain(strikeLte: "5") { spot } } }' },
      /StrikeThousandths must be an integer within 53 bits, got "5"/,
    ],
  ];

  test.each(cases)('%s', async (_, operation, message) => {
    const { body } = await app.send('POST', '/graphql', { body: JSON.stringify(operation) });
    expect(body.errors[0].message).toMatch(message);
    expect(body.errors[0].extensions.code).toBe('invalid_params');
    const sent = { ...operation, query: String(operation.query), variables: JSON.stringify(operation.variables ?? {}) };
    const { text } = await graphTransports['graphql-transport-ws']!(app, await app.key(), sent);
    expect(text).toContain('"code":"invalid_params"');
    expect(text).not.toContain('"internal"');
    const call = { name: 'graphql', arguments: { query: operation.query, variables: operation.variables ?? {} } };
    const mcp = await app.send('POST', '/mcp', {
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
      headers: { accept: 'application/json, text/event-stream' },
    });
    expect(mcp.body.result.isError).toBe(true);
    expect(JSON.stringify(mcp.body)).toContain('invalid_params');
  });
});
