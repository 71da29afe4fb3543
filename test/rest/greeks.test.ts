import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GreeksSample, GreeksSolve } from '../../src/domain/greeks.ts';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { saveGreeksSession, saveLatestGreeks } from '../../src/store/greeks.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const spy = 'O:SPY261218C00600000';
const weekly = 'O:SPXW261120C06000000';
const path = (contract: string) => `/v2/options/${contract}/greeks`;
let app: TestApp;

function sample(session: string, minute: number): GreeksSample {
  return { tsMs: exchangeInstant(session, minute), iv: 0.1286, delta: 0.5, gamma: 0.0154, mark: minute / 100 };
}
const minutes = (session: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => sample(session, from + i));

async function store(
  underlying: string,
  contract: string,
  series: Record<string, GreeksSample[]>,
  latest?: GreeksSolve,
) {
  await inTransaction(app.store, async (tx) => {
    const key = { underlying, contract };
    for (const [session, samples] of Object.entries(series)) await saveGreeksSession(tx, key, session, samples);
    if (latest) await saveLatestGreeks(tx, key, latest);
  });
}

const solve: GreeksSolve = { ...sample('2026-11-20', 719), iv: 0.2, mark: 4.35, markSource: 'mid', bid: 4.3, ask: 4.4 };

beforeAll(async () => {
  app = await testApp({ nowMs });
  await store(
    'SPY',
    spy,
    {
      '2026-11-18': minutes('2026-11-18', 570, 390),
      '2026-11-19': minutes('2026-11-19', 570, 300),
      // The store may already hold what lies after the server's clock.
      '2026-11-20': minutes('2026-11-20', 570, 390),
    },
    solve,
  );
  await store('SPX', weekly, {}, { ...solve, bid: null, iv: null, delta: null, gamma: null, markSource: 'last' });
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => app.close());

describe('GET /v2/options/{contract}/greeks', () => {
  test('gives the newest solve and its series key for key', async () => {
    const contract = 'O:AAPL261218P00250000';
    const known = sample('2026-11-20', 718);
    const unknown = { ...sample('2026-11-20', 719), iv: null, delta: null, gamma: null };
    await store('AAPL', contract, { '2026-11-20': [known, unknown] }, solve);
    const { status, body, headers } = await app.get(path('o%3Aaapl261218p00250000'));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        contract: { underlying: 'AAPL', expiry: '2026-12-18', right: 'put', strike: 250_000 },
        latest: {
          ts_ms: exchangeInstant('2026-11-20', 719),
          iv: 0.2,
          delta: 0.5,
          gamma: 0.0154,
          mark: 4.35,
          mark_source: 'mid',
          bid: 4.3,
          ask: 4.4,
          spread: 0.1,
        },
        series: [
          { ts_ms: known.tsMs, iv: 0.1286, delta: 0.5, gamma: 0.0154, mark: 7.18 },
          { ts_ms: unknown.tsMs, iv: null, delta: null, gamma: null, mark: 7.19 },
        ],
      },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'live' },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('the series is the last 390 samples, ascending, none later than the clock', async () => {
    const { body } = await app.get(path(spy));
    const times = body.data.series.map((row: Json) => row.ts_ms);
    // 151 of today up to 12:00, and the last 239 of yesterday.
    expect(times).toHaveLength(390);
    expect(times.at(-1)).toBe(exchangeInstant('2026-11-20', 720));
    expect(times[0]).toBe(exchangeInstant('2026-11-19', 570 + 300 - 239));
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));
  });

  test('early in a session the series reaches back over several', async () => {
    app.clock.nowMs = exchangeInstant('2026-11-20', 570);
    const times = (await app.get(path(spy))).body.data.series.map((row: Json) => row.ts_ms);
    expect(times).toHaveLength(390);
    expect(times[0]).toBe(exchangeInstant('2026-11-18', 570 + 390 - 89));
  });

  test('session keeps the samples of that session, and the newest solve stays', async () => {
    const { body } = await app.get(`${path(spy)}?session=2026-11-19`);
    expect(body.data.series).toHaveLength(239);
    expect(body.data.latest.ts_ms).toBe(solve.tsMs);
    const none = await app.get(`${path(spy)}?session=2026-11-18`);
    expect(none.body.data.series).toEqual([]);
    expect(none.body.meta).not.toHaveProperty('note');
  });

  test('outside market hours the last solve is served, and no quote is held with it', async () => {
    app.clock.nowMs = solve.tsMs + 90_000;
    expect((await app.get(path(spy))).body.data.latest).toMatchObject({ bid: 4.3, ask: 4.4, spread: 0.1 });
    app.clock.nowMs = solve.tsMs + 90_001;
    expect((await app.get(path(spy))).body.data.latest).toMatchObject({
      mark: 4.35,
      iv: 0.2,
      bid: null,
      ask: null,
      spread: null,
    });
  });

  test('spread is null when a side is; iv, delta and gamma may be unknown beside a mark', async () => {
    const { body } = await app.get(path(weekly));
    expect(body.data.contract.underlying).toBe('SPXW');
    expect(body.data.latest).toStrictEqual({
      ts_ms: solve.tsMs,
      iv: null,
      delta: null,
      gamma: null,
      mark: 4.35,
      mark_source: 'last',
      bid: null,
      ask: 4.4,
      spread: null,
    });
  });

  test('a solve later than the clock is not there yet', async () => {
    app.clock.nowMs = solve.tsMs - 1;
    expect((await app.get(path(spy))).body.data.latest).toBeNull();
  });

  test('not solved yet: 200, null, an empty series and a note', async () => {
    const { status, body } = await app.get(path('O:BRKB261218C00450000'));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        contract: { underlying: 'BRKB', expiry: '2026-12-18', right: 'call', strike: 450_000 },
        latest: null,
        series: [],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        note: 'O:BRKB261218C00450000 has not been solved yet.',
        plane: 'live',
      },
    });
  });

  test.each([
    [path('SPY261218C00600000'), 'contract'],
    [path('O:SPY261318C00600000'), 'contract'],
    [path('O:SPY261218X00600000'), 'contract'],
    [path('O:SPY261218C00000000'), 'contract'],
    [`${path(spy)}?session=20261119`, 'session'],
  ])('400: %s names the parameter', async (url, parameter) => {
    const { status, body } = await app.get(url);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', details: { parameter } });
  });

  test('401 without a credential', async () => {
    expect((await app.get(path(spy), { credential: null })).status).toBe(401);
  });

  test('403 by the class of the underlying: tier first, then the declaration', async () => {
    const code = async (contract: string, account: Parameters<TestApp['key']>[0]) =>
      (await app.get(path(contract), { credential: await app.key(account) })).body.error?.code;
    expect(await code(weekly, { apiTier: 'basic', classification: null })).toBe('not_entitled_tier');
    expect(await code(weekly, { apiTier: 'pro', classification: null })).toBe('attestation_required');
    expect(await code('O:MSFT261218C00500000', { apiTier: 'free' })).toBe('not_entitled_tier');
    // No more than the underlying asks for.
    expect(await code(spy, { apiTier: 'free', classification: null })).toBeUndefined();
  });

  test.each(['NOPE', 'ZZZ'])('404: %s is not in the registry', async (root) => {
    const { status, body } = await app.get(path(`O:${root}261218C00600000`));
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });
});

describe('the graph', () => {
  test('OptionContract.greeks gives the same, and errs at its path', async () => {
    const query = `query Q($id: OptionContractId!) { contract(id: $id) { id greeks(session: "2026-11-19") {
      latest { mark spread } series { tsMs mark } meta { note plane caps { tier } } } } }`;
    const { data, errors } = await app.graphql(query, { id: spy });
    expect(errors).toBeUndefined();
    expect(data.contract.greeks.latest).toEqual({ mark: 4.35, spread: 0.1 });
    expect(data.contract.greeks.series).toHaveLength(239);
    const refused = await app.graphql(query, { id: weekly }, { credential: await app.key({ apiTier: 'basic' }) });
    expect(refused.data.contract).toEqual({ id: weekly, greeks: null });
    expect(refused.errors).toMatchObject([{ path: ['contract', 'greeks'], extensions: { code: 'not_entitled_tier' } }]);
  });
});
