import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { saveLiveQuotes } from '../../../src/store/market/live-quotes.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { readEvents, subscribe } from '../../support/event-reader.ts';
import { storeDays } from '../../support/market.ts';
import { storeForThisTest } from '../../support/store.ts';

// Friday 2026-11-20, 12:00 in New York: the current session's bar is building.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const { store } = app;
  await storeDays(store, 'SPY', { '2026-11-18': 590, '2026-11-19': [600, 5_000_000_000], '2026-11-20': [595.68, 42] });
  await storeDays(store, 'AAPL', { '2026-11-18': 200, '2026-11-19': [201.5, 77] });
  // The last of MSFT is ten days old, that of XOM eleven.
  await storeDays(store, 'MSFT', { '2026-11-09': 400, '2026-11-10': 404 });
  await storeDays(store, 'XOM', { '2026-11-06': 110, '2026-11-09': 111 });
  await storeDays(store, 'NVDA', { '2026-11-19': 180 });
  await storeDays(store, 'XSP', { '2026-11-18': 600, '2026-11-19': 606 });
  await storeDays(store, 'ZZZ', { '2026-11-19': 3 });
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => app.close());

function empty(symbol: string) {
  return {
    symbol,
    spot: null,
    change_pct: null,
    net_gex: null,
    gex_change: null,
    volume: null,
    official_close: null,
    session_date: null,
    event_ts_ms: null,
  };
}
const spy = {
  ...empty('SPY'),
  spot: 595.68,
  change_pct: -0.72,
  volume: 42,
  official_close: 600,
  session_date: '2026-11-20',
};
const aapl = {
  ...empty('AAPL'),
  spot: 201.5,
  change_pct: 0.75,
  volume: 77,
  official_close: 200,
  session_date: '2026-11-19',
};

describe('GET /v2/quotes', () => {
  test('gives one row a symbol in the order asked, repeats included, key for key', async () => {
    const { status, body, headers } = await app.get('/v2/quotes?symbols=aapl,SPY%2CAAPL');
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: [aapl, spy, aapl],
      meta: { caps: { applied: [], tier: 'pro' }, count: 3, plane: 'live', read_at_ms: nowMs },
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
  });

  test('the price is the current session as it builds, else the last completed one', async () => {
    const { body } = await app.get('/v2/quotes?symbols=SPY,AAPL');
    expect(body.data.map((row: { session_date: string }) => row.session_date)).toEqual(['2026-11-20', '2026-11-19']);
    expect(body.data[0].volume).toBe(42);
  });

  test('before the session trades the price is the last completed close', async () => {
    app.clock.nowMs = Date.parse('2026-11-20T13:00Z');
    const { body } = await app.get('/v2/quotes?symbols=SPY');
    expect(body.data[0]).toMatchObject({ spot: 600, official_close: 590, volume: 5_000_000_000, change_pct: 1.6949 });
  });

  test('a last bar of ten calendar days ago is still the price, an older one is not', async () => {
    const { body } = await app.get('/v2/quotes?symbols=MSFT,XOM');
    expect(body.data[0]).toMatchObject({ spot: 404, change_pct: 1, session_date: '2026-11-10' });
    expect(body.data[1]).toStrictEqual(empty('XOM'));
    app.clock.nowMs = Date.parse('2026-11-21T17:00Z');
    expect((await app.get('/v2/quotes?symbols=MSFT')).body.data[0]).toStrictEqual(empty('MSFT'));
  });

  test('without a close before it the change is unknown', async () => {
    const { body } = await app.get('/v2/quotes?symbols=NVDA');
    expect(body.data[0]).toStrictEqual({ ...empty('NVDA'), spot: 180, volume: 1000, session_date: '2026-11-19' });
  });

  test('an unknown ticker and one without bars are rows of null; a real one outside the registry has its price', async () => {
    const { status, body } = await app.get('/v2/quotes?symbols=QQQQ,BRK.B,ZZZ');
    expect(status).toBe(200);
    expect(body.data.slice(0, 2)).toStrictEqual([empty('QQQQ'), empty('BRK.B')]);
    expect(body.data[2]).toMatchObject({ symbol: 'ZZZ', spot: 3 });
    expect(body.meta).not.toHaveProperty('restricted');
  });

  test('what the plan cannot read is an empty row, listed once in the order asked', async () => {
    const credential = await app.key({ apiTier: 'basic', classification: null });
    const { status, body } = await app.get('/v2/quotes?symbols=XSP,SPY,NVDA,XSP,MSFT', { credential });
    expect(status).toBe(200);
    expect(body.data).toMatchObject([empty('XSP'), spy, empty('NVDA'), empty('XSP'), { symbol: 'MSFT', spot: 404 }]);
    expect(body.meta).toStrictEqual({
      caps: { applied: [], tier: 'basic' },
      count: 5,
      restricted: ['XSP', 'NVDA'],
      plane: 'live',
      read_at_ms: nowMs,
    });
  });

  test('attestation opens an index product', async () => {
    const credential = await app.key({ apiTier: 'free', classification: 'non_professional' });
    const { body } = await app.get('/v2/quotes?symbols=XSP', { credential });
    expect(body.data[0]).toMatchObject({ spot: 606, change_pct: 1 });
  });

  test('serves 180 symbols and refuses 181', async () => {
    const list = Array.from({ length: 181 }, (_, i) => `T${i}`);
    const { body } = await app.get(`/v2/quotes?symbols=${list.slice(1).join(',')}`);
    expect(body.meta.count).toBe(180);
    const refused = await app.get(`/v2/quotes?symbols=${list.join(',')}`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_params']);
    expect(refused.body.error.message).toMatch(/^symbols: .*180/);
  });

  test.each([
    ['missing', ''],
    ['empty', '?symbols='],
    ['sent twice', '?symbols=SPY&symbols=AAPL'],
    ['with an empty part', '?symbols=SPY,,AAPL'],
    ['malformed', '?symbols=SPY,TOOLONGTICKER'],
    ['malformed otherwise', '?symbols=%3Cb%3E'],
  ])('answers 400 naming symbols when it is %s', async (_what, query) => {
    const { status, body } = await app.get(`/v2/quotes${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(/^symbols: /);
  });

  test('answers 401 without a credential', async () => {
    const { status, body } = await app.get('/v2/quotes?symbols=SPY', { credential: null });
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
  });
});

describe('a live quote', () => {
  async function live(symbol: string, sessionDate: string, eventTsMs: number, officialClose: number | null = null) {
    const data = { symbol, sessionDate, spot: 207, eventTsMs: BigInt(eventTsMs), volume: 9n, officialClose };
    await inTransaction(app.store, ({ prisma }) => prisma.liveQuote.create({ data }));
  }
  const quote = async (symbol: string) => (await app.get(`/v2/quotes?symbols=${symbol}`)).body.data[0];
  afterEach(() => inTransaction(app.store, async ({ prisma }) => void (await prisma.liveQuote.deleteMany())));

  test('of the current session wins over the daily bar and names its event', async () => {
    await live('AAPL', '2026-11-20', nowMs - 250);
    expect(await quote('AAPL')).toStrictEqual({
      ...empty('AAPL'),
      spot: 207,
      change_pct: 2.7295,
      volume: 9,
      official_close: 201.5,
      session_date: '2026-11-20',
      event_ts_ms: nowMs - 250,
    });
    await live('SPY', '2026-11-20', nowMs - 1, 414);
    expect(await quote('SPY')).toMatchObject({ spot: 207, official_close: 414, change_pct: -50 });
  });

  test('of a completed session gives way to its close', async () => {
    await live('AAPL', '2026-11-19', Date.parse('2026-11-20T00:30Z'));
    expect(await quote('AAPL')).toStrictEqual(aapl);
  });

  test('of an earlier session, of the future, or too old does not count', async () => {
    await live('SPY', '2026-11-19', Date.parse('2026-11-19T20:00Z'));
    await live('AAPL', '2026-11-20', nowMs + 1);
    await live('XOM', '2026-11-09', Date.parse('2026-11-09T20:00Z'));
    expect(await quote('SPY')).toStrictEqual(spy);
    expect(await quote('AAPL')).toStrictEqual(aapl);
    expect(await quote('XOM')).toStrictEqual(empty('XOM'));
  });

  test('is a price where there is no bar', async () => {
    await live('BRK.B', '2026-11-19', exchangeInstant('2026-11-19', 960));
    expect(await quote('BRK.B')).toMatchObject({ spot: 207, change_pct: null, session_date: '2026-11-19' });
  });
});

describe('the volume of an index', () => {
  const rows: Record<string, (url: string, authorization: string) => Promise<{ symbol: string; volume: unknown }>> = {
    'GET /v2/quotes': async () => (await app.get('/v2/quotes?symbols=XSP')).body.data[0],
    'GET /v2/screener/movers': async () => {
      const { body } = await app.get('/v2/screener/movers?limit=180', { credential: await app.session() });
      return body.data.find(({ symbol }: { symbol: string }) => symbol === 'XSP');
    },
    'GET /v2/stream': async (url, authorization) => {
      const reader = await readEvents(`${url}/v2/stream?topics=quotes:XSP`, { headers: { authorization } });
      await reader.next();
      const event = await reader.next();
      reader.leave();
      return event!.data;
    },
    'Query.quotes': async () =>
      (await app.graphql('{ quotes(symbols: "XSP") { rows { symbol volume } } }')).data.quotes.rows[0],
    'Subscription.quotes': async (url, authorization) => {
      const reader = await subscribe(
        url,
        authorization.slice(7),
        'subscription { quotes(symbols: "XSP") { symbol volume } }',
      );
      const event = await reader.next();
      reader.leave();
      return event!.data.data.quotes;
    },
  };

  test.each(Object.keys(rows))('is null at %s, live and of a daily bar', async (endpoint) => {
    const authorization = `Bearer ${await app.key()}`;
    const ask = () => rows[endpoint]!(app.url, authorization);
    expect(await ask()).toMatchObject({ symbol: 'XSP', volume: null });
    const live = { sessionDate: '2026-11-20', spot: 607, eventTsMs: nowMs - 1000, volume: 0, officialClose: null };
    await inTransaction(app.store, (tx) => saveLiveQuotes(tx, [{ symbol: 'XSP', ...live }]));
    await expect.poll(async () => (await app.get('/v2/quotes?symbols=XSP')).body.data[0].spot).toBe(607);
    expect(await ask()).toMatchObject({ symbol: 'XSP', volume: null });
  });
});

describe('quotes in the graph', () => {
  test('are the same rows, and lead to their symbols', async () => {
    const { data, errors } = await app.graphql(
      `{ quotes(symbols: ["aapl", "QQQQ"]) { meta { count restricted caps { tier } }
         rows { symbol spot change_pct: changePct net_gex: netGex gex_change: gexChange volume official_close: officialClose
                session_date: sessionDate event_ts_ms: eventTsMs node { registered spot { price } } } } }`,
    );
    expect(data.quotes.rows[0]).toEqual({ ...aapl, node: { registered: true, spot: { price: 201.5 } } });
    expect(data.quotes.rows[1]).toEqual({ ...empty('QQQQ'), node: { registered: false, spot: null } });
    expect(data.quotes.meta).toEqual({ count: 2, restricted: null, caps: { tier: 'pro' } });
    expect(errors).toMatchObject([{ path: ['quotes', 'rows', 1, 'node', 'spot'], extensions: { code: 'not_found' } }]);
  });

  test('the list is bounded there too', async () => {
    const query = 'query Q($symbols: [Ticker!]!) { quotes(symbols: $symbols) { meta { count } } }';
    for (const symbols of [[], Array.from({ length: 181 }, (_, i) => `T${i}`)]) {
      const { errors } = await app.graphql(query, { symbols });
      expect(errors).toMatchObject(
        [{ message: /^symbols: /, extensions: { code: 'invalid_params' } }].map((error) => ({
          ...error,
          message: expect.stringMatching(error.message),
        })),
      );
    }
  });

  test('on a symbol, what may not be read is null with the error of the rule at its path, and the rest stands', async () => {
    const credential = await app.key({ apiTier: 'free', classification: null });
    const { data, errors } = await app.graphql(
      `{ spy: symbol(symbol: "SPY") { quote { spot } } nvda: symbol(symbol: "NVDA") { name quote { spot } }
         xsp: symbol(symbol: "XSP") { quote { spot } } none: symbol(symbol: "QQQQ") { quote { symbol spot } } }`,
      {},
      { credential },
    );
    expect(data).toEqual({
      spy: { quote: { spot: 595.68 } },
      nvda: { name: 'NVDA Inc.', quote: null },
      xsp: { quote: null },
      none: { quote: { symbol: 'QQQQ', spot: null } },
    });
    expect(errors!.map(({ path, extensions }) => [path.join('.'), extensions.code]).sort()).toEqual([
      ['nvda.quote', 'not_entitled_tier'],
      ['xsp.quote', 'attestation_required'],
    ]);
  });
});

describe('without a bars source', () => {
  test('quotes and the edge answer 503, even where nothing would be read', async () => {
    const bare = await testApp({ store: await storeForThisTest(), env: { SOURCES: 'chain' } });
    try {
      for (const symbols of ['SPY', 'QQQQ']) {
        const { status, body } = await bare.get(`/v2/quotes?symbols=${symbols}`);
        expect([status, body.error.code]).toEqual([503, 'internal']);
      }
      const { data, errors } = await bare.graphql('{ symbol(symbol: "SPY") { name quote { spot } } }');
      expect(data.symbol).toEqual({ name: 'SPY Inc.', quote: null });
      expect(errors).toMatchObject([{ path: ['symbol', 'quote'], extensions: { code: 'internal' } }]);
    } finally {
      await bare.close();
    }
  });

  test('a source that fails answers 502', async () => {
    const broken = await testApp({ store: await storeForThisTest() });
    try {
      await broken.get('/v2/symbols');
      await broken.store.pool.query('alter table bar_blocks rename to bar_blocks_away');
      const { status, body } = await broken.get('/v2/quotes?symbols=SPY');
      expect([status, body.error.code]).toEqual([502, 'internal']);
      expect(body.error.message).not.toMatch(/bar_blocks/);
    } finally {
      await broken.close();
    }
  });
});
