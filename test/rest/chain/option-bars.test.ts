import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Bar, toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { saveOptionBars } from '../../../src/store/chain/option-bars.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const spy = 'O:SPY261218C00600000';
const monday = '2026-11-16';
const weekly = 'O:SPXW261120C06000000';
const path = (contract: string) => `/v2/options/${contract}/bars`;
let app: TestApp;

function bar(session: string, minute: number, change: Partial<Bar> = {}): Bar {
  const tsMs = exchangeInstant(session, 0) + minute * 60_000;
  return { tsMs, open: 2, high: 2.5, low: 1.5, close: 2.25, volume: minute, vwap: 2.1, tradeCount: 3, ...change };
}

async function store(underlying: string, contract: string, sessionDate: string, bars: Bar[]) {
  await inTransaction(app.store, async (tx) => {
    await saveOptionBars(tx, 'eod_reconciled', [{ underlying, contract, sessionDate, bars: toBarColumns(bars) }]);
  });
}
const minutes = (session: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => bar(session, from + i));

beforeAll(async () => {
  app = await testApp({ nowMs });
  // From Sunday on: more than the hours of a session have, to reach every limit.
  await store('SPY', spy, monday, minutes(monday, -660, 2100));
  await store('SPY', spy, '2026-11-19', [
    bar('2026-11-19', 570),
    bar('2026-11-19', 572, { volume: 5_000_000_000, vwap: null, tradeCount: null }),
  ]);
  await store('SPY', spy, '2026-11-20', minutes('2026-11-20', 718, 5));
  await store('SPX', weekly, '2026-11-20', minutes('2026-11-20', 600, 2));
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => app.close());

const times = (body: Json) => body.data.bars.map((row: Json) => row.ts_ms);

describe('GET /v2/options/{contract}/bars', () => {
  test('gives the bars of a session key for key, ascending', async () => {
    const { status, body, headers } = await app.get(`${path('O%3Aspy261218c00600000')}?session=2026-11-19`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        contract: { underlying: 'SPY', expiry: '2026-12-18', right: 'call', strike: 600_000 },
        timeframe: '1m',
        bars: [
          {
            ts_ms: exchangeInstant('2026-11-19', 570),
            open: 2,
            high: 2.5,
            low: 1.5,
            close: 2.25,
            volume: 570,
            vwap: 2.1,
            trade_count: 3,
          },
          {
            ts_ms: exchangeInstant('2026-11-19', 572),
            open: 2,
            high: 2.5,
            low: 1.5,
            close: 2.25,
            volume: 5_000_000_000,
            vwap: null,
            trade_count: null,
          },
        ],
      },
      meta: { caps: { applied: [], tier: 'pro' }, session: '2026-11-19', count: 2, plane: 'archive' },
    });
    expect(headers.etag).toBeDefined();
  });

  test('tf=5m gives five-minute bars, made of the minutes; 1m is the default', async () => {
    const { body } = await app.get(`${path(spy)}?session=2026-11-19&tf=5m`);
    expect(body.data.timeframe).toBe('5m');
    const volume = 570 + 5_000_000_000;
    // One of the minutes says neither.
    const unknown = { vwap: null, trade_count: null };
    expect(body.data.bars).toEqual([
      { ts_ms: exchangeInstant('2026-11-19', 570), open: 2, high: 2.5, low: 1.5, close: 2.25, volume, ...unknown },
    ]);
    const whole = await app.get(`${path(spy)}?session=${monday}&tf=5m&limit=2000`);
    expect(whole.body.data.bars).toHaveLength(2100 / 5);
  });

  test('the default session is today when the exchange trades; nothing later than the clock is served', async () => {
    const { body, headers } = await app.get(path(spy));
    expect(body.meta).toMatchObject({ session: '2026-11-20', count: 3, plane: 'live' });
    expect(times(body).at(-1)).toBe(nowMs);
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each([
    ['2026-11-22T17:00Z', '2026-11-20'],
    ['2026-11-26T17:00Z', '2026-11-25'],
  ])('at %s, when it does not trade, the default session is %s', async (now, expected) => {
    app.clock.nowMs = Date.parse(now);
    expect((await app.get(path(spy))).body.meta.session).toBe(expected);
  });

  test('limit keeps the newest: 390 by default', async () => {
    const all = await app.get(`${path(spy)}?session=${monday}&limit=2000`);
    const few = await app.get(`${path(spy)}?session=${monday}&limit=3`);
    expect(times(few.body)).toEqual(times(all.body).slice(-3));
    const usual = await app.get(`${path(spy)}?session=${monday}`);
    expect(usual.body.meta).toMatchObject({ count: 390, caps: { applied: [] } });
    expect(times(usual.body)).toEqual(times(all.body).slice(-390));
    for (const { body } of [all, few, usual]) expect(body.meta).not.toHaveProperty('limit_clamped');
  });

  test('a limit above 2000 is clamped and reported, for every caller', async () => {
    for (const credential of [await app.key(), await app.session()]) {
      const { body } = await app.get(`${path(spy)}?session=${monday}&limit=2001`, { credential });
      expect(body.meta).toMatchObject({ count: 2000, limit_clamped: true, caps: { applied: ['limit_clamped'] } });
    }
  });

  test('no bars: 200, an empty list and a note', async () => {
    const { status, body } = await app.get(`${path('O:AAPL261218C00250000')}?session=2026-11-19`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        contract: { underlying: 'AAPL', expiry: '2026-12-18', right: 'call', strike: 250_000 },
        timeframe: '1m',
        bars: [],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        session: '2026-11-19',
        count: 0,
        note: 'No bars of O:AAPL261218C00250000 are stored for the session 2026-11-19.',
        plane: 'archive',
      },
    });
  });

  test.each([
    [path('SPY'), 'contract'],
    [path('O:SPY261218C006000000'), 'contract'],
    [`${path(spy)}?tf=1h`, 'tf'],
    [`${path(spy)}?session=today`, 'session'],
    [`${path(spy)}?limit=0`, 'limit'],
    [`${path(spy)}?limit=-5`, 'limit'],
    [`${path(spy)}?limit=1&limit=2`, 'limit'],
  ])('400: %s names the parameter', async (url, parameter) => {
    const { status, body } = await app.get(url);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', details: { parameter } });
  });

  test('401 without a credential', async () => {
    expect((await app.get(path(spy), { credential: null })).status).toBe(401);
  });

  test('403 by the class of the underlying', async () => {
    const code = async (contract: string, account: Parameters<TestApp['key']>[0]) =>
      (await app.get(path(contract), { credential: await app.key(account) })).body.error?.code;
    expect(await code(weekly, { apiTier: 'basic' })).toBe('not_entitled_tier');
    expect(await code('O:XSP261218C00600000', { apiTier: 'free', classification: null })).toBe('attestation_required');
    expect(await code(spy, { apiTier: 'free', classification: null })).toBeUndefined();
  });

  test.each(['NOPE', 'ZZZ'])('404: %s is not in the registry', async (root) => {
    const { status, body } = await app.get(path(`O:${root}261218C00600000`));
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  test('503 provider_unavailable when the provider is out of reach', async () => {
    const broken = await testApp({ nowMs });
    await broken.get(path(spy));
    await broken.store.pool.query('ALTER TABLE option_bar_blocks RENAME TO gone');
    const { status, body } = await broken.get(path(spy));
    await broken.close();
    expect([status, body.error.code]).toEqual([503, 'provider_unavailable']);
    expect(JSON.stringify(body)).not.toContain('option_bar_blocks');
  });

  test('503 internal when no provider is configured', async () => {
    const without = await testApp({ nowMs, env: { SOURCES: 'bars' } });
    const { status, body } = await without.get(path(spy));
    await without.close();
    expect([status, body.error.code]).toEqual([503, 'internal']);
  });
});

describe('the graph', () => {
  test('OptionContract.bars gives the same as rows and as columns', async () => {
    const { data, errors } = await app.graphql(
      `{ contract(id: "${spy}") { bars(session: "2026-11-19") { rows { tsMs volume vwap } columns { tsMs volume vwap }
         meta { session count limitClamped } } } }`,
    );
    expect(errors).toBeUndefined();
    const { rows, columns, meta } = data.contract.bars;
    expect(meta).toEqual({ session: '2026-11-19', count: 2, limitClamped: null });
    for (const name of ['tsMs', 'volume', 'vwap']) expect(columns[name]).toEqual(rows.map((row: Json) => row[name]));
    expect(columns.vwap).toEqual([2.1, null]);
  });

  test.each([0, -1])('a limit of %i is an error at its path', async (limit) => {
    const { data, errors } = await app.graphql(
      `{ contract(id: "${spy}") { bars(limit: ${limit}) { rows { tsMs } } } }`,
    );
    expect(data).toEqual({ contract: { bars: null } });
    const extensions = { code: 'invalid_params', details: { parameter: 'limit' } };
    expect(errors).toMatchObject([{ path: ['contract', 'bars'], extensions }]);
  });

  test('a contract that may not be read is null with an error at its path', async () => {
    const { data, errors } = await app.graphql(
      `{ contract(id: "${weekly}") { id bars { meta { count } } } }`,
      {},
      { credential: await app.key({ apiTier: 'free' }) },
    );
    expect(data).toEqual({ contract: { id: weekly, bars: null } });
    expect(errors).toMatchObject([{ path: ['contract', 'bars'], extensions: { code: 'not_entitled_tier' } }]);
  });
});
