import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { createMetrics, type Metrics } from '../../src/platform/observe/metrics.ts';
import type { CacheStats } from '../../src/platform/wire/response-cache.ts';
import { saveChainCapture } from '../../src/store/chain/chain-captures.ts';
import { saveGexCapture } from '../../src/store/gex/captures.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { readLiveQuotes } from '../../src/store/market/live-quotes.ts';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { modelsThrough } from '../../src/store/rows/models/models-through.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { trade } from '../support/live.ts';
import { flatBar } from '../support/market.ts';
import { chainCapture, chainRow, gexCapture, newYork } from '../support/option-market.ts';
import { allStatements, statementsOf } from '../support/statements.ts';
import { storeForThisTest, testStore } from '../support/store.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-20';
const symbols = Array.from({ length: 25 }, (_, i) => `S${String.fromCharCode(65 + i)}`);
const entries = symbols.map((symbol) => ({ ...testSymbols[0]!, symbol }));
const [from, to] = [exchangeInstant(session, 570), exchangeInstant(session, 960)];

async function fill(store: Store): Promise<void> {
  await inTransaction(store, async (tx) => {
    const days = ['2026-11-18', '2026-11-19', session].map((date, i) => flatBar(exchangeInstant(date), 100 + i));
    const minutes = [570, 600, 715].map((minute, i) => flatBar(exchangeInstant(session, minute), 50 + i));
    const runs = (bars: typeof days) => symbols.map((symbol) => ({ symbol, bars: toBarColumns(bars) }));
    await writeBars(tx, '1d', runs(days));
    await writeBars(tx, '1m', runs(minutes));
    await writeBars(tx, '5m', runs(minutes));
    for (const symbol of symbols) {
      const row = chainRow({ root: symbol, expiry: '2026-12-18', right: 'call', strike: 100_000 });
      await saveChainCapture(tx, chainCapture(symbol, newYork(session, '11:55'), [row]));
      await saveGexCapture(
        tx,
        gexCapture(symbol, newYork(session, '11:55'), [{ strike: 100_000, expiry: '2026-12-18', gex: 5 }]),
      );
    }
  });
  await trade(store, Object.fromEntries(symbols.map((symbol) => [symbol, 60])), nowMs - 60_000);
}

/** An application whose timers do not run: every statement that is sent is that of a request. */
async function quietApp(store: TestApp['store'], metrics = createMetrics('test')): Promise<TestApp> {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  try {
    return await testApp({ nowMs, symbols: entries, store, metrics });
  } finally {
    vi.useRealTimers();
  }
}

let app: TestApp;
const caches = new Map<string, () => CacheStats>();
let session25: string;
beforeAll(async () => {
  const watchCache: Metrics['watchCache'] = (name, stats) => void caches.set(name, stats);
  app = await quietApp(await testStore(), { ...createMetrics('test'), watchCache });
  await fill(app.store);
  session25 = await app.session();
});
afterAll(() => app.close());

const dashboard = `query Dashboard($from: PointInTime!, $to: PointInTime!) {
  ${symbols.map((symbol) => `${symbol}: symbol(symbol: "${symbol}") { ...Panel }`).join('\n')}
}
fragment Panel on Symbol {
  symbol
  quote { spot changePct volume officialClose }
  spot { price ts }
  bars(from: $from, to: $to, timeframe: "5m") { rows { tsMs open high low close volume vwap } }
  gex { latest(topStrikes: 20) { capturedAt spot netGex flipPoint strikes { strike gex callOi putOi } } }
  expirations { dates }
}`;

// No two alike: the answer cache serves none of them.
let asked = 0;
async function askDashboard(of = app) {
  const variables = { from: String(from - ++asked), to: String(to) };
  const { data, errors } = await of.graphql(dashboard, variables, { credential: session25 });
  expect(errors).toBeUndefined();
  expect(Object.keys(data)).toEqual(symbols);
  return data;
}

const routesOf = (symbol: string) => [
  `/v2/symbols/${symbol}/spot`,
  `/v2/stocks/${symbol}/bars?from=${from}&to=${to}&tf=5m`,
  `/v2/gex/${symbol}/history?date=${session}&from=11:55&to=11:56&top=20`,
  `/v2/chain/${symbol}/expirations`,
  `/v2/symbols/${symbol}`,
];

async function askRoutes(paths = [`/v2/quotes?symbols=${symbols}`, ...symbols.flatMap(routesOf)]): Promise<void> {
  for (const path of paths) expect((await app.get(path, { credential: session25 })).status, path).toBe(200);
}

async function atTime<T>(instantMs: number, work: () => Promise<T>): Promise<T> {
  app.clock.nowMs = instantMs;
  try {
    return await work();
  } finally {
    app.clock.nowMs = nowMs;
  }
}

describe('a warm dashboard of 25 symbols sends no SQL statement, not even for its caller', () => {
  test('as a graph document of which no two are alike', async () => {
    const first = await askDashboard();
    expect(first.SA).toMatchObject({
      quote: { spot: 60 },
      gex: { latest: { netGex: 5 } },
      expirations: { dates: ['2026-12-18'] },
    });
    expect(first.SA.bars.rows).toHaveLength(3);
    expect(await statementsOf(() => askDashboard())).toEqual([]);
  });

  test('as the REST routes of the same data', async () => {
    await askRoutes();
    expect(await statementsOf(() => askRoutes())).toEqual([]);
  });

  test('minutes later, and with a clock that is set back', async () => {
    for (const instantMs of [nowMs + 3 * 60_000, nowMs - 120_000]) {
      await atTime(instantMs, () => askDashboard());
      expect(await atTime(instantMs + 1000, () => statementsOf(() => askDashboard()))).toEqual([]);
    }
  });

  test('reads again what is written of a symbol, and no other', async () => {
    await askDashboard();
    await trade(app.store, { SA: 61 }, nowMs - 50_000);
    let data: Awaited<ReturnType<typeof askDashboard>>;
    const statements = await statementsOf(async () => {
      data = await askDashboard();
    });
    expect(data!.SA.quote.spot).toBe(61);
    expect(data!.SB.quote.spot).toBe(60);
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.join('\n')).not.toMatch(/gex_captures|chain_captures/);
    expect(await statementsOf(() => askDashboard())).toEqual([]);
  });
});

describe('a write of one symbol', () => {
  const closes = (symbol: string) => `/v2/stocks/${symbol}/bars?from=2026-11-19&to=2026-11-20`;
  const write = (store: Store, symbol: string, close: number) =>
    inTransaction(store, (tx) =>
      writeBars(tx, '1m', [{ symbol, bars: toBarColumns([flatBar(exchangeInstant('2026-11-19', 600), close)]) }]),
    );
  const closeOf = async (of: TestApp, symbol: string) =>
    (await of.get(closes(symbol), { credential: session25 })).body.data[0].close;

  test('keeps the cached answer of another, and is in its own at once', async () => {
    await write(app.store, 'SC', 1);
    await write(app.store, 'SD', 1);
    for (let again = 0; again < 3; again++) for (const symbol of ['SC', 'SD']) await closeOf(app, symbol);
    for (let close = 2; close < 5; close++) {
      await write(app.store, 'SC', close);
      expect(await statementsOf(() => closeOf(app, 'SD'))).toEqual([]);
      expect(await closeOf(app, 'SC')).toBe(close);
    }
  });

  test.each(['rest', 'graphql'])('leaves the answers of another in the cache of whole answers: %s', async (cache) => {
    const ask = async (symbol: string) => {
      const before = caches.get(cache)!().hits;
      if (cache === 'rest') await closeOf(app, symbol);
      else await app.graphql(`{ symbol(symbol: "${symbol}") { quote { spot } } }`);
      return caches.get(cache)!().hits > before;
    };
    for (const symbol of ['SM', 'SN']) await write(app.store, symbol, 1);
    for (let again = 0; again < 3; again++) for (const symbol of ['SM', 'SN']) await ask(symbol);
    await write(app.store, 'SM', 2);
    expect([await ask('SM'), await ask('SN')]).toEqual([false, true]);
    await inTransaction(app.store, async (tx) => tx.changes.add('gex', 'SN'));
    expect([await ask('SM'), await ask('SN')]).toEqual([true, true]);
    await write(app.store, 'SN', 2);
    expect([await ask('SM'), await ask('SN')]).toEqual([true, false]);
  });

  test('is in the answers of another process as soon as it hears of it, which keeps those of other symbols', async () => {
    const { databaseUrl } = app.store;
    const other = await quietApp({ ...(await openStore({ databaseUrl, dataDir: '', migrate: false })), databaseUrl });
    onTestFinished(() => other.close());
    let heard = 0;
    other.store.versions.onChange(() => void heard++);
    await write(app.store, 'SE', 1);
    await write(app.store, 'SF', 1);
    await vi.waitUntil(() => heard === 2, { timeout: 20_000, interval: 1 });
    for (let again = 0; again < 3; again++) for (const symbol of ['SE', 'SF']) await closeOf(other, symbol);
    for (let close = 2; close < 5; close++) {
      await write(app.store, 'SE', close);
      await vi.waitUntil(() => heard === close + 1, { timeout: 20_000, interval: 1 });
      expect(await closeOf(other, 'SE')).toBe(close);
      expect(await statementsOf(() => closeOf(other, 'SF'))).toEqual([]);
    }
    await askDashboard(other);
    await write(app.store, 'SE', 9);
    await vi.waitUntil(() => heard === 6, { timeout: 20_000, interval: 1 });
    await askDashboard(other);
    expect(await statementsOf(() => askDashboard(other))).toEqual([]);
  });

  test('of one subject keeps the answers of others', async () => {
    await askRoutes();
    const made = gexCapture('SG', newYork(session, '11:56'), [{ strike: 100_000, expiry: '2026-12-18', gex: 7 }]);
    await inTransaction(app.store, (tx) => saveGexCapture(tx, made));
    const [spot, bars, gex, expirations] = routesOf('SG');
    expect(await statementsOf(() => askRoutes([spot!, bars!, expirations!, ...routesOf('SH')]))).toEqual([]);
    expect((await statementsOf(() => askRoutes([gex!]))).length).toBeGreaterThan(0);
    await write(app.store, 'SG', 3);
    expect(await statementsOf(() => askRoutes([gex!, expirations!]))).toEqual([]);
  });

  test('that is rolled back moves nothing', async () => {
    await askRoutes();
    const before = app.store.versions.count;
    await expect(
      inTransaction(app.store, async (tx) => {
        await writeBars(tx, '1m', [{ symbol: 'SI', bars: toBarColumns([flatBar(from, 9)]) }]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(app.store.versions.count).toBe(before);
    expect(await statementsOf(() => askRoutes(routesOf('SI')))).toEqual([]);
  });

  test('of the registry makes every answer anew', async () => {
    await write(app.store, 'SJ', 1);
    for (let again = 0; again < 3; again++) await closeOf(app, 'SJ');
    const pro = await app.key({ apiTier: 'free' });
    const status = async () => (await app.get(closes('SJ'), { credential: pro })).status;
    for (let again = 0; again < 3; again++) expect(await status()).toBe(200);
    await inTransaction(app.store, (tx) => saveSymbols(tx, [{ ...testSymbols[0]!, symbol: 'SJ', minTier: 'pro' }]));
    expect(await status()).toBe(403);
  });
});

describe('what is read while others write', () => {
  test('a value read before a commit is not held after it, however late its answer comes', async () => {
    await trade(app.store, { SK: 1 }, nowMs);
    const gate = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    const slow: Store['primary'] = {
      ...app.store.primary,
      prisma: modelsThrough(async (call) => {
        const answer = await call(app.store.primary.prisma);
        read.resolve();
        await gate.promise;
        return answer;
      }),
    };
    const late = readLiveQuotes({ ...app.store, reader: slow }, ['SK']);
    await read.promise;
    await trade(app.store, { SK: 2 }, nowMs);
    gate.resolve();
    expect((await late).get('SK')?.spot).toBe(1);
    expect((await readLiveQuotes(app.store, ['SK'])).get('SK')?.spot).toBe(2);
  });

  test('a reader never goes back, and has what was committed when the writer has its answer', async () => {
    let last = 0;
    let done = false;
    const spotOf = async () => (await readLiveQuotes(app.store, ['SL'])).get('SL')?.spot ?? 0;
    const readers = Array.from({ length: 4 }, async () => {
      for (let seen = 0; !done; ) {
        // Cached data is there at once: yield to the writer.
        await setImmediate();
        const before = last;
        const spot = await spotOf();
        expect(spot).toBeGreaterThanOrEqual(Math.max(seen, before));
        seen = spot;
      }
    });
    for (let spot = 61; spot <= 200; spot++) {
      await trade(app.store, { SL: spot }, nowMs);
      last = spot;
    }
    done = true;
    await Promise.all(readers);
    expect(await spotOf()).toBe(200);
  });
});

test('while its listening connection is lost nothing is held, and everything is read anew when it is back', async () => {
  const store = await storeForThisTest();
  const own = await quietApp(store);
  onTestFinished(() => own.close());
  await trade(store, { SA: 1 }, nowMs);
  await readLiveQuotes(store, ['SA']);
  expect(await allStatements(() => readLiveQuotes(store, ['SA']))).toEqual([]);
  const held = store.versions.of('market', 'SA')!;
  await store.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tapegraph listener' and datname = current_database()",
  );
  await vi.waitUntil(() => store.versions.of('market', 'SA') === null, { timeout: 20_000, interval: 1 });
  for (let again = 0; again < 2; again++)
    expect((await allStatements(() => readLiveQuotes(store, ['SA']))).join()).toMatch(/live_quotes/);
  await vi.waitUntil(() => store.versions.of('market', 'SA') !== null, 20_000);
  expect(store.versions.of('market', 'SA')).toBeGreaterThan(held);
  expect(await allStatements(() => readLiveQuotes(store, ['SA']))).toHaveLength(1);
  expect(await allStatements(() => readLiveQuotes(store, ['SA']))).toEqual([]);
});
