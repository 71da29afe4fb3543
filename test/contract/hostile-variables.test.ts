import { type GraphQLScalarType, getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { graphTransports } from '../support/graph-transports.ts';
import { hostileVariables, numbered, trade } from '../support/hostile-variables.ts';
import { isStructured, legalValue, variablePositions } from '../support/variable-positions.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await testApp({ env: { RATE_PRO: '1000000' } });
  session = await app.session();
});
afterAll(() => app.close());

const mostAnswerBytes = 100 * 1024;
const ways = Object.entries(graphTransports);

describe.each(Object.entries(hostileVariables))('%s', (_what, sent) => {
  test.each(ways)('%s: a short invalid_params, the second time too', async (_way, send) => {
    for (let time = 0; time < 2; time++) {
      const { bytes, text } = await send(app, session, sent);
      expect(text).toMatch(/invalid_params|Invalid message received/);
      expect(bytes).toBeLessThan(10_000);
    }
  });

  test('graphql-response+json: 400, and at most five errors', async () => {
    const body = `{"query":${JSON.stringify(sent.query)},"variables":${sent.variables}}`;
    const headers = { accept: 'application/graphql-response+json' };
    const answer = await app.send('POST', '/graphql', { credential: session, headers, body });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.length).toBeLessThanOrEqual(5);
    for (const { message } of answer.body.errors) expect(message.length).toBeLessThan(1001);
  });
});

test('the first wrong item of a list is named, and no other', async () => {
  const items = Array.from({ length: 3000 }, (_, i) => (i < 1700 ? 'none' : { i }));
  const query = 'query($it: [ID!]!) { nodes(ids: $it) { id } }';
  const { errors } = await app.graphql(query, { it: items }, { credential: session });
  expect(errors!.map(({ message }) => message.slice(0, 61))).toEqual([
    'Variable "$it" got invalid value {"i": 1700} at "it[1700]"; I',
  ]);
});

test('errors of several variables and fields are named together', async () => {
  const { errors } = await app.graphql(trade, { it: { qty: 'a' } }, { credential: session });
  expect(errors!.map(({ message }) => /; (.*)$/.exec(message)![1])).toEqual([
    'Field "accountId" of required type "ID!" was not provided.',
    'Field "price" of required type "Float!" was not provided.',
    'Float cannot represent non numeric value: "a"',
    'Field "side" of required type "String!" was not provided.',
    'Field "symbol" of required type "Instrument!" was not provided.',
  ]);
});

// The tool of `/mcp` runs no mutation.
test.each(ways.filter(([way]) => !way.includes('/mcp')))(
  '%s: a value of a mutation is read once',
  async (_way, send) => {
    const read = vi.spyOn(schema.getType('Ticker') as GraphQLScalarType, 'parseValue');
    onTestFinished(() => read.mockRestore());
    const query =
      'mutation($it: [Ticker!]!) { putWatchlist(id: "once", name: "a", symbols: $it) { watchlist { tickers } } }';
    const { text } = await send(app, session, { query, variables: `{"it":[${numbered(300, () => '"spy"')}]}` });
    expect(text.replaceAll('\\', '')).toContain('"tickers":["SPY"]');
    expect(read).toHaveBeenCalledTimes(300);
  },
);

const asTool = (symbols: readonly unknown[]) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'put_watchlist', arguments: { id: 'once', body: { name: 'a', symbols } } },
});
const watchlistWays = {
  'PUT /v2/watchlists/{id}': (symbols: readonly unknown[]) =>
    app.send('PUT', '/v2/watchlists/once', { credential: session, body: JSON.stringify({ name: 'a', symbols }) }),
  'POST /mcp': (symbols: readonly unknown[]) =>
    app.send('POST', '/mcp', {
      credential: session,
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify(asTool(symbols)),
    }),
};

describe.each(Object.entries(watchlistWays))('the symbols of a watchlist by %s', (_way, put) => {
  test('are read once', async () => {
    const read = vi.spyOn(schema.getType('Ticker') as GraphQLScalarType, 'parseValue');
    onTestFinished(() => read.mockRestore());
    const { bytes } = await put(Array.from({ length: 3000 }, () => 'spy'));
    expect(String(bytes).replaceAll('\\', '')).toContain('"symbols":["SPY"]');
    expect(read).toHaveBeenCalledTimes(3000);
  });

  test.each([
    ['a text', 'expected a ticker such as SPY or BRK.B, got "no ticker"', 'no ticker'],
    ['a number', 'expected a ticker such as SPY', 5],
    ['a list', 'expected a ticker such as SPY', ['SPY']],
    ['null', 'expected a ticker such as SPY', null],
  ])('name the first item that is no ticker: %s', async (_what, problem, wrong) => {
    const { bytes } = await put(Array.from({ length: 3000 }, (_, i) => (i < 1700 ? 'SPY' : wrong)));
    const text = String(bytes).replaceAll('\\', '');
    expect(text).toContain(`"message":"symbols: item 1701: ${problem}"`);
    expect(text).toContain('"details":{"parameter":"symbols"}');
  });
});

describe('an error that could repeat the document', () => {
  const name = 'n'.repeat(90_000);
  const documents = {
    'an unknown field': `{ ${name} }`,
    'an unknown field of many places': `{ ${numbered(90, (i) => `a${i}: me { ...F }`)} } fragment F on Me { ${name} }`,
    'unused variables of an operation with a long name': `query ${name.slice(0, 80_000)}(${numbered(90, (i) => `$v${i}: Int`)}) { me { tier } }`,
    'a wrong literal': `{ symbols(first: "${name}") { nodes { symbol } } }`,
    'fields that conflict': `{ ${numbered(19, () => 'a: me { tier }')} a: market { __typename } }`,
    'a syntax error': `{ me ( ${name}`,
  };
  test.each(Object.entries(documents))('%s', async (_what, query) => {
    for (const [, send] of ways) {
      const { bytes, text } = await send(app, session, { query, variables: '{}' });
      expect(text).toContain('invalid_params');
      expect(bytes).toBeLessThan(mostAnswerBytes);
    }
  });
});

describe('a wrong value', () => {
  const scalars = new Map(variablePositions().map((each) => [getNamedType(each.type).name, each]));
  const accepts = ['application/json', 'application/graphql-response+json', '*/*'];
  // Any text fits it.
  const free = new Set(['ImportBody']);

  test.each(accepts)('has one status and one code whatever its type, Accept: %s', async (accept) => {
    const found = new Map<string, string[]>();
    for (const [name, { query, others }] of scalars) {
      if (free.has(name)) continue;
      for (let time = 0; time < 3; time++) {
        const body = JSON.stringify({ query, variables: { ...others, it: { wrong: [true] } } });
        const answer = await app.send('POST', '/graphql', { credential: session, headers: { accept }, body });
        const [error] = answer.body.errors;
        const form = `${answer.status} ${error.extensions.code} ${'data' in answer.body}`;
        found.set(form, [...(found.get(form) ?? []), name]);
      }
    }
    expect([...found.keys()]).toEqual([`${accept.includes('response') ? 400 : 200} invalid_params false`]);
  });
});

describe('the largest legal value of a list or an input object', () => {
  const positions = variablePositions().filter(({ type }) => isStructured(type));
  const long = 'x'.repeat(900_000);

  function largest(position: (typeof positions)[number]): unknown {
    const value = legalValue(position.type);
    if (Array.isArray(value)) return Array.from({ length: 9900 }, () => value[0]);
    return { ...(value as object), ...('side' in (value as object) ? { note: long } : { broker: long }) };
  }

  test('there are such', () => {
    expect(positions.length).toBeGreaterThan(5);
  });

  test.each(positions)('$name, sent twice by every way, is answered within bounds', async (position) => {
    const variables = JSON.stringify({ ...position.others, it: largest(position) });
    for (const [, send] of ways) {
      for (let time = 0; time < 2; time++) {
        const { status, bytes, text } = await send(app, session, { query: position.query, variables });
        expect(text).not.toMatch(/"code\\?":\\?"internal/);
        if (status === null || status >= 400 || !text.includes('"data')) expect(bytes).toBeLessThan(mostAnswerBytes);
      }
    }
    expect((await app.graphql('{ me { kind } }', {}, { credential: session })).data).toEqual({
      me: { kind: 'session' },
    });
  });
});

describe('a large body', () => {
  const costOf = async (variables: Json) =>
    (await app.graphql('{ symbols(first: 1) { nodes { symbol } } }', variables, { credential: session })).extensions
      .cost;

  test('costs more than its request', async () => {
    const small = await costOf({});
    const long = await costOf({ unused: 'x'.repeat(900_000) });
    const many = await costOf(Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, 1])));
    expect(small.requests).toBe(1);
    expect(Math.min(long.requests, many.requests)).toBeGreaterThan(1);
  });

  test('is not free where its document is', async () => {
    for (const query of ['{ __typename }', '{ __schema { queryType { name } } }']) {
      const free = await app.graphql(query, {}, { credential: session });
      const charged = await app.graphql(query, { unused: 'x'.repeat(900_000) }, { credential: session });
      expect([free.extensions?.cost, charged.extensions.cost.requests]).toEqual([undefined, expect.any(Number)]);
      expect(charged.extensions.cost.requests).toBeGreaterThan(1);
    }
  });

  test('cannot say itself what it costs', async () => {
    const sent = {
      query: '{ symbols(first: 1) { nodes { symbol } } }',
      variables: `{"unused":"${'x'.repeat(900_000)}"},"sentPoints":-1000`,
    };
    const { text } = await graphTransports['graphql-transport-ws']!(app, session, sent);
    expect(JSON.parse(text).payload.extensions.cost.requests).toBeGreaterThan(1);
  });
});
