import { executeSync, getIntrospectionQuery, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { graphTransports } from '../support/graph-transports.ts';
import { times } from './attack-documents.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { RATE_ANONYMOUS: '30', TRUSTED_PROXIES: 'loopback' } });
});
afterAll(() => app.close());

const ask = (query: string, from: string, credential: string | null = null) =>
  app.graphql(query, {}, { credential, headers: { 'x-forwarded-for': from } });

const options = [
  'descriptions',
  'specifiedByUrl',
  'directiveIsRepeatable',
  'schemaDescription',
  'inputValueDeprecation',
  'experimentalDirectiveDeprecation',
  'oneOf',
];

/** No option, each alone, all but each, and all, with depths of types about the deepest that there is. */
const all = 2 ** options.length - 1;
const sets = [0, ...options.flatMap((_, i) => [1 << i, all ^ (1 << i)]), all];
const standardQueries = sets
  .map((set, n) => ({
    ...Object.fromEntries(options.map((option, i) => [option, (set & (1 << i)) !== 0])),
    typeDepth: [9, 3, 0, 4, 7][n % 5]!,
  }))
  .map((given) => getIntrospectionQuery(given));

describe('the standard introspection query', () => {
  test('says with every option what executing it says, and is free', async () => {
    for (const query of standardQueries) {
      const { data, extensions, answer } = await ask(query, '192.0.2.1');
      expect(answer.status).toBe(200);
      expect(extensions).toBeUndefined();
      expect(data).toEqual(JSON.parse(JSON.stringify(executeSync({ schema, document: parse(query) }).data)));
    }
  });

  const standard = getIntrospectionQuery();
  test.each([
    ['another name', standard.replace('IntrospectionQuery', 'Codegen')],
    ['no name', standard.replace('query IntrospectionQuery', '')],
    ['other spaces', standard.replaceAll(/\s+/g, ' ')],
    ['other names of fragments', standard.replaceAll('FullType', 'T').replaceAll('TypeRef', 'R')],
    ['another order', standard.replace(/name\s+description/g, 'description name')],
    ['root types without their kind, as older tools ask', standard.replaceAll('{ name kind }', '{ name }')],
    ['a part of it', '{ __schema { types { name kind } queryType { name } } }'],
  ])('is recognized with %s', async (_what, query) => {
    const expected = JSON.parse(JSON.stringify(executeSync({ schema, document: parse(query) }).data));
    const { data, extensions } = await ask(query, '192.0.2.2', await app.key());
    expect(data).toEqual(expected);
    expect(extensions).toBeUndefined();
  });

  test('has the same answer over a WebSocket and by the tool of /mcp', async () => {
    const query = '{ __schema { queryType { name } } }';
    const sent = { query, variables: '{}' };
    const { text } = await graphTransports['graphql-transport-ws']!(app, await app.key(), sent);
    expect(JSON.parse(text).payload.data.__schema.queryType.name).toBe('Query');
    const { body } = await app.send('POST', '/mcp', {
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'graphql', arguments: { query } },
      }),
    });
    expect(body.result.structuredContent.data.__schema.queryType.name).toBe('Query');
  });
});

test('{ __typename } is free, whoever asks it', async () => {
  for (let i = 0; i < 40; i++) {
    const { data, answer } = await ask('{ __typename }', '192.0.2.3');
    expect([data, answer.status]).toEqual([{ __typename: 'Query' }, 200]);
  }
});

describe('any other introspection', () => {
  const names = `{ __schema { ${times(3, (i) => `t${i}: types { name fields { name } }`)} } }`;

  test('is charged to the address of a client without a credential, until its minute is used up', async () => {
    const first = await ask(names, '192.0.2.4');
    expect(first.errors).toBeUndefined();
    expect(first.extensions.cost).toMatchObject({ limit: 300 });
    expect(first.extensions.cost.requests).toBe(Math.ceil(first.extensions.cost.actual / 10));
    let status = 200;
    let asked = 0;
    for (; status === 200 && asked < 40; asked++) {
      const { answer, errors } = await ask(names, '192.0.2.4', asked % 2 === 0 ? null : 'tg_live_notOurs_000000');
      status = answer.status;
      if (errors) expect(errors[0].extensions.code).toBe('rate_limited');
      if (status === 429) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(status).toBe(429);
    expect(asked).toBeGreaterThan(1);
    // Others are as free as before, and so is what costs nothing.
    expect((await ask(names, '192.0.2.5')).answer.status).toBe(200);
    expect((await ask('{ __schema { queryType { name } } }', '192.0.2.4')).answer.status).toBe(200);
  });

  test('is charged to the caller where there is one', async () => {
    const credential = await app.key();
    for (let i = 0; i < 10; i++) {
      const { answer, extensions } = await ask(names, '192.0.2.6', credential);
      expect(answer.status).toBe(200);
      expect(extensions.cost.limit).toBe(10_000_000);
    }
    expect((await ask(names, '192.0.2.6')).extensions.cost.limit).toBe(300);
  });

  test('that costs more than an address has a minute is 400, with what it costs', async () => {
    const query = `{ __schema { ${times(60, (i) => `t${i}: types { name description fields { name description } }`)} } }`;
    const { answer, errors } = await ask(query, '192.0.2.7');
    expect([answer.status, errors![0].extensions.code]).toEqual([400, 'invalid_params']);
    expect(errors![0].message).toMatch(/costs \d+ requests; the limit is 30 per minute/);
  });
});

test('a document that reads data is 401 without a credential before it is validated', async () => {
  const { answer, errors } = await ask('{ colour { shade } }', '192.0.2.8');
  expect([answer.status, errors![0].extensions.code]).toEqual([401, 'unauthenticated']);
  // The rejection is not cached for callers who may ask.
  const { errors: invalid } = await ask('{ colour { shade } }', '192.0.2.8', await app.key());
  expect(invalid![0].extensions.code).toBe('invalid_params');
});
