import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exchangeDate, exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { type HandTimers, handTimers } from '../support/live.ts';
import { storeDays } from '../support/market.ts';

/*
 * The evening of a Monday: its session is current until the first print of Tuesday's is stored, by which every endpoint
 * goes over. Times are New York's.
 */
const [friday, monday, tuesday] = ['2026-11-13', '2026-11-16', '2026-11-17'];
const at = (date: string, hour: number, minute = 0) => exchangeInstant(date, hour * 60 + minute);
const contracts = { SPY: 'O:SPY261218C00600000', SPX: 'O:SPXW261218C06000000' };
const stamp = (ms: number) => ({ sip_timestamp: `${ms}000000` });
let id = 0;
const stock = (symbol: string, ms: number, price: number) => ({
  type: 'stock_print',
  symbol,
  exchange: 11,
  id: String(++id),
  sequence_number: id,
  price,
  size: 100,
  ...stamp(ms),
});
const option = (contract: string, ms: number) => ({
  type: 'option_print',
  contract,
  exchange: 302,
  conditions: [209],
  sequence_number: ++id,
  price: 5,
  size: 400,
  ...stamp(ms),
});

let app: TestApp;
let timers: HandTimers;
let key: string;

const take = (...lines: object[]) =>
  follow(app.store, Readable.from([Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))]), {
    source: 'tape',
    fromStart: false,
    everyMs: 0,
    now: () => app.clock.nowMs,
    stop: new AbortController().signal,
    gammaSource: 'solve' as const,
    rate: 0.045,
    onBadLine: ({ reason }) => expect(reason).toBe(''),
  });

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs: at(monday!, 17), every: timers.every });
  key = await app.key();
  await storeDays(app.store, 'SPY', { [friday!]: 500 });
  await storeDays(app.store, 'AAPL', { [friday!]: 200 });
  await take(
    ...[stock('SPY', at(monday!, 15, 59), 600), stock('AAPL', at(monday!, 15, 59), 210)],
    ...[option(contracts.SPY, at(monday!, 15)), option(contracts.SPX, at(monday!, 15))],
  );
});
afterAll(() => app.close());

const data = async (path: string): Promise<Json> => (await app.get(path)).body;
const graph = async (query: string): Promise<Json> => {
  const { data: answer, errors } = await app.graphql(query, {}, { credential: key });
  expect(errors ?? []).toEqual([]);
  return answer;
};
const contract = encodeURIComponent(contracts.SPX);

/** A stream, of which the next event of a name that is wanted can be asked for. */
async function stream(topics: string) {
  const reader = await readEvents(`${app.url}/v2/stream?topics=${encodeURIComponent(topics)}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  onTestFinished(() => reader.leave());
  async function next(name: string, isWanted: (value: Json) => boolean = () => true): Promise<Json> {
    for (;;) {
      // Events of several topics come in any order.
      const come = reader.events.find((sent) => sent.event === name && isWanted(sent.data));
      if (come) return come.data;
      const sent = await reader.next();
      if (sent === null) throw new Error(`${topics} ended: ${JSON.stringify(reader.events)}`);
    }
  }
  return { next, leave: reader.leave };
}

/** Answers that name the current session, by endpoint. */
const endpoints: Record<string, () => Promise<Json>> = {
  'option bars, the default': async () => (await data(`/v2/options/${contract}/bars`)).meta.session,
  'cross-section, the default': async () =>
    (await data('/v2/flow/SPX/cross-section')).data.snapshot.coverage.session_date,
  'cross-section in the graph': async () =>
    (await graph('{ symbol(symbol: "SPX") { flow { crossSection { snapshot { coverage { sessionDate } } } } } }'))
      .symbol.flow.crossSection.snapshot.coverage.sessionDate,
  quotes: async () => (await data('/v2/quotes?symbols=SPY')).data[0].session_date,
  'quotes in the graph': async () =>
    (await graph('{ quotes(symbols: ["SPY"]) { rows { sessionDate } } }')).quotes.rows[0].sessionDate,
  'quotes of the stream': async () => {
    const { next, leave } = await stream('quotes:SPY');
    const { session_date: date } = await next('quotes');
    leave();
    return date;
  },
  'the newest day bar of the stream': async () => {
    const { next, leave } = await stream('bars:SPY:1d');
    const { ts_ms: startMs } = await next('bars');
    leave();
    return exchangeDate(startMs);
  },
  'the last session of a symbol': async () =>
    (await graph('{ symbol(symbol: "SPY") { lastSession } }')).symbol.lastSession,
  'the plane of sessions': async () => {
    const planeOf = async (date: string) =>
      Promise.all(
        [
          `/v2/flow/SPX/cross-section?session=${date}`,
          `/v2/flow/large-trades?symbol=SPX&session=${date}`,
          `/v2/flow/eod?symbol=SPY&session=${date}`,
          `/v2/options/${contract}/bars?session=${date}`,
        ].map(async (path) => [path, (await data(path)).meta.plane]),
      );
    // The first session that is not sealed.
    for (const date of [friday!, monday!, tuesday!]) {
      const planes = await planeOf(date);
      expect(new Set(planes.map(([, plane]) => plane)).size, JSON.stringify(planes)).toBe(1);
      if (planes[0]![1] === 'live') return date;
    }
  },
  'the plane of bars': async () => {
    for (const date of [friday!, monday!, tuesday!]) {
      const path = `/v2/stocks/SPY/bars?from=${at(date, 9)}&to=${at(date, 19)}`;
      const { meta } = await data(path);
      expect((await app.get(path)).headers.etag !== undefined).toBe(meta.plane === 'archive');
      if (meta.plane === 'live') return date;
    }
  },
};

const shown = async () =>
  Object.fromEntries(await Promise.all(Object.entries(endpoints).map(async ([name, ask]) => [name, await ask()])));
const all = (date: string) => Object.fromEntries(Object.keys(endpoints).map((name) => [name, date]));
const quote = async (symbol: string) => (await data(`/v2/quotes?symbols=${symbol}`)).data[0];

describe('every endpoint has the same current session', () => {
  test('the one in progress before 20:00', async () => {
    expect(await shown()).toEqual(all(monday!));
  });

  test('the one that ended, from 20:00 on until a print is stored', async () => {
    app.clock.nowMs = at(monday!, 20, 30);
    expect(await shown()).toEqual(all(monday!));
    expect(await quote('SPY')).toMatchObject({ spot: 600, official_close: 500, change_pct: 20 });
  });

  test('the next trade date once its first print is stored, in the streams that are open too', async () => {
    const { next } = await stream('quotes:SPY,bars:SPY:1m');
    expect(await next('bars')).toMatchObject({ ts_ms: at(monday!, 15, 59) });
    app.clock.nowMs = at(monday!, 20, 45);
    await take(stock('SPY', at(monday!, 20, 40), 630), option(contracts.SPX, at(monday!, 20, 41)));
    await expect.poll(shown, { timeout: 20_000 }).toEqual(all(tuesday!));
    expect(await quote('SPY')).toMatchObject({ spot: 630, official_close: 600, change_pct: 5, volume: 100 });
    // Nothing of it traded in the new session: the price of the last one that it has.
    expect(await quote('AAPL')).toMatchObject({ session_date: monday, spot: 210, official_close: 200 });
    expect(await next('quotes', ({ session_date: date }) => date === tuesday)).toMatchObject({ spot: 630 });
    expect(await next('bars', ({ ts_ms: ms }) => ms >= at(monday!, 20))).toMatchObject({ ts_ms: at(monday!, 20, 40) });
  });

  test('and the session that ended keeps what it has', async () => {
    const ended = await data(`/v2/flow/SPX/cross-section?session=${monday}`);
    expect(ended.data.snapshot.update.by_expiration[0].measures.call_volume).toBe(400);
    const daily = await data(`/v2/stocks/SPY/bars?timeframe=1d&from=${friday}&to=2026-11-18`);
    expect(daily.data.map((bar: Json) => [bar.ts_ms, bar.close])).toEqual([
      [at(friday!, 0), 500],
      [at(monday!, 0), 600],
      [at(tuesday!, 0), 630],
    ]);
    // A day that ends at midnight reaches into the new session by its evening.
    const day = await data(`/v2/stocks/SPY/bars?from=${monday}&to=${tuesday}`);
    expect(day.meta.plane).toBe('live');
  });
});
