import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Estimate } from '../../src/graphql/estimate.ts';
import { examplesAt } from '../../src/graphql/examples.ts';
import { readParams } from '../../src/rest/contract/params.ts';
import { compiledRoutes } from '../../src/rest/routes.ts';
import { knownRoutes } from '../contract/known-routes.ts';
import { madeRequests } from '../contract/requests.ts';
import { type Answer, type Sending, type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledContract, filledNowMs } from '../support/filled-market.ts';
import { times } from './attack-documents.ts';

let app: TestApp;
beforeAll(async () => {
  app = await filledApp();
}, 60_000);
afterAll(() => app.close());

interface Sent extends Sending {
  variables?: Record<string, unknown>;
  operationName?: string;
}

function sent(path: string, query: string, { variables, operationName, ...sending }: Sent, to = app): Promise<Answer> {
  return to.send('POST', path, { ...sending, body: JSON.stringify({ query, variables, operationName }) });
}

/** The estimate of a document. */
async function estimated(query: string, sending: Sent = {}, to = app): Promise<Estimate> {
  const { status, body } = await sent('/graphql?cost', query, sending, to);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const remaining = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
const nine = 'tsMs open high low close volume vwap tradeCount symbol';
const strikes = (args: string) => `{ symbol(symbol: "SPY") { gex { latest${args} { strikes { strike gex } } } } }`;

describe('an estimate', () => {
  test('runs nothing, takes no requests and is not usage', async () => {
    const credential = await app.session();
    const usage = () => app.get('/v2/account/usage', { credential });
    const before = await usage();
    const create = 'mutation { createKey(name: "none") { created { key } } }';
    for (const query of [create, strikes(''), '{ registry { rows { symbol } } }']) {
      const answer = await sent('/graphql?cost', query, { credential });
      expect(answer.body.maximum.requests).toBeGreaterThan(0);
      expect(answer.headers['x-ratelimit-consumed']).toBe('0');
      expect(remaining(answer)).toBe(remaining(before));
    }
    const { data } = await app.graphql('{ me { keys { id } } }', {}, { credential });
    expect(data.me.keys).toEqual([]);
    const after = await usage();
    expect(remaining(after)).toBe(remaining(before) - 2);
    expect(after.body.data.totals_by_scope_group).toEqual(
      expect.objectContaining({ ...before.body.data.totals_by_scope_group, account: expect.any(Number) }),
    );
  });

  test('says which argument bounds a list, and how long it gets without one', async () => {
    const list = async (query: string, path: string, sending?: Sent) =>
      (await estimated(query, sending)).fields.find((field) => field.path === path)!.items;
    expect(await list(strikes('(topStrikes: 7)'), 'symbol.gex.latest.strikes')).toEqual({
      maximum: 7,
      expected: 7,
      boundBy: 'latest(topStrikes)',
    });
    const bars =
      'query Q($n: Int) { symbol(symbol: "SPY") { bars(from: "2026-11-25", to: "2026-12-02", limit: $n) { rows { close } } } }';
    const rows = await list(bars, 'symbol.bars.rows', { variables: { n: 50 } });
    expect(rows).toMatchObject({ maximum: 50, expected: 50 });
    expect(rows!.boundBy).toContain('limit');
    const registry = '{ registry { rows { symbol } } }';
    expect(await list(registry, 'registry.rows')).toMatchObject({ boundBy: null });
    await app.graphql(registry);
    const seen = await list(registry, 'registry.rows');
    expect(seen!.expected).toBe(8);
    expect(seen!.maximum).toBeGreaterThan(250);
  });

  test('is the sum of its fields, its document and its values', async () => {
    const query = `{ a: ${strikes('(topStrikes: 40)').slice(1, -1)} registry { rows { symbol name } } }`;
    const { maximum, expected, fields } = await estimated(query);
    const sum = (of: 'maximum' | 'expected') => fields.reduce((points, field) => points + field[of]!.points, 0);
    // 40 tokens cost a fifth of a point; each is rounded up.
    expect(maximum.points - sum('maximum')).toBeLessThan(1.5);
    expect(maximum.points - sum('maximum')).toBeGreaterThan(-0.2);
    expect(Math.abs(expected.points - sum('expected'))).toBeLessThan(1.5);
    expect(maximum.requests).toBe(Math.ceil(maximum.points / 10));
    expect(fields.map(({ path }) => path)).toContain('a.gex.latest.strikes');
  });

  test('names the fields that cost most, and counts the others', async () => {
    const query = `{ ${times(40, (i) => `a${i}: symbol(symbol: "SPY") { quote { spot } spot { price } bars(from: "2026-11-01", to: "2026-12-02", limit: ${i === 39 ? 50000 : 1}) { rows { ${nine} } } }`)} }`;
    const { fields, fieldsOmitted } = await estimated(query);
    expect(fields).toHaveLength(100);
    expect(fieldsOmitted).toBeGreaterThan(50);
    expect(fields.map(({ path }) => path)).toContain('a39.bars.rows');
  });

  test('reads variables and the operation’s name as a request does, in the body and in the address', async () => {
    const query =
      'query A { me { tier } } query B($first: Int!) { symbols(first: $first) { nodes { symbol name sector } } }';
    const asked = { variables: { first: 400 }, operationName: 'B' };
    const inBody = await estimated(query, asked);
    expect(inBody.operation).toEqual({ kind: 'query', name: 'B' });
    const fewer = await estimated(query, { ...asked, variables: { first: 1 } });
    expect(inBody.maximum.points).toBeGreaterThan(fewer.maximum.points);
    const address = `/graphql?cost&${new URLSearchParams({ query, variables: '{"first":400}', operationName: 'B' })}`;
    expect((await app.get(address)).body).toMatchObject({ ...inBody, minute: expect.anything() });
    const none = await estimated(query, { ...asked, operationName: 'C' });
    expect(none.refused[0]).toMatchObject({ code: 'invalid_params', path: null });
  });

  test('of introspection that is free is nothing', async () => {
    for (const query of ['{ __typename }', '{ __schema { types { name } } }'])
      expect((await estimated(query, { credential: null })).maximum).toEqual({ points: 0, requests: 0 });
    const aliased = await estimated(`{ ${times(20, (i) => `a${i}: __schema { types { name } }`)} }`, {
      credential: null,
    });
    expect(aliased.maximum.points).toBeGreaterThan(5);
  });
});

describe('an estimate says why an operation would be rejected, as its answer does', () => {
  const documents: [string, string, Sent?][] = [
    ['syntax', '{ symbol('],
    ['an unknown field', '{ nothing }'],
    ['a wrong argument', '{ symbol(symbol: 5) { symbol } }'],
    ['a missing variable', 'query Q($s: Ticker!) { symbol(symbol: $s) { symbol } }'],
    ['depth', `{ ${'... { '.repeat(20)} me { tier } ${' }'.repeat(20)} ${'a { '.repeat(20)}${' }'.repeat(20)} }`],
    ['aliases', `{ ${times(150, (i) => `a${i}: me { tier }`)} }`],
    ['brackets', `{ me(a: ${'['.repeat(150)}${']'.repeat(150)}) { tier } }`],
    ['values', `{ symbols(first: 500) { nodes { ${times(90, (i) => `a${i}: sessions { date }`)} } } }`],
    ['no credential', '{ me { tier } }', { credential: null }],
    ['a wrong credential', '{ me { tier } }', { credential: 'tg_live_none' }],
  ];

  test.each(documents)('%s', async (_name, query, sending = {}) => {
    const { refused } = await estimated(query, sending);
    const answer = await sent('/graphql', query, {
      ...sending,
      headers: { accept: 'application/graphql-response+json' },
    });
    const [{ message, extensions }] = answer.body.errors;
    const { details } = extensions;
    expect(refused[0]).toEqual({
      path: null,
      code: extensions.code,
      status: answer.status,
      message,
      ...(details && { details }),
    });
  });

  test('more than a minute, and more than is left of it', async () => {
    const own = await testApp({ nowMs: filledNowMs, env: { RATE_FREE: '60' } });
    onTestFinished(() => own.close());
    const credential = await own.key({ apiTier: 'free' });
    const heavy = (count: number) =>
      `{ ${times(count, (i) => `a${i}: symbol(symbol: "SPY") { bars(from: "2026-11-01", to: "2026-11-21", limit: 1000) { rows { ${nine} } } }`)} }`;
    const over = (await estimated(heavy(90), { credential }, own)).refused[0]!;
    expect(over).toMatchObject({ status: 400, code: 'invalid_params' });
    expect(over.message).toMatch(/^The request costs \d+ requests; the limit is 60 per minute\./);
    expect((await estimated(heavy(9), { credential }, own)).refused).toEqual([]);
    for (let i = 0; i < 58; i++) await own.get('/v2/symbols', { credential });
    const { refused, minute } = await estimated(heavy(9), { credential }, own);
    expect(minute).toEqual({ limit: 600, remaining: 20 });
    expect(refused[0]).toMatchObject({
      status: 429,
      code: 'rate_limited',
      details: { retry_after_seconds: expect.any(Number) },
    });
    const answer = await sent('/graphql', heavy(9), { credential }, own);
    expect(answer.body.errors[0].message).toBe(refused[0]!.message);
  });

  test('fields that the caller may not read, of the symbols that the document names', async () => {
    const ofSymbol = `symbol spot { price } quote { spot } chain { spot } splits { ratio }
      gex { latest { netGex } grid { spot } } volatility { term { spot } } flow { crossSection { snapshot { seq } } unusual { callRatio } }
      offExchange { activity { rows { notional } } }`;
    const symbols = ['SPY', 'MSFT', 'NVDA', 'SPX', 'XSP'];
    const documents = [
      '{ me { keys { id } } }',
      `{ contract(id: "${filledContract('SPX')}") { openInterest chainRow { bid } greeks { contract { id } } largeTrades { events { seq } } } }`,
      ...symbols.map((symbol) => `{ symbol(symbol: "${symbol}") { ${ofSymbol} } }`),
    ];
    const told = (found: { path: string | null; code: string }[]) =>
      found.map(({ path, code }) => `${path} ${code}`).sort();
    for (const credential of [
      await app.key(),
      await app.key({ apiTier: 'basic' }),
      await app.key({ apiTier: 'free' }),
      await app.key({ classification: null }),
      await app.session(),
    ]) {
      for (const query of documents) {
        const { refused, undecided } = await estimated(query, { credential });
        const { data, errors = [] } = await app.graphql(query, {}, { credential });
        expect(data, JSON.stringify(errors)).toBeTruthy();
        const rights = errors.filter(({ extensions }) =>
          /^(not_entitled_tier|attestation_required)$/.test(extensions.code),
        );
        expect(told(refused), query).toEqual(
          told(rights.map(({ path, extensions }) => ({ path: path.join('.'), code: extensions.code }))),
        );
        expect(undecided).toEqual([]);
      }
    }
  });

  test('tells nothing of what others read: lengths of their answers, and `expected` of a refused field', async () => {
    const pro = await app.key();
    const free = await app.key({ apiTier: 'free', classification: null });
    // Asked for by nobody before: nothing is learned of it.
    const query =
      '{ symbol(symbol: "NVDA") { symbol learned: chain { rows { bid } } gex { latest { strikes { strike } } } } }';
    const open = '{ symbol(symbol: "SPY") { learnedHere: chain { rows { ask } } } }';
    const before = [await estimated(query, { credential: free }), await estimated(open, { credential: free })];
    for (const asked of [query, open])
      expect((await app.graphql(asked, {}, { credential: pro })).errors).toBeUndefined();
    const unchanged = ({ minute: _, ...rest }: Estimate) => rest;
    const after = [await estimated(query, { credential: free }), await estimated(open, { credential: free })];
    expect(after.map(unchanged)).toEqual(before.map(unchanged));
    const learned = await estimated(open, { credential: pro });
    expect(learned.expected.points).toBeLessThan(after[1]!.expected.points);
    const [refused] = after;
    expect(refused!.refused.map(({ path }) => path)).toEqual(['symbol.learned', 'symbol.gex.latest']);
    for (const { path, expected, items } of refused!.fields) {
      const isRefused = /learned|latest/.test(path);
      expect([path, expected === null]).toEqual([path, isRefused]);
      if (items) expect([path, items.expected === null]).toEqual([path, isRefused]);
    }
  });

  test('and which fields are decided when it runs', async () => {
    const { undecided } = await estimated(
      '{ symbols(first: 5) { nodes { symbol quote { spot } flow { unusual { callRatio } } } } }',
    );
    expect(undecided).toEqual(['symbols.nodes.quote', 'symbols.nodes.flow.unusual']);
  });
});

describe('estimates are bounded', () => {
  test('to as many per minute as requests, of a key as of an address, and a long document counts for several', async () => {
    const own = await testApp({ env: { RATE_FREE: '10', RATE_ANONYMOUS: '5' } });
    onTestFinished(() => own.close());
    const status = async (query: string, credential: string | null) =>
      (await sent('/graphql?cost', query, { credential }, own)).status;
    const credential = await own.key({ apiTier: 'free' });
    for (let i = 0; i < 6; i++) expect(await status('{ me { tier } }', credential)).toBe(200);
    // Three of the four that are left.
    expect(await status(`{ me { tier } } # ${'x'.repeat(20_000)}`, credential)).toBe(200);
    expect(await status('{ me { tier } }', credential)).toBe(200);
    const over = await sent('/graphql?cost', '{ me { tier } }', { credential }, own);
    expect(over.status).toBe(429);
    expect(over.body.errors[0]).toMatchObject({
      message: 'More than 10 estimates per minute.',
      extensions: { code: 'rate_limited' },
    });
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect(remaining(await own.get('/v2/symbols', { credential }))).toBe(9);
    for (let i = 0; i < 5; i++) expect(await status('{ me { tier } }', null)).toBe(200);
    expect(await status('{ __typename }', null)).toBe(429);
  });

  test('a request that holds no operation is rejected, and charged like any other', async () => {
    const credential = await app.key();
    const first = await app.get('/v2/symbols', { credential });
    for (const body of ['{', '[]', '{}', '{"query":5}', '{"query":"{a}","variables":[]}']) {
      const answer = await app.send('POST', '/graphql?cost', { credential, body });
      expect(answer.status, body).toBe(400);
      expect(answer.body.errors[0].extensions.code).toBe('invalid_params');
      expect(answer.headers['x-ratelimit-consumed']).toBe('1');
    }
    expect((await app.send('PUT', '/graphql?cost', { credential, body: '{}' })).status).toBe(405);
    expect((await app.send('POST', '/graphql?cost', { credential, body: 'x', contentType: 'text/plain' })).status).toBe(
      415,
    );
    expect(remaining(await app.get('/v2/symbols', { credential }))).toBe(remaining(first) - 8);
  });
});

describe('no answer costs more than the maximum of its estimate', () => {
  async function heldBy(query: string, sending: Sent) {
    const { maximum, refused } = await estimated(query, sending);
    const answer = await sent('/graphql', query, sending);
    const { requests, actual } = answer.body.extensions?.cost ?? { requests: 1, actual: 0 };
    expect(requests, query).toBeLessThanOrEqual(maximum.requests);
    expect(actual, query).toBeLessThanOrEqual(maximum.points);
    return { answer, refused, maximum };
  }

  test.each(examplesAt(filledNowMs).filter(({ query }) => !/^subscription /m.test(query)))(
    'example: $name',
    async ({ query }) => {
      const { refused } = await heldBy(query, {});
      expect(refused).toEqual([]);
    },
  );

  test.each(knownRoutes().filter(({ route }) => route.method === 'GET'))('route: $name', async (known) => {
    const { route } = known;
    const { operation } = compiledRoutes.find((each) => each.route.name === route.name)!;
    const credential = await app.session();
    let answered = 0;
    for (const { texts } of madeRequests(known, 0).slice(0, 6)) {
      let values: Record<string, unknown>;
      try {
        values = { ...readParams(route.pathParams, texts), ...readParams(route.queryParams, texts) };
      } catch {
        continue;
      }
      const given = { ...route.variables(values, undefined), protobuf: false, provenance: true } as Record<
        string,
        unknown
      >;
      const variables = Object.fromEntries(operation.variables.map((name) => [name, given[name] ?? null]));
      const { answer } = await heldBy(operation.source, { variables, credential });
      if (answer.body.data) answered += 1;
    }
    expect(answered).toBeGreaterThan(0);
  });
});

describe('what is expected is within twice the cost of lists whose size is given', () => {
  const bars = (fields: string) => (n: number) =>
    `symbol(symbol: "SPY") { bars(from: "2026-11-25", to: "2026-12-02", limit: ${n}) { rows { ${fields} } } }`;
  const lists: Record<string, [string, number, (n: number) => string]> = {
    'bars(limit)': ['limit', 390, bars('tsMs open high low close volume vwap tradeCount symbol')],
    'bars(limit), one field': ['limit', 390, bars('close')],
    'symbols(first)': ['first', 8, (n) => `symbols(first: ${n}) { nodes { symbol name class sector } }`],
    'contracts(first)': [
      'first',
      240,
      (n) => `symbol(symbol: "SPY") { contracts(first: ${n}) { nodes { id strike expiry right } } }`,
    ],
    'latest(topStrikes)': [
      'topStrikes',
      40,
      (n) => `symbol(symbol: "SPY") { gex { latest(topStrikes: ${n}) { strikes { strike gex } } } }`,
    ],
    'movers(limit)': ['limit', 4, (n) => `movers(limit: ${n}) { rows { symbol changePct } }`],
    'largeTrades(limit)': [
      'limit',
      1,
      (n) => `symbol(symbol: "SPY") { flow { largeTrades(limit: ${n}) { events { symbol seq } } } }`,
    ],
  };

  test.each(Object.entries(lists))('%s', async (_name, [, most, document]) => {
    const credential = await app.session();
    for (const n of [1, Math.ceil(most / 3), most]) {
      for (const copies of [1, 12]) {
        const query = `{ ${times(copies, (i) => document(n).replace(/^/, `a${i}: `))} }`;
        const { expected } = await estimated(query, { credential });
        const { extensions, errors } = await app.graphql(query, {}, { credential });
        expect(errors).toBeUndefined();
        const { actual } = extensions.cost;
        expect(expected.points, query.slice(0, 200)).toBeLessThanOrEqual(2 * actual);
        expect(expected.points, query.slice(0, 200)).toBeGreaterThanOrEqual(actual / 2);
      }
    }
  });
});
