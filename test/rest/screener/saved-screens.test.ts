import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json, TestApp } from '../../support/app.ts';
import { filledApp } from '../../support/filled-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await filledApp({ env: { MAX_SAVED_SCREENS: '3' } });
});
afterAll(() => app.close());

let account: string;
let credential: string;
beforeEach(async () => {
  account = await app.account();
  credential = await app.access.sessions.create(account, 3_600_000);
});

const falling = {
  name: 'Falling',
  where: '{"spot":{"isNull":false}}',
  order_by: { figure: 'spot', direction: 'desc' },
};
const put = (
  id: string,
  { where, ...body }: { name?: string; where?: unknown; order_by?: object },
  as = credential,
) => {
  const sent = { ...body, where: typeof where === 'object' ? JSON.stringify(where) : where };
  return app.send('PUT', `/v2/screener/screens/${id}`, { credential: as, body: JSON.stringify(sent) });
};
const get = (path: string, as = credential) => app.get(`/v2/screener/${path}`, { credential: as });
const graph = (query: string, variables: object = {}, as = credential) =>
  app.graphql(query, { ...variables }, { credential: as });
const said = ({ status, body }: Json) => [status, body.error?.code, body.error?.message];

describe('the screens of an account', () => {
  test('are saved, listed, renamed, replaced and deleted, by REST and the graph alike', async () => {
    const saved = await put('a', falling);
    expect([saved.status, saved.body.data]).toEqual([200, { id: 'a', ...falling }]);
    const made = await graph(
      'mutation ($screen: SavedScreenInput!) { putScreen(id: "b", screen: $screen) { screen { id name where orderBy { figure } } } }',
      { screen: { name: 'All', where: {} } },
    );
    expect(made.data.putScreen.screen).toEqual({ id: 'b', name: 'All', where: '{}', orderBy: null });
    await graph('mutation { renameScreen(id: "a", name: "Down") { screen { name } } }');
    const listed = await get('screens');
    expect(listed.body.data).toEqual([
      { id: 'a', ...falling, name: 'Down' },
      { id: 'b', name: 'All', where: '{}', order_by: null },
    ]);
    expect(listed.body.meta).toMatchObject({ count: 2, total_count: 2 });
    await put('a', { name: 'Down', where: { spot: { gt: 1 } } });
    const { data } = await graph('{ screens(first: 1) { rows { id where orderBy { figure } } meta { cursor } } }');
    expect(data.screens.rows).toEqual([{ id: 'a', where: '{"spot":{"gt":1}}', orderBy: null }]);
    const rest = await graph('query ($after: String) { screens(after: $after) { rows { id } meta { cursor } } }', {
      after: data.screens.meta.cursor,
    });
    expect(rest.data.screens).toEqual({ rows: [{ id: 'b' }], meta: { cursor: null } });
    const deleted = await app.send('DELETE', '/v2/screener/screens/a', { credential });
    expect(deleted.body.data).toEqual({ deleted: 'a' });
    expect(said(await app.send('DELETE', '/v2/screener/screens/a', { credential }))).toEqual([
      404,
      'not_found',
      'Screen "a" was not found.',
    ]);
    expect((await get('screens')).body.data).toHaveLength(1);
  });

  test('are what its keys see too, and nobody else', async () => {
    await put('a', falling);
    const { key } = await app.access.keys.create({ accountId: account, name: null, expiresAt: null });
    expect((await get('screens', key)).body.data).toHaveLength(1);
    const stranger = await app.session();
    expect((await get('screens', stranger)).body.data).toEqual([]);
    expect((await get('screens/a/result', stranger)).status).toBe(404);
    expect((await app.send('DELETE', '/v2/screener/screens/a', { credential: stranger })).status).toBe(404);
    const renamed = await graph('mutation { renameScreen(id: "a", name: "Mine") { screen { id } } }', {}, stranger);
    expect(renamed.errors![0].extensions.code).toBe('not_found');
    expect((await get('screens')).body.data[0].name).toBe('Falling');
  });

  test('are as many as the quota, which usage reports, also when saved at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => put(`s${i}`, { ...falling, name: `Screen ${i}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const full = answers.find(({ status }) => status !== 200)!;
    expect(said(full)).toEqual([
      400,
      'invalid_params',
      'The quota of saved screens is 3. Delete one, or replace one under its id.',
    ]);
    expect(full.body.error.details).toEqual({ quota: 'screens', limit: 3 });
    const { body } = await app.get('/v2/account/usage', { credential });
    expect(body.meta.screens).toEqual({ count: 3, limit: 3 });
    const [first] = (await get('screens')).body.data;
    expect((await put(first.id, { ...falling, name: 'Replaced' })).status).toBe(200);
  });

  test('have names of their own, also when saved at once', async () => {
    const [one, other] = await Promise.all([put('a', falling), put('b', falling)]);
    expect([one.status, other.status].toSorted()).toEqual([200, 400]);
    const [kept] = (await get('screens')).body.data;
    await put('c', { ...falling, name: 'Other' });
    const renamed = await graph('mutation { renameScreen(id: "c", name: "Falling") { screen { id } } }');
    expect(renamed.errors![0].message).toBe(`name: the screen "${kept.id}" has this name`);
    expect((await put(kept.id, falling)).status).toBe(200);
    expect((await put('a', falling, await app.session())).status).toBe(200);
  });
});

describe('what is saved', () => {
  const long = { symbol: { in: Array.from({ length: 100 }, () => 'é'.repeat(60)) } };
  const nested = (depth: number): object => (depth === 1 ? { spot: { gt: 1 } } : { not: nested(depth - 1) });
  test.each([
    ['an unknown figure', { where: { price: { gt: 1 } } }, 'where: Field "price" is not defined by'],
    ['a value of the wrong type', { where: { spot: { gt: 'x' } } }, 'where: where.spot.gt: Float cannot represent'],
    ['an unknown order', { where: {}, order_by: { figure: 'price' } }, 'order_by: expected the name of a figure'],
    ['no object', { where: [] }, 'where: expected an object as JSON, got "[]"'],
    ['no filter', {}, 'where: is required'],
    ['a blank name', { name: ' ', where: {} }, 'name: a value is required; it was empty'],
    ['a long name', { name: 'x'.repeat(201), where: {} }, 'name: expected text without NUL'],
    ['filters too deep in each other', { where: nested(9) }, 'where: expected at most 8 filters in each other'],
    ['a null condition', { where: { spot: { gt: null } } }, 'where: expected a value for where.spot.gt, got null'],
    ['too many bytes', { where: long }, 'where: expected at most 8192 bytes with the order, got 12344'],
  ])('is checked: %s is 400', async (_what, body, message) => {
    const answer = await put('a', { name: 'A', ...body });
    expect(said(answer)).toEqual([400, 'invalid_params', expect.stringContaining(message)]);
    expect((await get('screens')).body.data).toEqual([]);
  });

  test.each([
    ['a flow figure by a basic key', { callPremiumUsd: { gt: 1 } }, 'basic', 'not_entitled_tier'],
    ['an off-exchange figure by a free key', { or: [{ offExchangePct: { gt: 0 } }] }, 'free', 'not_entitled_tier'],
  ] as const)('must be readable: %s is 403', async (_what, where, apiTier, code) => {
    const key = await app.key({ apiTier });
    expect(said(await put('a', { name: 'A', where }, key)).slice(0, 2)).toEqual([403, code]);
  });
});

describe('a result', () => {
  test('is what screener gives for the filter and order, page by page, live and as of an instant', async () => {
    await put('a', falling);
    for (const at of ['', '&at=2026-11-30T12:00']) {
      const where = encodeURIComponent(falling.where);
      const asked = await get(`screen?where=${where}&order_by=-spot${at}`);
      const { body } = await get(`screens/a/result?${at.slice(1)}`);
      expect(body).toEqual({ ...asked.body, meta: { ...asked.body.meta, read_at_ms: body.meta.read_at_ms } });
      expect(body.data.length).toBeGreaterThan(0);
      const first = (await get(`screens/a/result?limit=1${at}`)).body;
      const second = (await get(`screens/a/result?limit=1&cursor=${first.meta.cursor}${at}`)).body;
      expect([...first.data, ...second.data]).toEqual(body.data.slice(0, 2));
    }
    const { data } = await graph('{ screen(id: "a") { result(first: 500) { rows { symbol } } } }');
    const live = await get('screens/a/result?limit=500');
    expect(data.screen.result.rows.map(({ symbol }: Json) => symbol)).toEqual(
      live.body.data.map(({ symbol }: Json) => symbol),
    );
  });

  test('of the past is never that of another account, nor that of the screen before a change', async () => {
    const path = 'screens/a/result?at=2026-11-30T12:00';
    const symbolsOf = async (as?: string) => (await get(path, as)).body.data.map(({ symbol }: Json) => symbol);
    await put('a', { name: 'One', where: { symbol: { eq: 'SPY' } } });
    expect(await symbolsOf()).toEqual(['SPY']);
    const stranger = await app.session();
    await put('a', { name: 'One', where: { symbol: { eq: 'AAPL' } } }, stranger);
    expect(await symbolsOf(stranger)).toEqual(['AAPL']);
    expect(await symbolsOf()).toEqual(['SPY']);
    await put('a', { name: 'One', where: { symbol: { eq: 'XOM' } } });
    expect(await symbolsOf()).toEqual(['XOM']);
    const query = '{ asOf(at: "2026-11-30T12:00") { screen(id: "a") { result { rows { symbol } } } } }';
    for (const [as, symbol] of [
      [credential, 'XOM'],
      [stranger, 'AAPL'],
    ] as const)
      expect((await graph(query, {}, as)).data.asOf.screen.result.rows).toEqual([{ symbol }]);
  });

  test('of figures that the caller may no longer read is 403, and nothing of them is sent', async () => {
    await put('a', { name: 'Flow', where: { callPremiumUsd: { isNull: false } } });
    expect((await get('screens/a/result')).status).toBe(200);
    const { key } = await app.access.keys.create({ accountId: account, name: null, expiresAt: null });
    await app.access.accounts.set(account, { siteTier: 'basic', apiTier: 'basic' });
    for (const as of [key, await app.access.sessions.create(account, 3_600_000)]) {
      const refused = await get('screens/a/result', as);
      expect(said(refused).slice(0, 2)).toEqual([403, 'not_entitled_tier']);
      expect(Object.keys(refused.body)).toEqual(['error']);
      const { data, errors } = await graph('{ screen(id: "a") { name result { rows { symbol } } } }', {}, as);
      expect(data.screen).toEqual({ name: 'Flow', result: null });
      expect(errors![0].extensions.code).toBe('not_entitled_tier');
      expect((await get('screens', as)).body.data[0].where).toBe('{"callPremiumUsd":{"isNull":false}}');
    }
  });

  describe('by another version', () => {
    const store = (definition: object) =>
      app.store.prisma.savedScreen.updateMany({
        where: { accountId: account, id: 'a' },
        data: { definition: JSON.stringify(definition) },
      });
    const newFigure = { figure: 'newFigure', direction: 'asc' };

    test.each([
      ['a condition on a figure', 'newFigure', { where: { not: { newFigure: { gt: 1 } } }, orderBy: null }],
      ['an order by a figure', 'newFigure', { where: {}, orderBy: newFigure }],
      ['a comparison', 'between', { where: { or: [{ spot: { between: [1, 2] } }] }, orderBy: null }],
      ['an operation on filters', 'xor', { where: { xor: [{ spot: { gt: 1 } }] }, orderBy: null }],
    ])('with %s that this version lacks is 400 naming it', async (_, name, definition) => {
      await put('a', falling);
      await store(definition);
      expect(said(await get('screens/a/result'))).toEqual([
        400,
        'invalid_params',
        `id: the screen uses ${name}, which this version lacks`,
      ]);
    });

    test('with an order that this version lacks is listed beside the others, without it', async () => {
      await put('a', falling);
      await put('b', { name: 'B', where: {} });
      await store({ where: { newFigure: { gt: 1 } }, orderBy: newFigure });
      const { status, body } = await get('screens');
      expect([status, body.data]).toEqual([
        200,
        [
          { id: 'a', name: 'Falling', where: '{"newFigure":{"gt":1}}', order_by: null },
          { id: 'b', name: 'B', where: '{}', order_by: null },
        ],
      ]);
    });
  });

  test('several are read together', async () => {
    await put('a', falling);
    await put('b', { name: 'B', where: {} });
    const { data, errors } = await graph(
      '{ a: screen(id: "a") { name } b: screen(id: "b") { name } c: screen(id: "c") { name } }',
    );
    expect([data.a, data.b, data.c]).toEqual([{ name: 'Falling' }, { name: 'B' }, null]);
    expect(errors).toHaveLength(1);
  });
});
