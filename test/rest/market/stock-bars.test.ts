import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isTradingDay } from '../../../src/core/domain/calendar.ts';
import { toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { addDays, epochDay, exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { writeCursor } from '../../../src/resolvers/cursor.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York. Minute bars of SPY on every session since 2026-11-02, one bar a minute
// 09:30–15:59.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

function minutes(date: string) {
  return Array.from({ length: 390 }, (_, i) => {
    const price = 600 + (epochDay(date) % 50) + i / 100;
    return {
      tsMs: exchangeInstant(date, 570 + i),
      open: price,
      high: price + 0.05,
      low: price - 0.05,
      close: price + 0.01,
      volume: 1000 + i,
      vwap: i % 2 ? price + 0.0012 : null,
      tradeCount: i % 2 ? 10 + i : null,
    };
  });
}

beforeAll(async () => {
  app = await testApp({ nowMs });
  const days: string[] = [];
  for (let date = '2026-11-02'; date <= '2026-11-20'; date = addDays(date, 1)) if (isTradingDay(date)) days.push(date);
  const bars = toBarColumns(days.flatMap(minutes));
  const daily = toBarColumns(
    days.map((date) => ({
      tsMs: exchangeInstant(date),
      open: 1,
      high: 2,
      low: 1,
      close: 2,
      volume: 5_000_000_000,
      vwap: null,
      tradeCount: null,
    })),
  );
  await inTransaction(app.store, async (tx) => {
    await writeBars(tx, '1m', [{ symbol: 'SPY', bars }]);
    await writeBars(tx, '1d', [{ symbol: 'SPY', bars: daily }]);
    await writeBars(tx, '1m', [
      {
        symbol: 'BRK.B',
        bars: toBarColumns([
          {
            tsMs: exchangeInstant('2026-11-19', 570),
            open: 700_000,
            high: 700_001,
            low: 699_999.5,
            close: 700_000,
            volume: 3,
            vwap: 700_000.25,
            tradeCount: 1,
          },
        ]),
      },
    ]);
  });
});
afterAll(() => app.close());

const bars = (query: string, sending = {}) => app.get(`/v2/stocks/SPY/bars?${query}`, sending);
const session = 'from=2026-11-19T09:30&to=2026-11-19T16:00';

describe('GET /v2/stocks/{symbol}/bars', () => {
  test('serves every field of a bar, ascending, null where the source gives none', async () => {
    const { status, body } = await bars(session);
    expect(status).toBe(200);
    expect(body.data).toHaveLength(390);
    const price = 600 + (epochDay('2026-11-19') % 50);
    expect(body.data[0]).toEqual({
      symbol: 'SPY',
      timeframe: '1m',
      ts_ms: exchangeInstant('2026-11-19', 570),
      open: price,
      high: price + 0.05,
      low: price - 0.05,
      close: price + 0.01,
      volume: 1000,
      vwap: null,
      trade_count: null,
    });
    expect(body.data[1]).toMatchObject({ volume: 1001, vwap: expect.closeTo(price + 0.0112, 9), trade_count: 11 });
    const starts = body.data.map((bar: { ts_ms: number }) => bar.ts_ms);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });

  test('meta says how many, how far complete, under which tier, and has no cursor at the end', async () => {
    const { body, headers } = await bars(session);
    expect(body.meta).toEqual({
      caps: { applied: [], tier: 'pro' },
      row_count: 390,
      complete_through: exchangeInstant('2026-11-19', 570 + 389),
      plane: 'archive',
    });
    expect(headers).toMatchObject({
      'cache-control': 'private',
      vary: 'Accept, Accept-Encoding, Authorization, X-API-Key',
      'x-ratelimit-limit': '1000000',
    });
    expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  });

  test('is half-open: from is in, to is not', async () => {
    const { body } = await bars('from=2026-11-19T09:30&to=2026-11-19T09:32');
    expect(body.data.map((bar: { ts_ms: number }) => bar.ts_ms)).toEqual([
      exchangeInstant('2026-11-19', 570),
      exchangeInstant('2026-11-19', 571),
    ]);
  });

  test.each([
    ['epoch ms', `from=${exchangeInstant('2026-11-19', 570)}&to=${exchangeInstant('2026-11-19', 572)}`],
    ['a zone', 'from=2026-11-19T15:30&to=2026-11-19T15:32&tz=Europe/Berlin'],
    ['a trailing Z, which wins over tz', 'from=2026-11-19T14:30:00Z&to=2026-11-19T14:32:00.000Z&tz=Europe/Berlin'],
    [
      'an offset',
      `from=${encodeURIComponent('2026-11-19T15:30+01:00')}&to=${encodeURIComponent('2026-11-19T15:32+01:00')}`,
    ],
    ['an offset whose plus is not percent-encoded', 'from=2026-11-19T15:30+01:00&to=2026-11-19T15:32+01:00'],
  ])('reads times as %s', async (_form, query) => {
    expect((await bars(query)).body.data).toHaveLength(2);
  });

  test('the current session is live: not to be stored, complete only 15 s after a bar ends, nothing later than the clock', async () => {
    const { body, headers } = await bars('from=2026-11-20&to=2026-11-21');
    expect(body.data.at(-1).ts_ms).toBe(nowMs);
    expect(body.meta).toMatchObject({ plane: 'live', complete_through: nowMs - 120_000 });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
  });

  test('a longer bar in progress holds nothing later than the clock either', async () => {
    const { nowMs: then } = app.clock;
    const minute = minutes('2026-11-19');
    await inTransaction(app.store, async (tx) => {
      await writeBars(tx, '5m', [{ symbol: 'SPY', bars: toBarColumns([{ ...minute[60]!, high: 9999, close: 9999 }]) }]);
    });
    app.clock.nowMs = exchangeInstant('2026-11-19', 570 + 62);
    const { body } = await bars('from=2026-11-19&to=2026-11-20&tf=5m');
    const day = await bars('from=2026-11-19&to=2026-11-20&tf=1d');
    app.clock.nowMs = then;
    expect(body.data).toEqual([
      expect.objectContaining({
        ts_ms: minute[60]!.tsMs,
        open: minute[60]!.open,
        high: minute[62]!.high,
        close: minute[62]!.close,
        volume: 1060 + 1061 + 1062,
      }),
    ]);
    expect(body.meta.complete_through).toBeNull();
    expect(day.body.data).toEqual([expect.objectContaining({ open: minute[0]!.open, close: minute[62]!.close })]);
    expect((await bars('from=2026-11-19&to=2026-11-20&tf=5m')).body.data[0].close).toBe(9999);
  });

  test('tf is an alias of timeframe, which wins', async () => {
    expect((await bars('from=2026-11-16&to=2026-11-20&tf=1d')).body.data).toHaveLength(4);
    expect((await bars('from=2026-11-16&to=2026-11-20&timeframe=1d&tf=1m')).body.data[0]).toMatchObject({
      timeframe: '1d',
      ts_ms: exchangeInstant('2026-11-16'),
      volume: 5_000_000_000,
    });
  });

  test('a symbol in any case and percent-encoded', async () => {
    expect((await app.get(`/v2/stocks/%73py/bars?${session}`)).body.data[0].symbol).toBe('SPY');
    expect((await app.get(`/v2/stocks/brk%2Eb/bars?${session}`)).body.data).toHaveLength(1);
  });

  test('a real ticker without bars, in or out of the registry, is empty; a string that is none is 404', async () => {
    for (const symbol of ['AAPL', 'ZZZ']) {
      const { status, body } = await app.get(`/v2/stocks/${symbol}/bars?${session}`);
      expect([status, body.data, body.meta.complete_through]).toEqual([200, [], null]);
    }
    for (const symbol of ['QQQQ', 'NOTATICKER', '%20', '1X']) {
      const missing = await app.get(`/v2/stocks/${symbol}/bars?${session}`);
      expect([missing.status, missing.body.error.code]).toEqual([404, 'not_found']);
    }
  });

  test('a range of one date twice is empty and says why; one that may hold bars says nothing', async () => {
    const { body } = await bars('from=2026-11-19&to=2026-11-19');
    expect(body).toMatchObject({ data: [], meta: { row_count: 0, complete_through: null } });
    expect(body.meta.note).toContain('`to` is exclusive');
    expect((await bars('from=2026-11-15&to=2026-11-16')).body.meta).not.toHaveProperty('note');
  });

  test('a key that asks beyond now gets the newest bars, page after page as the clock goes on', async () => {
    try {
      const query = 'from=2026-11-02&to=2027-11-20&limit=1000';
      const first = await bars(query);
      expect(first.body.meta.caps.applied).toEqual(['range_clamped']);
      expect(first.body.data[0].ts_ms).toBe(exchangeInstant('2026-11-13', 720));
      app.clock.nowMs += 60_000;
      const next = await bars(`${query}&cursor=${first.body.meta.cursor}`);
      expect(next.status).toBe(200);
      expect(next.body.data[0].ts_ms).toBeGreaterThan(first.body.data.at(-1).ts_ms);
    } finally {
      app.clock.nowMs = nowMs;
    }
  });

  test.each([
    ['from', 'to=2026-11-19'],
    ['to', 'from=2026-11-19'],
    ['from', 'from=&to=2026-11-19'],
    ['from', 'from=yesterday&to=2026-11-19'],
    ['from', 'from=2026-11-20&to=2026-11-19'],
    ['from', 'from=-1&to=2026-11-19'],
    ['from', 'from=12345678901234567890&to=2026-11-19'],
    ['from', 'from=2026-11-18&from=2026-11-19&to=2026-11-20'],
    ['timeframe', `${session}&timeframe=2m`],
    ['tf', `${session}&tf=1M`],
    ['tz', `${session}&tz=Mars/Base`],
    ['limit', `${session}&limit=0`],
    ['limit', `${session}&limit=ten`],
    ['source', `${session}&source=mid`],
    ['source', `${session}&source=quotes`],
    ['cursor', `${session}&cursor=abc`],
  ])('a bad %s is a 400 that names it (%s)', async (name, query) => {
    const { status, body } = await bars(query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(new RegExp(`^${name}: `));
    expect(body.error.details).toEqual({ parameter: name });
  });

  test('source=trade and unknown parameters are fine', async () => {
    expect((await bars(`${session}&source=trade&colour=blue`)).body.data).toHaveLength(390);
  });
});

describe('pages of stock bars', () => {
  async function walk(query: string, sending = {}) {
    const rows: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { status, body } = await bars(`${query}${cursor ? `&cursor=${cursor}` : ''}`, sending);
      expect(status).toBe(200);
      rows.push(...body.data);
      cursor = body.meta.cursor;
      pages++;
    } while (cursor);
    return { rows, pages };
  }

  test('one after another are the unpaged answer, whatever the limit', async () => {
    const session = await app.session();
    const range = 'from=2026-11-16&to=2026-11-20';
    const whole = await bars(range, { credential: session });
    expect(whole.body.data).toHaveLength(4 * 390);
    expect(whole.body.meta.cursor).toBeUndefined();
    for (const limit of [1000, 391, 390, 389, 97]) {
      const { rows, pages } = await walk(`${range}&limit=${limit}`, { credential: session });
      expect(rows).toEqual(whole.body.data);
      expect(pages).toBe(Math.ceil(1560 / limit));
    }
    expect((await walk(range)).rows).toEqual(whole.body.data);
  });

  test('a cursor of another symbol, timeframe or window, or one changed by a letter, is refused', async () => {
    const { body } = await bars('from=2026-11-16&to=2026-11-20&limit=10');
    const { cursor } = body.meta;
    const changed = (cursor[20] === 'A' ? 'B' : 'A') + cursor.slice(21);
    for (const path of [
      `/v2/stocks/AAPL/bars?from=2026-11-16&to=2026-11-20&limit=10&cursor=${cursor}`,
      `/v2/stocks/SPY/bars?from=2026-11-16&to=2026-11-20&tf=5m&cursor=${cursor}`,
      `/v2/stocks/SPY/bars?from=2026-11-17&to=2026-11-20&cursor=${cursor}`,
      `/v2/stocks/SPY/bars?from=2026-11-16&to=2026-11-20&cursor=${cursor.slice(0, 20)}${changed}`,
    ]) {
      const answer = await app.get(path);
      expect([answer.status, answer.body.error.message.split(':')[0]]).toEqual([400, 'cursor']);
    }
  });

  test('a cursor made by hand that holds no position is refused, though its checksum is right', async () => {
    const bound = ['SPY', '1m', exchangeInstant('2026-11-16'), exchangeInstant('2026-11-20')];
    for (const position of ['', 'NaN', '1e3', '99999999999999999']) {
      const answer = await bars(`from=2026-11-16&to=2026-11-20&cursor=${writeCursor(position, bound)}`);
      expect([answer.status, answer.body.error.message.split(':')[0]]).toEqual([400, 'cursor']);
    }
  });

  test('an API key gets at most 1,000 bars a page and a week of minutes, clamped and reported', async () => {
    const large = await bars('from=2026-11-16&to=2026-11-20&limit=5000');
    expect(large.body.data).toHaveLength(1000);
    expect(large.body.meta.caps.applied).toEqual(['limit_clamped']);
    const long = await bars('from=2026-11-02&to=2026-11-20');
    expect(long.body.meta.caps.applied).toEqual(['range_clamped']);
    expect(long.body.data[0].ts_ms).toBe(exchangeInstant('2026-11-13', 570));
    const both = await bars('from=2026-11-02&to=2026-11-20&limit=1001');
    expect(both.body.meta.caps.applied).toEqual(['range_clamped', 'limit_clamped']);
    expect((await bars('from=2026-11-13&to=2026-11-20')).body.meta.caps.applied).toEqual([]);
    expect((await bars('from=2024-11-20&to=2026-11-20&tf=1d')).body.meta.caps.applied).toEqual([]);
    expect((await bars('from=2024-11-19&to=2026-11-20&tf=1d')).body.meta.caps.applied).toEqual(['range_clamped']);
  });

  test('a week across a clock change is a week', async () => {
    expect((await bars('from=2026-10-30&to=2026-11-06')).body.meta.caps.applied).toEqual([]);
    expect((await bars('from=2026-03-06&to=2026-03-13')).body.meta.caps.applied).toEqual([]);
  });

  test('a site session is not clamped below 50,000', async () => {
    const session = await app.session();
    const { body } = await bars('from=2026-11-02&to=2026-11-20&limit=50001', { credential: session });
    expect(body.meta.caps).toEqual({ applied: ['limit_clamped'], tier: 'pro' });
    expect(body.data).toHaveLength(14 * 390);
  });
});

describe('a past session of bars', () => {
  test('answers If-None-Match with 304, and keeps a tag for each encoding', async () => {
    const first = await bars(session);
    expect(first.headers.etag).toMatch(/^"[\w-]+"$/);
    const again = await bars(session, { headers: { 'If-None-Match': first.headers.etag! } });
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, first.headers.etag]);
    expect(again.headers['x-request-id']).toBeDefined();
    const zipped = await bars(session, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.headers.etag).not.toBe(first.headers.etag);
    expect(
      (await bars(session, { headers: { 'Accept-Encoding': 'gzip', 'If-None-Match': first.headers.etag! } })).status,
    ).toBe(200);
    expect((await bars(`${session}&limit=5`)).headers.etag).not.toBe(first.headers.etag);
  });
});

describe('stock bars as protobuf', () => {
  async function decoded(path: string) {
    const [proto, answer] = await Promise.all([
      app.get('/v2/rest-protocol.proto', { credential: null }),
      app.get(path, { headers: { Accept: 'application/x-protobuf' } }),
    ]);
    const type = protobuf.parse(proto.bytes.toString()).root.lookupType('tapegraph.rest.v2.BarsResponse');
    return { answer, message: type.toObject(type.decode(answer.bytes), { longs: Number, defaults: false }) as Json };
  }

  test('says the same as JSON, meta in headers', async () => {
    const path = '/v2/stocks/SPY/bars?from=2026-11-19&to=2026-11-20&limit=200';
    const [{ answer, message }, json] = await Promise.all([decoded(path), app.get(path)]);
    expect(answer.headers['content-type']).toBe('application/x-protobuf');
    expect(message.priceScale).toBe(10_000);
    const rows = message.bars.map((bar: Record<string, number>) => ({
      symbol: 'SPY',
      timeframe: '1m',
      ts_ms: bar.tsMs,
      open: bar.o! / 1e4,
      high: bar.h! / 1e4,
      low: bar.l! / 1e4,
      close: bar.c! / 1e4,
      volume: bar.v,
      vwap: bar.vwap === undefined ? null : bar.vwap / 1e4,
      trade_count: bar.n ?? null,
    }));
    const rounded = json.body.data.map((bar: Record<string, number | null>) =>
      Object.fromEntries(
        Object.entries(bar).map(([key, value]) => [
          key,
          ['open', 'high', 'low', 'close', 'vwap'].includes(key) && value !== null
            ? Math.round(value! * 1e4) / 1e4
            : value,
        ]),
      ),
    );
    expect(rows).toEqual(rounded);
    expect(message.completeThroughMs).toBe(json.body.meta.complete_through);
    expect(message.cursor).toBe(json.body.meta.cursor);
    const { plane, caps, ...extra } = json.body.meta;
    expect(answer.headers['x-itm-plane']).toBe(plane);
    expect(JSON.parse(answer.headers['x-itm-caps'] as string)).toEqual(caps);
    expect(JSON.parse(answer.headers['x-itm-extra'] as string)).toEqual(extra);
    expect(answer.headers.etag).not.toBe(json.headers.etag);
  });

  test('carries the official close of the session before', async () => {
    const { message } = await decoded(`/v2/stocks/SPY/bars?${session}`);
    expect(message.priorCloseScaled).toBe(20_000);
  });

  test('leaves a volume over uint32 unset, and chooses a smaller scale for prices that need it', async () => {
    const daily = await decoded('/v2/stocks/SPY/bars?from=2026-11-19&to=2026-11-20&tf=1d');
    expect(daily.message.bars[0].v).toBeUndefined();
    const dear = await decoded(`/v2/stocks/BRK.B/bars?${session}`);
    expect(dear.message.priceScale).toBe(1000);
    expect(dear.message.bars[0]).toMatchObject({ o: 700_000_000, l: 699_999_500, vwap: 700_000_250 });
  });

  test('is not what */* or a browser asks for, and errors stay JSON', async () => {
    for (const Accept of ['*/*', 'text/html', 'application/json, application/x-protobuf;q=0.5']) {
      expect((await bars(session, { headers: { Accept } })).headers['content-type']).toBe(
        'application/json; charset=utf-8',
      );
    }
    const failed = await bars('from=x&to=y', { headers: { Accept: 'application/x-protobuf' } });
    expect([failed.status, failed.body.error.code]).toEqual([400, 'invalid_params']);
  });
});

describe('stock bars in the graph', () => {
  test('as rows and as columns', async () => {
    const { data, errors, extensions } = await app.graphql(
      `{ symbol(symbol: "spy") { bars(from: "2026-11-19T09:30", to: "2026-11-19T09:32") { rows { tsMs close vwap } columns { tsMs close vwap volume } meta { rowCount cursor plane caps { applied tier } } } } }`,
    );
    expect(errors).toBeUndefined();
    const { rows, columns } = data.symbol.bars;
    expect(columns.tsMs).toEqual(rows.map((row: { tsMs: number }) => row.tsMs));
    expect(columns.vwap).toEqual(rows.map((row: { vwap: number | null }) => row.vwap));
    expect(columns.volume).toEqual([1000, 1001]);
    expect(extensions.cost).toMatchObject({ requests: 1 });
  });

  test('a field that cannot be read is null with an error at its path, and the rest stands', async () => {
    const key = await app.key({ apiTier: 'free' });
    const { data, errors } = await app.graphql(
      `{ a: symbol(symbol: "NVDA") { symbol bars(from: "2026-11-19", to: "2026-11-20") { meta { rowCount } } } b: symbol(symbol: "SPY") { bars(from: "2026-11-19", to: "2026-11-20") { meta { rowCount } } } }`,
      {},
      { credential: key },
    );
    expect(data).toEqual({ a: { symbol: 'NVDA', bars: null }, b: { bars: { meta: { rowCount: 390 } } } });
    expect(errors).toEqual([
      expect.objectContaining({
        path: ['a', 'bars'],
        extensions: expect.objectContaining({ code: 'not_entitled_tier' }),
      }),
    ]);
  });

  test('many symbols cost one read of bars and one of splits', async () => {
    const count = async (symbols: string[]) => {
      // A second later, so that no answer of before is given again.
      app.clock.nowMs += 1000;
      const fields = symbols.map(
        (symbol, i) =>
          `s${i}: symbol(symbol: "${symbol}") { bars(from: "2026-11-17", to: "2026-11-18") { meta { rowCount } } }`,
      );
      return withoutCommits(await statementsOf(() => app.graphql(`{ ${fields.join(' ')} }`))).length;
    };
    const six = ['SPY', 'AAPL', 'MSFT', 'XOM', 'ZZZ', 'BRK.B'];
    await count(['SPY']);
    expect(await count(six)).toBe(2);
    expect(await count(six)).toBe(0);
  });
});
