import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp, testSymbols } from '../../support/app.ts';
import { statementsOf } from '../../support/statements.ts';

// So many registered symbols that a list can be full of different ones.
const many = Array.from({ length: 501 }, (_, i) => `W${i}`);
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ symbols: [...testSymbols, ...many.map((symbol) => ({ ...testSymbols[0]!, symbol }))] });
});
afterAll(() => app.close());

const path = '/v2/watchlists';
const put = (credential: string, id: string, body: unknown) =>
  app.send('PUT', `${path}/${id}`, { credential, body: typeof body === 'string' ? body : JSON.stringify(body) });
const lists = async (credential: string) => (await app.get(path, { credential })).body.data;

describe('GET /v2/watchlists', () => {
  test('without any is empty, and counts none', async () => {
    const { status, body, headers } = await app.get(path, { credential: await app.key({ apiTier: 'free' }) });
    expect(status).toBe(200);
    expect(body).toEqual({ data: [], meta: { caps: { applied: [], tier: 'free' }, count: 0, plane: 'registry' } });
    expect(headers['cache-control']).toBe('private');
  });

  test('gives the lists of the account, oldest first, to its keys and sessions, and to nobody else', async () => {
    const session = await app.session();
    await put(session, 'b', { name: 'First', symbols: ['SPY'] });
    app.clock.nowMs += 1;
    await put(session, 'a', { name: 'Second', symbols: [] });
    await put(session, 'b', { name: 'First again', symbols: ['AAPL'] });
    const created = await app.send('POST', '/v2/account/keys', { credential: session });
    for (const credential of [session, created.body.data.key]) {
      const { body } = await app.get(path, { credential });
      expect(body.data).toEqual([
        { id: 'b', name: 'First again', symbols: ['AAPL'] },
        { id: 'a', name: 'Second', symbols: [] },
      ]);
      expect(body.meta.count).toBe(2);
    }
    expect(await lists(await app.session())).toEqual([]);
  });
});

describe('PUT /v2/watchlists/{id}', () => {
  test('stores the list, symbols uppercase and in the order they were sent', async () => {
    const key = await app.key();
    const { status, body, headers } = await put(key, 'mine', { name: 'Möin ☕', symbols: ['spy', 'Brk.b', 'AAPL'] });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: { id: 'mine', name: 'Möin ☕', symbols: ['SPY', 'BRK.B', 'AAPL'] },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'registry' },
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(await lists(key)).toEqual([body.data]);
  });

  test('twice is one list, also at the same time, and the last one counts', async () => {
    const key = await app.key();
    const list = { name: 'n', symbols: ['SPY'] };
    const answers = await Promise.all(Array.from({ length: 8 }, () => put(key, 'same', list)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    await put(key, 'same', { name: 'other', symbols: [] });
    expect(await lists(key)).toEqual([{ id: 'same', name: 'other', symbols: [] }]);
  });

  test('takes the id of the path, whatever the body says, and passes over other fields', async () => {
    const key = await app.key();
    for (const id of ['stale', 7, null, { a: 1 }]) {
      const { status, body } = await put(key, 'real', { id, name: 'n', symbols: [], colour: 'blue' });
      expect([status, body.data]).toEqual([200, { id: 'real', name: 'n', symbols: [] }]);
    }
    expect(await lists(key)).toHaveLength(1);
  });

  test('takes any id: percent-encoded, with a slash, up to 128 characters', async () => {
    const key = await app.key();
    for (const id of ['a b', 'a/b', 'ü', '..%', 'x'.repeat(128)]) {
      expect((await put(key, encodeURIComponent(id), { name: 'n', symbols: [] })).body.data?.id).toBe(id);
    }
    expect(await lists(key)).toHaveLength(5);
  });

  test('stores a symbol once, where it was sent first, whatever its case and spelling', async () => {
    const key = await app.key();
    const sent = ['BRK-B', 'SPY', 'spy', 'AAPL', 'brk.b', 'SPY'];
    const stored = ['BRK.B', 'SPY', 'AAPL'];
    expect((await put(key, 'x', { name: 'n', symbols: sent })).body.data.symbols).toEqual(stored);
    const twice = { name: 'n', symbols: [...many.slice(0, 500), ...many.slice(0, 500)] };
    expect((await put(key, 'y', twice)).body.data.symbols).toEqual(many.slice(0, 500));
    const document =
      'mutation ($symbols: [Ticker!]!) { putWatchlist(id: "z", name: "n", symbols: $symbols) { watchlist { tickers } } }';
    const { data } = await app.graphql(document, { symbols: sent }, { credential: key });
    expect(data.putWatchlist.watchlist.tickers).toEqual(stored);
  });

  test('takes 500 symbols, and no more', async () => {
    const key = await app.key();
    const { status, body } = await put(key, 'full', { name: 'n', symbols: many.slice(0, 500) });
    expect([status, body.data.symbols]).toEqual([200, many.slice(0, 500)]);
    const over = await put(key, 'over', { name: 'n', symbols: many });
    expect([over.status, over.body.error.code]).toEqual([400, 'invalid_params']);
    expect(over.body.error.message).toMatch(/^symbols: .*500.*501/);
    expect(await lists(key)).toHaveLength(1);
  });

  test('takes 200 lists, and no more; those there can still be changed', async () => {
    const key = await app.key();
    for (let i = 0; i < 200; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, j) => put(key, `l${i + j}`, { name: 'n', symbols: [] })));
    }
    expect(await lists(key)).toHaveLength(200);
    const over = await put(key, 'more', { name: 'n', symbols: [] });
    expect([over.status, over.body.error.code]).toEqual([400, 'invalid_params']);
    expect((await put(key, 'l7', { name: 'changed', symbols: [] })).status).toBe(200);
    await app.send('DELETE', `${path}/l8`, { credential: key });
    expect((await put(key, 'more', { name: 'n', symbols: [] })).status).toBe(200);
  });

  test.each([
    ['unknown', ['SPY', 'qqqq'], 'QQQQ'],
    ['a real ticker outside the registry', ['ZZZ'], 'ZZZ'],
    ['not a ticker', ['SPY', 'not a ticker'], 'not a ticker'],
    ['empty', [''], 'item 1'],
    ['not text', ['SPY', 5], 'item 2'],
    ['null', [null], 'item 1'],
    ['text for a list', 'SPY', 'array'],
    ['an object for a list', { 0: 'SPY' }, 'array'],
  ])('with a symbol that is %s is a 400 that names it', async (_what, symbols, named) => {
    const key = await app.key();
    const { status, body } = await put(key, 'x', { name: 'n', symbols });
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(/^symbols: /);
    expect(body.error.message).toContain(named);
    expect(body.error.details.parameter).toBe('symbols');
    expect(await lists(key)).toEqual([]);
  });

  test('takes what the tier and the declaration let be read, and nothing else', async () => {
    const readable: [Parameters<TestApp['key']>[0], string[], string[]][] = [
      [{ apiTier: 'free', classification: null }, ['SPY'], ['MSFT', 'NVDA', 'XSP', 'SPX']],
      [{ apiTier: 'basic' }, ['SPY', 'MSFT', 'XSP'], ['NVDA', 'SPX']],
      [{ apiTier: 'pro', classification: 'professional' }, ['SPY', 'MSFT', 'NVDA'], ['XSP', 'SPX']],
      [{ apiTier: 'pro' }, ['SPY', 'MSFT', 'NVDA', 'XSP', 'SPX'], []],
    ];
    for (const [account, allowed, refused] of readable) {
      const key = await app.key(account);
      expect((await put(key, 'yes', { name: 'n', symbols: allowed })).body.data?.symbols).toEqual(allowed);
      for (const symbol of refused) {
        const { status, body } = await put(key, 'no', { name: 'n', symbols: ['SPY', symbol] });
        expect([status, body.error.code, body.error.details.symbols]).toEqual([400, 'invalid_params', [symbol]]);
        expect(body.error.message).toMatch(`symbols: ${symbol} not readable `);
      }
    }
    // A session reads under the site tier.
    const session = await app.session({ siteTier: 'free', apiTier: 'pro' });
    expect((await put(session, 'x', { name: 'n', symbols: ['NVDA'] })).status).toBe(400);
  });

  test('names every symbol that cannot be, ten of them in words', async () => {
    const symbols = Array.from({ length: 12 }, (_, i) => `Q${i}`);
    const { body } = await put(await app.key(), 'x', { name: 'n', symbols: ['SPY', ...symbols] });
    expect(body.error.message).toBe(
      `symbols: ${symbols.slice(0, 10).join(', ')} and 2 more not in the symbol registry`,
    );
    expect(body.error.details.symbols).toEqual(symbols);
  });

  test.each([
    ['name', { symbols: [] }],
    ['name', { name: null, symbols: [] }],
    ['name', { name: 5, symbols: [] }],
    ['name', { name: '', symbols: [] }],
    ['name', { name: ' \t', symbols: [] }],
    ['name', { name: 'x'.repeat(501), symbols: [] }],
    ['name', { name: 'a\u0000', symbols: [] }],
    ['name', { name: '\ud800', symbols: [] }],
    ['symbols', { name: 'n' }],
    ['symbols', { name: 'n', symbols: null }],
    ['body', []],
    ['body', 'null'],
    ['body', '5'],
    ['body', '{"name":'],
    ['body', ''],
  ])('with a wrong %s is a 400 that names it (%j)', async (name, body) => {
    const key = await app.key();
    const answer = await put(key, 'x', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_params']);
    expect(answer.body.error.message).toMatch(new RegExp(`^${name}: `));
    expect(answer.body.error.details).toEqual({ parameter: name });
    expect(await lists(key)).toEqual([]);
  });

  test.each([`x%00`, `${'x'.repeat(129)}`, '%0A'])('with the id %s is a 400 that names it', async (id) => {
    const { status, body } = await put(await app.key(), id, { name: 'n', symbols: [] });
    expect([status, body.error.details]).toEqual([400, { parameter: 'id' }]);
  });

  test('is 401 without a credential, 415 as text, 413 when large, 405 by POST', async () => {
    const body = JSON.stringify({ name: 'n', symbols: [] });
    const none = await app.send('PUT', `${path}/x`, { credential: null, body });
    expect([none.status, none.body.error.code]).toEqual([401, 'unauthenticated']);
    expect((await app.send('PUT', `${path}/x`, { body, contentType: 'text/plain' })).status).toBe(415);
    const large = `{"name":"${'x'.repeat(7_000_000)}"}`;
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const { status, body: answer } = await app.send('PUT', `${path}/x`, { body: large, headers });
      expect([status, answer.error.code]).toEqual([413, 'invalid_params']);
    }
    const post = await app.send('POST', `${path}/x`, { body });
    expect([post.status, post.headers.allow]).toEqual([405, 'PUT, DELETE']);
  });
});

describe('DELETE /v2/watchlists/{id}', () => {
  test('deletes a list, once', async () => {
    const key = await app.key();
    await put(key, 'gone', { name: 'n', symbols: [] });
    const { status, body } = await app.send('DELETE', `${path}/gone`, { credential: key });
    expect([status, body]).toEqual([
      200,
      { data: { deleted: 'gone' }, meta: { caps: { applied: [], tier: 'pro' }, plane: 'registry' } },
    ]);
    expect(await lists(key)).toEqual([]);
    const again = await app.send('DELETE', `${path}/gone`, { credential: key });
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
  });

  test("is 404 for another's list, which stays, and 401 without a credential", async () => {
    const [key, other] = [await app.key(), await app.key()];
    await put(key, 'mine', { name: 'n', symbols: [] });
    expect((await app.send('DELETE', `${path}/mine`, { credential: other })).status).toBe(404);
    expect((await app.send('DELETE', `${path}/mine`, { credential: null })).status).toBe(401);
    expect(await lists(key)).toHaveLength(1);
  });
});

describe('watchlists in the graph', () => {
  const putting =
    'mutation Put($id: ID!, $symbols: [Ticker!]!) { putWatchlist(id: $id, name: "Graph", symbols: $symbols) { watchlist { id name tickers } meta { caps { applied tier } plane } } }';

  test('are written and deleted by the same rules', async () => {
    const key = await app.key({ apiTier: 'free' });
    const run = (query: string, variables: object) => app.graphql(query, { ...variables }, { credential: key });
    const written = await run(putting, { id: 'g', symbols: ['spy', 'aapl'] });
    expect(written.errors).toBeUndefined();
    expect(written.data.putWatchlist).toEqual({
      watchlist: { id: 'g', name: 'Graph', tickers: ['SPY', 'AAPL'] },
      meta: { caps: { applied: [], tier: 'free' }, plane: 'registry' },
    });
    expect(await lists(key)).toEqual([{ id: 'g', name: 'Graph', symbols: ['SPY', 'AAPL'] }]);
    for (const symbols of [['NVDA'], ['QQQQ'], ['XSP', 'NVDA']]) {
      const refused = await run(putting, { id: 'no', symbols });
      expect(refused.data).toEqual({ putWatchlist: null });
      expect(refused.errors?.[0]).toMatchObject({ path: ['putWatchlist'], extensions: { code: 'invalid_params' } });
    }
    const malformed = await run(putting, { id: 'no', symbols: ['not a ticker'] });
    expect(malformed.errors?.[0].extensions.code).toBe('invalid_params');
    const removing = 'mutation Delete($id: ID!) { deleteWatchlist(id: $id) { deleted } }';
    expect((await run(removing, { id: 'g' })).data).toEqual({ deleteWatchlist: { deleted: 'g' } });
    expect((await run(removing, { id: 'g' })).errors?.[0].extensions.code).toBe('not_found');
    expect(await lists(key)).toEqual([]);
  });

  test('reach their symbols, a page at a time, and what is known of them', async () => {
    const key = await app.key();
    await put(key, 'w', { name: 'Nodes', symbols: ['SPY', 'BRK.B', 'AAPL', 'NVDA'] });
    const query = `query Page($after: String) { watchlist(id: "w") { name symbols(first: 3, after: $after) {
      nodes { symbol name access { allowed } } edges { cursor node { symbol } } totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
    const first = await app.graphql(query, {}, { credential: key });
    expect(first.errors).toBeUndefined();
    const page = first.data.watchlist.symbols;
    expect(page.nodes[1]).toEqual({ symbol: 'BRK.B', name: 'BRK.B Inc.', access: { allowed: true } });
    expect(page.edges.map((edge: { node: { symbol: string } }) => edge.node.symbol)).toEqual(['SPY', 'BRK.B', 'AAPL']);
    expect([page.totalCount, page.pageInfo.hasNextPage, page.pageInfo.hasPreviousPage]).toEqual([4, true, false]);
    const { endCursor } = page.pageInfo;
    const second = (await app.graphql(query, { after: endCursor }, { credential: key })).data.watchlist.symbols;
    expect(second.nodes.map((node: { symbol: string }) => node.symbol)).toEqual(['NVDA']);
    expect([second.pageInfo.hasNextPage, second.pageInfo.hasPreviousPage]).toEqual([false, true]);
    await put(key, 'v', { name: 'Other', symbols: ['SPY'] });
    const foreign = await app.graphql(query.replace('"w"', '"v"'), { after: endCursor }, { credential: key });
    expect(foreign.data).toEqual({ watchlist: { name: 'Other', symbols: null } });
    expect(foreign.errors?.[0]).toMatchObject({
      path: ['watchlist', 'symbols'],
      extensions: { code: 'invalid_params', details: { parameter: 'after' } },
    });
  });

  test('are all there, or the first so many; one that is not is null', async () => {
    const key = await app.key();
    for (const id of ['a', 'b', 'c']) await put(key, id, { name: id, symbols: ['SPY'] });
    const query = `{ all: watchlists { rows { id tickers } meta { count caps { flow } } }
      two: watchlists(first: 2) { rows { id symbols(first: 10) { nodes { spot { price } } } } meta { count } }
      none: watchlists(first: 0) { meta { count } } gone: watchlist(id: "x") { id } }`;
    const { data, errors, extensions } = await app.graphql(query, {}, { credential: key });
    expect(data.all.meta).toEqual({ count: 3, caps: { flow: null } });
    expect(data.two.rows).toEqual([
      { id: 'a', symbols: { nodes: [{ spot: { price: null } }] } },
      { id: 'b', symbols: { nodes: [{ spot: { price: null } }] } },
    ]);
    expect([data.two.meta.count, data.none, data.gone]).toEqual([2, null, null]);
    expect(errors).toHaveLength(1);
    // Twenty spots at most, of which two are there.
    expect(extensions.cost).toMatchObject({ requests: 1, requested: expect.toSatisfy((points) => points > 10) });
  });

  test('are never answered with those of another account, however alike the question', async () => {
    const query = '{ watchlist(id: "w") { name symbols(first: 1) { nodes { spot { price } name } } } }';
    for (const name of ['Mine', 'Yours']) {
      const key = await app.key();
      await put(key, 'w', { name, symbols: ['SPY'] });
      // Often enough that whatever is kept or compiled for the next time is used.
      for (let i = 0; i < 4; i++) {
        expect((await app.graphql(query, {}, { credential: key })).data.watchlist.name).toBe(name);
      }
      const { body } = await app.get('/v2/account/usage', { credential: key });
      expect(body.data.totals_by_scope_group).toEqual({ 'market.live': 4, watchlists: 5 });
    }
  });

  test('of any number, with any number of symbols, are read in the same statements', async () => {
    const counts: number[] = [];
    for (const size of [1, 10, 190]) {
      const key = await app.key();
      for (let i = 0; i < size; i += 10) {
        const symbols = many.slice(0, size);
        const ids = Array.from({ length: Math.min(10, size - i) }, (_, j) => `l${i + j}`);
        await Promise.all(ids.map((id) => put(key, id, { name: 'n', symbols })));
      }
      const query = `{ a: watchlists(first: ${size}) { rows { symbols(first: ${size}) { nodes { name access { allowed } } } } }
        b: watchlists { rows { tickers } } c: watchlist(id: "l0") { name symbols(first: ${size}) { nodes { spot { price } } } } }`;
      const statements = await statementsOf(async () => {
        const { data, errors } = await app.graphql(query, {}, { credential: key });
        expect(errors).toBeUndefined();
        expect(data.a.rows.at(-1).symbols.nodes).toHaveLength(size);
      });
      counts.push(statements.length);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[2]).toBe(counts[0]);
  });

  test('are charged what they may reach until it is known: every list with every symbol is more than a pro minute', async () => {
    const query = '{ watchlists { rows { symbols(first: 500) { nodes { spot { price } } } } } }';
    const { requested, requests } = (await app.graphql(query)).extensions.cost;
    expect(requested).toBeGreaterThan(6000);
    expect(requests).toBe(1);
  });
});
