import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GreeksSample, GreeksSolve } from '../../../src/core/domain/chain/greeks.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { saveSolves } from '../../support/greeks.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

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
    const samples = Object.values(series).flat();
    const solves = samples.map((one): GreeksSolve => ({ ...one, markSource: 'mid', bid: null, ask: null }));
    const before = solves.filter(({ tsMs }) => tsMs !== latest?.tsMs);
    await saveSolves(tx, underlying, { [contract]: latest ? [...before, latest] : solves });
  });
}

const solve: GreeksSolve = { ...sample('2026-11-20', 720), iv: 0.2, mark: 4.35, markSource: 'mid', bid: 4.3, ask: 4.4 };

beforeAll(async () => {
  app = await testApp({ nowMs });
  await store(
    'SPY',
    spy,
    {
      '2026-11-18': minutes('2026-11-18', 570, 390),
      '2026-11-19': minutes('2026-11-19', 570, 300),
      // The store may already hold what lies after the server's clock.
      '2026-11-20': [...minutes('2026-11-20', 570, 150), ...minutes('2026-11-20', 900, 60)],
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
    const newest = { ts_ms: solve.tsMs, iv: 0.2, delta: 0.5, gamma: 0.0154, mark: 4.35 };
    await store('AAPL', contract, { '2026-11-20': [known, unknown] }, solve);
    const { status, body, headers } = await app.get(path('o%3Aaapl261218p00250000'));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        contract: { underlying: 'AAPL', expiry: '2026-12-18', right: 'put', strike: 250_000 },
        latest: {
          ...newest,
          mark_source: 'mid',
          bid: 4.3,
          ask: 4.4,
          spread: 0.1,
        },
        series: [
          { ts_ms: known.tsMs, iv: 0.1286, delta: 0.5, gamma: 0.0154, mark: 7.18 },
          { ts_ms: unknown.tsMs, iv: null, delta: null, gamma: null, mark: 7.19 },
          newest,
        ],
      },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'live', read_at_ms: app.clock.nowMs },
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
    expect((await app.get(path(spy))).body.data.latest.ts_ms).toBe(exchangeInstant('2026-11-20', 719));
    expect((await app.get(path(weekly))).body.data.latest).toBeNull();
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
        read_at_ms: app.clock.nowMs,
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

describe('every stored chain is a solve of its contracts', () => {
  const today = '2026-11-20';
  const at = (clock: string, session = today) => newYork(session, clock);
  const contract = 'O:XOM261218C00110000';
  const row = (strike: number, more: Json = {}) =>
    chainRow({
      root: 'XOM',
      expiry: '2026-12-18',
      right: 'call',
      strike,
      bid: 4.3,
      ask: 4.4,
      iv: 0.2,
      delta: 0.55,
      gamma: 0.03,
      vega: 0.1,
      ...more,
    });
  const spot = { spot: 112, priorCloseSpot: 111 };

  beforeAll(async () => {
    await saveCaptures(app.store, {
      chains: [
        chainCapture('XOM', at('15:55', '2026-11-18'), [row(110_000, { bid: 3, ask: 3.5 })], spot),
        // A Sunday's capture is of Friday's session.
        chainCapture('XOM', at('12:00', '2026-11-15'), [row(110_000, { bid: 2, ask: 2.5 })], spot),
        chainCapture('XOM', at('11:50'), [row(110_000, { iv: null, delta: null, gamma: null })], spot),
        chainCapture('XOM', at('11:55') + 20_500, [row(105_000), row(110_000, { bid: 4.2 }), row(115_000)], spot),
        chainCapture(
          'XOM',
          at('11:59') + 10_000,
          [row(105_000, { bid: 9, ask: 9.5 }), row(130_000, { bid: null })],
          spot,
        ),
        chainCapture('XOM', at('12:00') + 1, [row(105_000, { bid: 1 }), row(110_000)], spot),
      ],
    });
  });

  const sample = { iv: 0.2, delta: 0.55, gamma: 0.03 };
  const unknown = { iv: null, delta: null, gamma: null };

  test('latest is the last capture by the clock that lists the contract; the series has one sample a capture, on its minute', async () => {
    const { status, body } = await app.get(path(contract));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        contract: { underlying: 'XOM', expiry: '2026-12-18', right: 'call', strike: 110_000 },
        latest: {
          ts_ms: at('11:55') + 20_500,
          ...sample,
          mark: 4.3,
          mark_source: 'mid',
          bid: null,
          ask: null,
          spread: null,
        },
        series: [
          { ts_ms: at('12:00', '2026-11-15'), ...sample, mark: 2.25 },
          { ts_ms: at('15:55', '2026-11-18'), ...sample, mark: 3.25 },
          { ts_ms: at('11:50'), ...unknown, mark: 4.35 },
          { ts_ms: at('11:55'), ...sample, mark: 4.3 },
        ],
      },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'live', read_at_ms: app.clock.nowMs },
    });
  });

  test('the quote is held for 90 s from the capture', async () => {
    app.clock.nowMs = at('12:00') + 1 + 90_000;
    expect((await app.get(path(contract))).body.data.latest).toMatchObject({ bid: 4.3, ask: 4.4, spread: 0.1 });
    app.clock.nowMs++;
    expect((await app.get(path(contract))).body.data.latest).toMatchObject({ mark: 4.35, bid: null, ask: null });
  });

  test('session keeps its captures, a Sunday among those of Friday', async () => {
    const marks = async (session: string) =>
      (await app.get(`${path(contract)}?session=${session}`)).body.data.series.map((one: Json) => one.mark);
    expect(await marks(today)).toEqual([4.35, 4.3]);
    expect(await marks('2026-11-18')).toEqual([3.25]);
    expect(await marks('2026-11-13')).toEqual([2.25]);
    expect(await marks('2026-11-15')).toEqual([]);
  });

  test('a volatility that no mark can have is not served', async () => {
    // Worth 7 to exercise, asked at 9.25 now and at 4.35 before.
    const { latest, series } = (await app.get(path('O:XOM261218C00105000'))).body.data;
    expect(latest).toMatchObject({ mark: 9.25, iv: 0.2 });
    expect(series).toMatchObject([{ mark: 4.35, ...unknown }, sample]);
  });

  test('no mark, no sample: not solved yet', async () => {
    for (const strike of ['130', '999']) {
      const { status, body } = await app.get(path(`O:XOM261218C00${strike}000`));
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ latest: null, series: [] });
      expect(body.meta.note).toBe(`O:XOM261218C00${strike}000 has not been solved yet.`);
    }
  });

  test("a minute's kept solve stands instead of a capture of the same minute; of both the newer is the latest", async () => {
    const kept = { ...solve, tsMs: at('11:55'), mark: 4.31 };
    await store('XOM', 'O:XOM261218C00115000', { [today]: [{ ...kept, tsMs: at('11:54') }, kept] }, kept);
    const newer = (await app.get(path('O:XOM261218C00115000'))).body.data;
    expect(newer.series.map((one: Json) => [one.ts_ms, one.mark])).toEqual([
      [at('11:54'), 4.31],
      [at('11:55'), 4.31],
    ]);
    expect(newer.latest).toMatchObject({ ts_ms: at('11:55') + 20_500, mark: 4.35 });
    await store('XOM', 'O:XOM261218C00115000', {}, { ...kept, tsMs: at('11:59') });
    expect((await app.get(path('O:XOM261218C00115000'))).body.data.latest).toMatchObject({ ts_ms: at('11:59') });
  });

  test('the series ends with the last 390', async () => {
    const open = at('09:30', '2026-11-19');
    const chains = Array.from({ length: 400 }, (_, i) =>
      chainCapture('MSFT', open + i * 20_000, [row(110_000, { root: 'MSFT', bid: 4, ask: 4 + i / 100 })], spot),
    );
    await saveCaptures(app.store, { chains });
    const series: Json[] = (await app.get(path('O:MSFT261218C00110000'))).body.data.series;
    // Three captures a minute: the last of each stands, of the last 390 captures.
    expect(series.map((one) => one.ts_ms)).toEqual(Array.from({ length: 131 }, (_, i) => open + (i + 3) * 60_000));
    expect(series[0]!.mark).toBe(4 + 11 / 200);
  });

  test('however many contracts of an underlying are asked for, it takes the same number of statements', async () => {
    const counts: number[] = [];
    for (const symbol of ['NVDA', 'SPX', 'XSP']) {
      const rows = Array.from({ length: 200 }, (_, i) => row(100_000 + i * 100, { root: symbol }));
      await saveCaptures(app.store, {
        chains: ['11:50', '11:55'].map((clock) => chainCapture(symbol, at(clock), rows, spot)),
      });
    }
    await app.graphql('{ symbol(symbol: "NVDA") { name } }');
    for (const [root, first] of [
      ['NVDA', 1],
      ['SPX', 10],
      ['XSP', 200],
    ] as const) {
      const statements = await statementsOf(async () => {
        const { data, errors } = await app.graphql(
          `query Q($symbol: Ticker!, $first: Int!) { symbol(symbol: $symbol) { contracts(first: $first) {
            nodes { greeks { latest { mark } series { tsMs } } } } } }`,
          { symbol: root, first },
        );
        expect(errors).toBeUndefined();
        expect(data.symbol.contracts.nodes).toHaveLength(first);
        for (const { greeks } of data.symbol.contracts.nodes) expect(greeks.series).toHaveLength(2);
      });
      counts.push(withoutCommits(statements).length);
    }
    expect(counts).toEqual([counts[0], counts[0], counts[0]]);
  });

  test('either source serves: without the option tape the captures, without chains what is kept', async () => {
    for (const [SOURCES, latest, samples] of [
      ['chain', 4.35, 1],
      ['option_tape', 4.35, 1],
      ['chain,option_tape', 4.35, 2],
    ] as const) {
      const bare = await testApp({ nowMs, env: { SOURCES } });
      try {
        await saveCaptures(bare.store, { chains: [chainCapture('XOM', at('11:50'), [row(110_000)], spot)] });
        await inTransaction(bare.store, async (tx) => {
          await saveSolves(tx, 'XOM', { [contract]: [{ ...solve, tsMs: at('11:54') }] });
        });
        const { body } = await bare.get(path(contract));
        expect(body.data.latest.mark).toBe(latest);
        expect([SOURCES, body.data.series.length]).toEqual([SOURCES, samples]);
      } finally {
        await bare.close();
      }
    }
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
