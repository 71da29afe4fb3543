import fc from 'fast-check';
import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { schema } from '../../src/schema/index.ts';
import { putScreen } from '../../src/store/account/saved-screens.ts';
import { putWatchlist } from '../../src/store/account/watchlists.ts';
import { accountTable, insertRecord, tradeTable } from '../../src/store/journal/records.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Answer, type Json, type TestApp, testSymbols } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';
import { flatBar } from '../support/market.ts';
import { knownRoutes } from './known-routes.ts';

let app: TestApp;
let key: string;
let session: string;

beforeAll(async () => {
  app = await filledApp();
  const accountId = await app.account();
  key = (await app.access.keys.create({ accountId, name: null, expiresAt: null })).key;
  session = await app.access.sessions.create(accountId, 24 * 3_600_000);
  for (let i = 0; i < 30; i++) {
    await insertRecord(
      app.store,
      accountTable,
      { accountId, maxRows: 1000 },
      { id: `a ${i % 7}.${i}`, name: 'One', broker: null },
      0,
    );
    const trade = { journalAccountId: 'a', symbol: 'SPY', side: 'buy', qty: 1, price: 2, note: null };
    // Several at one time: their ids decide.
    await insertRecord(
      app.store,
      tradeTable,
      { accountId, maxRows: 1000 },
      { ...trade, id: `t|${i}`, tsMs: 1000 * Math.floor(i / 4) },
      0,
    );
  }
  const symbols = testSymbols.filter(({ registered }) => registered).map(({ symbol }) => symbol);
  const list = { id: 'list', name: 'List', symbols: [...symbols, ...symbols, 'SPY'] };
  await putWatchlist(app.store, accountId, list, 0);
  const definition = JSON.stringify({ where: {}, orderBy: { figure: 'spot', direction: 'desc' } });
  for (let i = 0; i < 9; i++) {
    const screen = { id: `s${i}`, name: `Screen ${i}`, definition };
    await putScreen(app.store, { accountId, maxScreens: 9 }, screen, Math.floor(i / 4));
  }
});
afterAll(() => app.close());

const range = 'from=2026-11-25&to=2026-12-01';
const tables = ['concentration', 'activity', 'composition', 'profile'];

/** Answers to walk of each route that has cursors, as paths without a limit. */
const walked: Record<string, string[]> = {
  'GET /v2/stocks/:symbol/bars': [
    ...['1s', '1m', '5m', '1h', '1d'].map((tf) => `/v2/stocks/SPY/bars?tf=${tf}&from=2026-11-24&to=2026-12-02`),
    '/v2/stocks/SPX/bars?from=2026-11-25T09:31&to=2026-11-30T09:45&tz=UTC',
    '/v2/stocks/SPY/bars?from=2026-11-28&to=2026-11-30',
  ],
  ...Object.fromEntries(
    tables.map((table) => [
      `GET /v2/offexchange/:symbol/${table}`,
      [
        `/v2/offexchange/SPY/${table}?${range}`,
        `/v2/offexchange/SPY/${table}?`,
        `/v2/offexchange/ZZZ/${table}?${range}`,
      ],
    ]),
  ),
  'GET /v2/screener/screen': ['/v2/screener/screen?where={}', '/v2/screener/screen?where={}&order_by=-spot'],
  'GET /v2/screener/screens': ['/v2/screener/screens?'],
  'GET /v2/screener/screens/:id/result': ['/v2/screener/screens/s0/result?'],
  'GET /v2/journal/accounts': ['/v2/journal/accounts?'],
  'GET /v2/journal/trades': ['/v2/journal/trades?'],
};

/** Every page of an answer, in order; `between` is done after each. */
async function pages(path: string, limits: readonly number[], credential: string, between = () => Promise.resolve()) {
  const rows: Json[] = [];
  const cursors = new Set<string>();
  for (let i = 0, cursor: string | undefined = ''; cursor !== undefined; i++) {
    const limit = limits[i % limits.length]!;
    const { status, body } = await app.get(
      `${path}&limit=${limit}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      { credential },
    );
    expect([path, status]).toEqual([path, 200]);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    // A page that is not the last one is full, and leads to another.
    cursor = body.meta.cursor;
    if (cursor !== undefined) expect(body.data.length).toBe(limit);
    expect(cursors.has(cursor ?? '')).toBe(false);
    cursors.add(cursor ?? '');
    rows.push(...body.data);
    await between();
  }
  return rows;
}

const limits = (most: number) => fc.array(fc.integer({ min: 1, max: most }), { minLength: 1, maxLength: 5 });

describe('pages of any size put together are the answer without pages', () => {
  const paged = knownRoutes().filter(({ route }) => 'cursor' in route.queryParams);

  test.each(paged)('$name', async ({ name }) => {
    const paths = walked[name];
    if (!paths) throw new Error(`${name} has pages that nobody walks: test/contract/cursor-walks.citus.test.ts`);
    let longest = 0;
    for (const path of paths) {
      const whole = await app.get(`${path}&limit=50000`, { credential: session });
      expect(whole.body.meta.cursor).toBeUndefined();
      longest = Math.max(longest, whole.body.data.length);
      // Small pages of small answers, larger ones of large ones: some thirty at most.
      const most = Math.max(3, Math.ceil(whole.body.data.length / 4));
      await fc.assert(
        fc.asyncProperty(limits(most), fc.constantFrom(key, session), async (sizes, credential) => {
          const atLeast = Math.ceil(whole.body.data.length / 40);
          const rows = await pages(
            path,
            sizes.map((size) => Math.max(size, atLeast, 1)),
            credential,
          );
          expect(rows).toStrictEqual(whole.body.data);
        }),
        { numRuns: 6, seed: 1 },
      );
    }
    expect(longest).toBeGreaterThan(2);
  });

  test('a cursor of another symbol, timeframe, window or route, and one that was changed, is a 400', async () => {
    const path = '/v2/stocks/SPY/bars?from=2026-11-25&to=2026-12-01';
    const first = await app.get(`${path}&limit=5`, { credential: session });
    const cursor: string = first.body.meta.cursor;
    const changed = `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'B' : 'A'}${cursor.at(-1)}`;
    for (const foreign of [
      `/v2/stocks/MSFT/bars?from=2026-11-25&to=2026-12-01&cursor=${cursor}`,
      `${path}&timeframe=5m&cursor=${cursor}`,
      `/v2/stocks/SPY/bars?from=2026-11-26&to=2026-12-01&cursor=${cursor}`,
      `/v2/stocks/SPY/bars?from=2026-11-25&to=2026-11-30&cursor=${cursor}`,
      `/v2/offexchange/SPY/activity?${range}&cursor=${cursor}`,
      `/v2/journal/trades?cursor=${cursor}`,
      `${path}&cursor=${changed}`,
      `${path}&cursor=${cursor}A`,
      `${path}&cursor=${cursor}%3D`,
    ]) {
      const { status, body } = await app.get(foreign, { credential: session });
      expect([foreign, status, body.error?.details?.parameter]).toEqual([foreign, 400, 'cursor']);
    }
  });
});

describe('pages put together are the whole, also of what grows meanwhile', () => {
  test('bars of the running session: those of the end, each once', async () => {
    const start = app.clock.nowMs;
    const path = '/v2/stocks/SPY/bars?from=2026-12-01&to=2026-12-02';
    try {
      await fc.assert(
        fc.asyncProperty(limits(60), fc.integer({ min: 1, max: 40 }), async (sizes, minutes) => {
          app.clock.nowMs = start;
          // Time passes while there is something left of the session.
          const later = async () => {
            app.clock.nowMs = Math.min(app.clock.nowMs + minutes * 60_000, start + 90 * 60_000);
          };
          const rows = await pages(
            path,
            sizes.map((size) => size + 8),
            key,
            later,
          );
          const seen = rows.at(-1).ts_ms;
          const whole = await app.get(`${path}&limit=50000`, { credential: session });
          expect(rows).toStrictEqual(whole.body.data.filter((bar: Json) => bar.ts_ms <= seen));
          expect(seen).toBeGreaterThanOrEqual(start - 60_000);
        }),
        { numRuns: 12, seed: 2 },
      );
    } finally {
      app.clock.nowMs = start;
    }
  });

  test('bars that are written between two pages are in those that follow', async () => {
    const open = exchangeInstant('2026-12-01', 570);
    const minute = (i: number) => flatBar(open + i * 60_000, 10 + i);
    let written = 40;
    const write = async () => {
      if (written >= 80) return;
      const bars = toBarColumns([minute(written), minute(written + 1)]);
      written += 2;
      await inTransaction(app.store, async (tx) => {
        await writeBars(tx, '1m', [{ symbol: 'MSFT', bars }]);
      });
    };
    const path = '/v2/stocks/MSFT/bars?from=2026-12-01&to=2026-12-02';
    const rows = await pages(path, [7, 3], key, write);
    const whole = await app.get(`${path}&limit=1000`, { credential: key });
    expect(rows).toStrictEqual(whole.body.data.slice(0, rows.length));
    expect(rows.length).toBeGreaterThan(40);
  });
});

/** Walk of each connection of the graph: a document of one page, and the connection's position in the answer. */
const connections: Record<string, { document: string; at: (data: Json) => Json }> = {
  'Query.symbols': {
    document: 'query($first: Int!, $after: String) { symbols(first: $first, after: $after) PAGE }',
    at: (data) => data.symbols,
  },
  'AsOf.symbols': {
    document:
      'query($first: Int!, $after: String) { asOf(at: "2026-11-20") { symbols(first: $first, after: $after) PAGE } }',
    at: (data) => data.asOf.symbols,
  },
  'Symbol.contracts': {
    document:
      'query($first: Int!, $after: String) { symbol(symbol: "SPX") { contracts(first: $first, after: $after, strikeLte: 590000) PAGE } }',
    at: (data) => data.symbol.contracts,
  },
  'Watchlist.symbols': {
    document:
      'query($first: Int!, $after: String) { watchlist(id: "list") { symbols(first: $first, after: $after) PAGE } }',
    at: (data) => data.watchlist.symbols,
  },
};

/** Fields of the schema that give pages by Relay's rules. */
function connectionFields(): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !isInterfaceType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields())
          .filter((field) => String(field.type).replace('!', '').endsWith('Connection'))
          .map((field) => `${type.name}.${field.name}`)
      : [],
  );
}

describe('connections', () => {
  test.each(connectionFields())('%s: pages of any size put together are the whole', async (field) => {
    const walk = connections[field];
    if (!walk) throw new Error(`${field} is a connection that nobody walks: test/contract/cursor-walks.citus.test.ts`);
    const page = '{ totalCount edges { cursor node { __typename ...S ...C } } pageInfo { hasNextPage endCursor } }';
    const fragments = 'fragment S on Symbol { symbol } fragment C on OptionContract { id }';
    const kind =
      field === 'Symbol.contracts'
        ? ['...S', 'fragment S on Symbol { symbol }']
        : ['...C', 'fragment C on OptionContract { id }'];
    const document = kind.reduce(
      (text, part) => text.replace(part, ''),
      `${walk.document.replace('PAGE', page)} ${fragments}`,
    );
    const read = async (variables: Json) => {
      const { data, errors } = await app.graphql(document, variables, { credential: session });
      expect(errors).toBeUndefined();
      return walk.at(data);
    };
    const whole = await read({ first: 200, after: null });
    expect(whole.edges.length).toBe(whole.totalCount);
    expect(whole.edges.length).toBeGreaterThan(3);
    await fc.assert(
      fc.asyncProperty(limits(15), async (sizes) => {
        const edges: Json[] = [];
        for (let i = 0, after: string | null = null, more = true; more; i++) {
          const next: Json = await read({ first: sizes[i % sizes.length], after });
          expect(next.totalCount).toBe(whole.totalCount);
          expect(next.edges.length).toBeGreaterThan(0);
          edges.push(...next.edges);
          ({ endCursor: after, hasNextPage: more } = next.pageInfo);
        }
        expect(edges).toStrictEqual(whole.edges);
      }),
      { numRuns: 6, seed: 3 },
    );
  });
});

describe('pages without an envelope', () => {
  const link = (header: unknown) => /^<([^>]+)>; rel="next"$/.exec(String(header))?.[1];
  const lines = (bytes: Buffer) => String(bytes).trimEnd().split('\r\n').slice(1);

  test.each([
    [
      'GET /v2/stocks/:symbol/bars',
      '/v2/stocks/spy/bars?tz=America%2FNew_York&from=2026-11-25T09:30&to=2026-11-26',
      60,
    ],
    ['GET /v2/offexchange/:symbol/profile', `/v2/offexchange/SPY/profile?${range}`, 3],
    ['GET /v2/journal/trades', '/v2/journal/trades?', 8],
  ])('%s as CSV leads by Link to each page after it, and from the last to none', async (_, path, limit) => {
    const headers = { accept: 'text/csv' };
    const whole = await app.get(`${path}&limit=5000`, { credential: session, headers });
    expect(whole.headers.link).toBeUndefined();
    const rows: string[] = [];
    let pages = 0;
    for (let next: string | undefined = `${path}&limit=${limit}`; next; pages++) {
      const page: Answer = await app.get(next, { credential: session, headers });
      expect(page.status).toBe(200);
      rows.push(...lines(page.bytes));
      next = link(page.headers.link);
    }
    expect(pages).toBeGreaterThan(2);
    expect(rows).toEqual(lines(whole.bytes));
  });

  test('as Arrow, Parquet and protobuf have the same Link as CSV; JSON has its cursor', async () => {
    const path = `/v2/stocks/SPY/bars?${range}&limit=10`;
    const of = async (accept: string) => (await app.get(path, { credential: session, headers: { accept } })).headers;
    const { link: csv } = await of('text/csv');
    expect(link(csv)).toMatch(/limit=10&cursor=/);
    for (const accept of [
      'application/vnd.apache.arrow.stream',
      'application/vnd.apache.parquet',
      'application/x-protobuf',
    ])
      expect((await of(accept)).link).toBe(csv);
    expect((await of('application/json')).link).toBeUndefined();
    expect((await app.send('HEAD', path, { credential: session, headers: { accept: 'text/csv' } })).headers.link).toBe(
      csv,
    );
  });
});
