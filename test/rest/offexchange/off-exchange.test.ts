import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { writeCursor } from '../../../src/resolvers/cursor.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { storeOffExchange } from '../../support/off-exchange.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const tables = ['activity', 'composition', 'concentration', 'profile'] as const;
const path = (table: string, symbol = 'SPY') => `/v2/offexchange/${symbol}/${table}`;
const full = { categories: ['regular_way', 'average_price', 'odd_lot', 'Z|other'], buckets: 5, levels: 7 };
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  await storeOffExchange(app.store, 'SPY', {
    '2026-11-16': full,
    '2026-11-17': { ...full, asOfMs: 1_790_000_000_005 },
    // Two executions: nothing of this session is published, whatever was written.
    '2026-11-18': { ...full, tradeCount: 2 },
    '2026-11-19': full,
    // Not there before the morning after.
    '2026-11-20': full,
  });
  await storeOffExchange(app.store, 'ZZZ', { '2026-11-19': { tradeCount: 1 } });
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => app.close());

const dates = (body: Json) => [...new Set(body.data.map((row: Json) => row.date))];
const meta = (change: object) => ({
  caps: { applied: [], tier: 'pro' },
  symbol: 'SPY',
  synthetic: true,
  session: '2026-11-19',
  latest_session: '2026-11-19',
  as_of: 1_790_000_000_000,
  history_sessions: 4,
  plane: 'archive',
  ...change,
});

describe('GET /v2/offexchange/{symbol}/…', () => {
  test('activity of the latest session, key for key', async () => {
    const { status, body, headers } = await app.get(path('activity', 'spy'));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: [
        {
          date: '2026-11-19',
          off_exch_volume: 1234.5,
          notional: 740_700,
          trade_count: 5_000_000_000,
          avg_size: 41.15,
          vwap: 600.0125,
          off_exch_pct: 0.375,
          consolidated_volume: 2844.5,
          consolidated_notional: 1_706_000,
        },
      ],
      meta: meta({ suppressed_count: 0, count: 1, disclosure_k: 3 }),
    });
    expect(headers.etag).toBeDefined();
    expect(headers['cache-control']).toBe('private');
  });

  test('composition by category, key for key', async () => {
    const { body } = await app.get(path('composition'));
    expect(body.meta).toStrictEqual(meta({ suppressed_count: 1, count: 4 }));
    expect(body.data.map((row: Json) => row.category)).toEqual(['Z|other', 'average_price', 'odd_lot', 'regular_way']);
    expect(body.data[1]).toStrictEqual({
      date: '2026-11-19',
      category: 'average_price',
      volume: 101.5,
      notional: 1000.25,
      trade_count: 4,
      share_of_off_exch_notional: 0.013,
    });
  });

  test('concentration by rank, key for key', async () => {
    const { body } = await app.get(path('concentration'));
    expect(body.meta).toStrictEqual(meta({ suppressed_count: 2, count: 5 }));
    expect(body.data.map((row: Json) => row.rank)).toEqual([1, 2, 3, 4, 5]);
    expect(body.data.map((row: Json) => row.distance_bps)).toEqual([null, -12.5, -12.5, -12.5, -12.5]);
    expect(body.data[0]).toStrictEqual({
      date: '2026-11-19',
      bucket_midpoint: 600.125,
      bucket_width: 0.25,
      volume: 5000.5,
      notional: 3_000_000,
      trade_count: 40,
      distinct_sessions: 2,
      rank_score: 12.5,
      rank: 1,
      bucket_count: 5,
      distance_bps: null,
      lookback_sessions: 20,
    });
  });

  test('profile by price, key for key', async () => {
    const { body } = await app.get(path('profile'));
    expect(body.meta).toStrictEqual(meta({ suppressed_count: 3, count: 7 }));
    expect(body.data[1]).toStrictEqual({
      date: '2026-11-19',
      price_thousandths: 600_010,
      volume: 10.5,
      notional: 6300,
      trade_count: 3,
    });
  });

  test.each(tables)('%s: from and to are sessions, both inclusive, ascending', async (table) => {
    const read = async (query: string) => dates((await app.get(`${path(table)}?${query}`)).body);
    expect(await read('from=2026-11-16&to=2026-11-17')).toEqual(['2026-11-16', '2026-11-17']);
    expect(await read('from=2026-11-17')).toEqual(['2026-11-17', '2026-11-19']);
    expect(await read('to=2026-11-17')).toEqual(['2026-11-16', '2026-11-17']);
    expect(await read('from=2026-11-01&to=2026-12-31')).toEqual(['2026-11-16', '2026-11-17', '2026-11-19']);
  });

  test('an instant names the session it lies in, read in tz; a bare date is the session whatever tz says', async () => {
    const read = async (query: string) => dates((await app.get(`${path('activity')}?${query}`)).body);
    const late = exchangeInstant('2026-11-16', 1439);
    expect(await read(`from=${late}&to=${late}`)).toEqual(['2026-11-16']);
    expect(await read('from=2026-11-17T03:00&to=2026-11-17T03:00&tz=UTC')).toEqual(['2026-11-16']);
    expect(await read('from=2026-11-17T03:00Z&to=2026-11-17T05:00Z')).toEqual(['2026-11-16', '2026-11-17']);
    expect(await read('from=2026-11-17&to=2026-11-17&tz=Asia/Tokyo')).toEqual(['2026-11-17']);
  });

  test('meta speaks of the whole range: its last session, its newest figures, all that is withheld', async () => {
    const range = 'from=2026-11-16&to=2026-11-18';
    const expected = {
      session: '2026-11-18',
      latest_session: '2026-11-19',
      as_of: 1_790_000_000_005,
      history_sessions: 4,
    };
    const withheld = { activity: 1, composition: 3, concentration: 6, profile: 9 };
    for (const table of tables) {
      const { body } = await app.get(`${path(table)}?${range}&limit=1`);
      expect(body.meta).toMatchObject({ ...expected, suppressed_count: withheld[table], count: 1 });
    }
  });

  test('a session appears the morning after it trades', async () => {
    app.clock.nowMs = exchangeInstant('2026-11-21') - 1;
    expect((await app.get(path('activity'))).body.meta.latest_session).toBe('2026-11-19');
    app.clock.nowMs = exchangeInstant('2026-11-21');
    const { body } = await app.get(path('activity'));
    expect(body.meta).toMatchObject({ latest_session: '2026-11-20', history_sessions: 5 });
    expect(dates(body)).toEqual(['2026-11-20']);
  });

  test.each(tables)('%s: walking the cursor equals the unpaged answer, whatever the page', async (table) => {
    const range = `${path(table)}?from=2026-11-16&to=2026-11-19`;
    const whole = (await app.get(range)).body;
    expect(whole.meta).not.toHaveProperty('cursor');
    for (const limit of [1, 2, 3, 7, whole.data.length]) {
      const rows: Json[] = [];
      let cursor: string | undefined;
      do {
        const { body } = await app.get(`${range}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
        expect(body.data.length).toBeLessThanOrEqual(limit);
        expect(body.meta.count).toBe(body.data.length);
        rows.push(...body.data);
        cursor = body.meta.cursor;
      } while (cursor !== undefined);
      expect(rows).toEqual(whole.data);
    }
  });

  test('a session that appears between two pages does not move the walk', async () => {
    const first = (await app.get(`${path('profile')}?limit=4`)).body;
    app.clock.nowMs = exchangeInstant('2026-11-21');
    const second = (await app.get(`${path('profile')}?limit=4&cursor=${first.meta.cursor}`)).body;
    expect([...first.data, ...second.data].map((row: Json) => [row.date, row.price_thousandths])).toEqual(
      Array.from({ length: 7 }, (_, i) => ['2026-11-19', 600_000 + 10 * i]),
    );
    expect(second.meta).not.toHaveProperty('cursor');
  });

  test('a cursor that was changed, or is of another table, symbol or range: 400', async () => {
    const { cursor } = (await app.get(`${path('profile')}?limit=1`)).body.meta;
    for (const url of [
      `${path('profile')}?limit=1&cursor=${cursor}x`,
      `${path('profile')}?cursor=garbage`,
      `${path('composition')}?limit=1&cursor=${cursor}`,
      `${path('profile', 'AAPL')}?limit=1&cursor=${cursor}`,
      `${path('profile')}?from=2026-11-16&limit=1&cursor=${cursor}`,
      `${path('profile')}?tz=UTC&limit=1&cursor=${cursor}`,
    ]) {
      const { status, body } = await app.get(url);
      expect([url, status, body.error?.details?.parameter]).toEqual([url, 400, 'cursor']);
    }
  });

  test('a cursor made by hand, with the right checksum and anything in it: 400, never 5xx', async () => {
    const bound = (table: string) => ['off-exchange', table, 'SPY', '', '', 'America/New_York'];
    for (const [table, position] of [
      ['concentration', '2026-11-16|2026-11-19|2026-11-16|first'],
      ['profile', '2026-11-16|2026-11-19|2026-11-16|99999999999999999999'],
      ['activity', 'x|y|z|'],
      ['activity', ''],
      ['composition', '2026-11-16|2026-11-19|2026-11-16|\u0000'],
    ] as const) {
      const { status, body } = await app.get(`${path(table)}?cursor=${writeCursor(position, bound(table))}`);
      expect([position, status, body.error?.code]).toEqual([position, 400, 'invalid_params']);
    }
    // Only the past can be asked for, whatever range it names.
    const ahead = writeCursor('2026-11-16|2026-11-30|2026-11-19|', bound('activity'));
    expect((await app.get(`${path('activity')}?cursor=${ahead}`)).body.data).toEqual([]);
  });

  test('a limit above 5000 is clamped and reported in caps.applied', async () => {
    const { body } = await app.get(`${path('activity')}?limit=5001`);
    expect(body.meta.caps.applied).toEqual(['limit_clamped']);
    expect((await app.get(`${path('activity')}?limit=5000`)).body.meta.caps.applied).toEqual([]);
  });

  test('a page holds 500 rows by default', async () => {
    await storeOffExchange(app.store, 'XOM', { '2026-11-19': { levels: 501 } });
    const { body } = await app.get(path('profile', 'XOM'));
    expect(body.meta.count).toBe(500);
    expect(body.meta.cursor).toBeDefined();
  });

  test.each(tables)('%s: no data is 200 with an empty list and a note', async (table) => {
    const { status, body } = await app.get(path(table, 'AAPL'));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: [],
      meta: {
        ...meta({ symbol: 'AAPL', session: null, latest_session: null, as_of: null, history_sessions: 0 }),
        suppressed_count: 0,
        count: 0,
        note: 'No off-exchange data of AAPL is stored.',
        ...(table === 'activity' ? { disclosure_k: 3 } : {}),
      },
    });
    const outside = await app.get(`${path(table)}?from=2026-11-01&to=2026-11-02`);
    expect(outside.body).toMatchObject({
      data: [],
      meta: { session: null, note: 'No session of the range is stored.' },
    });
  });

  test('a session under the threshold is named and nothing of it is given, also for a ticker outside the registry', async () => {
    const { body } = await app.get(path('activity', 'ZZZ'));
    expect(body).toMatchObject({ data: [], meta: { session: '2026-11-19', suppressed_count: 1, count: 0 } });
    expect(body.meta.note).toContain('disclosure threshold');
    for (const table of tables)
      expect((await app.get(`${path(table)}?from=2026-11-18&to=2026-11-18`)).body.data).toEqual([]);
  });

  test('rows under the threshold are not given even when they were written', async () => {
    await storeOffExchange(app.store, 'MSFT', { '2026-11-19': full });
    await app.store.pool.query(
      `UPDATE off_exchange_composition SET trade_count = 2 WHERE symbol = 'MSFT' AND category = 'odd_lot'`,
    );
    await app.store.pool.query(
      `UPDATE off_exchange_concentration SET distinct_sessions = 1 WHERE symbol = 'MSFT' AND rank = 2`,
    );
    const composition = (await app.get(path('composition', 'MSFT'))).body.data;
    expect(composition.map((row: Json) => row.category)).not.toContain('odd_lot');
    const concentration = (await app.get(path('concentration', 'MSFT'))).body.data;
    expect(concentration.map((row: Json) => row.rank)).toEqual([1, 3, 4, 5]);
  });

  test.each([
    ['symbol', path('activity', 'S!Y')],
    ['from', `${path('activity')}?from=soon`],
    ['to', `${path('activity')}?to=2026-11-31`],
    ['tz', `${path('activity')}?tz=New_York`],
    ['limit', `${path('activity')}?limit=0`],
    ['limit', `${path('activity')}?limit=many`],
    ['from', `${path('activity')}?from=2026-11-16&from=2026-11-17`],
  ])('400 names %s in %s', async (parameter, url) => {
    const { status, body } = await app.get(url);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', details: { parameter } });
  });

  test.each(tables)('%s: 401 without a credential, 404 for an unknown ticker', async (table) => {
    expect((await app.get(path(table), { credential: null })).status).toBe(401);
    const { status, body } = await app.get(path(table, 'NOPE'));
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  test.each(tables)('%s: 403 below the basic tier, then without a declaration, then by the symbol', async (table) => {
    const code = async (symbol: string, account: Parameters<TestApp['key']>[0]) =>
      (await app.get(path(table, symbol), { credential: await app.key(account) })).body.error?.code;
    expect(await code('SPY', { apiTier: 'free', classification: null })).toBe('not_entitled_tier');
    expect(await code('SPY', { apiTier: 'free' })).toBe('not_entitled_tier');
    expect(await code('NOPE', { apiTier: 'basic', classification: null })).toBe('attestation_required');
    expect(await code('NVDA', { apiTier: 'basic' })).toBe('not_entitled_tier');
    expect(await code('SPY', { apiTier: 'basic' })).toBeUndefined();
  });

  test('503 when no stock tape is configured', async () => {
    const without = await testApp({ nowMs, env: { SOURCES: 'bars' } });
    const { status, body } = await without.get(path('activity'));
    await without.close();
    expect([status, body.error.code]).toEqual([503, 'internal']);
  });
});

describe('protobuf', () => {
  const proto = readFileSync(new URL('../../../proto/rest-protocol.proto', import.meta.url), 'utf8');
  const { root } = protobuf.parse(proto, { keepCase: true });
  // Name of each JSON key there, if it differs.
  const renamed: Record<string, string> = {
    off_exch_volume: 'off_exchange_volume',
    avg_size: 'average_size',
    off_exch_pct: 'off_exchange_share',
    share_of_off_exch_notional: 'share_of_off_exchange_notional',
  };

  test.each(tables)('%s says in protobuf what it says in JSON, with meta in headers', async (table) => {
    const url = `${path(table)}?from=2026-11-16&to=2026-11-17&limit=3`;
    const json = (await app.get(url)).body;
    const { status, bytes, headers } = await app.get(url, { headers: { accept: 'application/x-protobuf' } });
    expect([status, headers['content-type']]).toEqual([200, 'application/x-protobuf']);
    const name = `tapegraph.rest.v2.OffExchange${table[0]!.toUpperCase()}${table.slice(1)}Response`;
    const type = root.lookupType(name);
    const { rows } = type.toObject(type.decode(bytes), { longs: Number, arrays: true }) as { rows: Json[] };
    const asJson = json.data.map((row: Json) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([, value]) => value !== null)
          .map(([key, value]) => [renamed[key] ?? key, value]),
      ),
    );
    expect(rows).toEqual(asJson);
    const { caps, plane, ...extra } = json.meta;
    expect(headers['x-itm-plane']).toBe(plane);
    expect(JSON.parse(headers['x-itm-caps'] as string)).toEqual(caps);
    // The cursor of one form continues in the other.
    expect(JSON.parse(headers['x-itm-extra'] as string)).toEqual(extra);
  });

  test('errors stay JSON', async () => {
    const { status, body, headers } = await app.get(path('activity', 'NOPE'), {
      headers: { accept: 'application/x-protobuf' },
    });
    expect([status, body.error.code]).toEqual([404, 'not_found']);
    expect(headers['content-type']).toContain('application/json');
  });
});

describe('the graph', () => {
  test('Symbol.offExchange gives the four tables of a symbol in one query', async () => {
    const { data, errors } = await app.graphql(
      `{ symbol(symbol: "SPY") { offExchange {
        activity { rows { date offExchPct } meta { disclosureK suppressedCount } }
        composition { rows { category } }
        concentration(limit: 2) { rows { rank } meta { cursor } }
        profile { rows { priceThousandths } meta { asOf synthetic } } } } }`,
    );
    expect(errors).toBeUndefined();
    const { activity, composition, concentration, profile } = data.symbol.offExchange;
    expect(activity).toEqual({
      rows: [{ date: '2026-11-19', offExchPct: 0.375 }],
      meta: { disclosureK: 3, suppressedCount: 0 },
    });
    expect(composition.rows).toHaveLength(4);
    expect(concentration.rows).toEqual([{ rank: 1 }, { rank: 2 }]);
    expect(concentration.meta.cursor).not.toBeNull();
    expect(profile.rows).toHaveLength(7);
  });

  test('a table that may not be read is null with an error at its path', async () => {
    const { data, errors } = await app.graphql(
      '{ symbol(symbol: "SPY") { symbol offExchange { activity { meta { count } } } } }',
      {},
      { credential: await app.key({ apiTier: 'free' }) },
    );
    expect(data).toEqual({ symbol: { symbol: 'SPY', offExchange: { activity: null } } });
    expect(errors).toMatchObject([
      { path: ['symbol', 'offExchange', 'activity'], extensions: { code: 'not_entitled_tier' } },
    ]);
  });
});
