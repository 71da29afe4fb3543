import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { removeFlow } from '../../src/store/flow/sessions.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { type EventReader, readEvents, type SentEvent } from '../support/event-reader.ts';
import { fillSockets } from '../support/fill-sockets.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { type HandTimers, handTimers, minutes, snapshot, trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';
import { gexCapture, saveCaptures } from '../support/option-market.ts';
import { statementsOf } from '../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-20';
let app: TestApp;
let timers: HandTimers;
let key: string;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs, every: timers.every });
  key = await app.key();
  for (const symbol of ['SPY', 'AAPL', 'NVDA'])
    await storeDays(app.store, symbol, { '2026-11-18': 500, '2026-11-19': 600 });
});
afterAll(() => app.close());

interface Opening {
  credential?: string;
  after?: string | undefined;
  on?: TestApp;
}

async function open(topics: string, { credential = key, after, on = app }: Opening = {}): Promise<EventReader> {
  const reader = await readEvents(`${on.url}/v2/stream?topics=${encodeURIComponent(topics)}`, {
    headers: { authorization: `Bearer ${credential}`, ...(after === undefined ? {} : { 'last-event-id': after }) },
  });
  onTestFinished(() => reader.leave());
  return reader;
}

/** A stream in progress, and where it stands. */
async function ready(topics: string, opening: Opening = {}): Promise<EventReader & { id: string }> {
  const reader = await open(topics, opening);
  expect(reader.status).toBe(200);
  const first = await reader.next();
  expect(first).toMatchObject({ event: 'ready', id: expect.any(String) });
  return { ...reader, id: first!.id! };
}

async function take(reader: EventReader, count: number): Promise<SentEvent[]> {
  const found: SentEvent[] = [];
  while (found.length < count) found.push((await reader.next())!);
  return found;
}

async function nothingLeft(): Promise<void> {
  // As long as it takes on a busy machine: what is stored reaches the streams by a notification of the database.
  await expect.poll(() => app.live.counts(), { timeout: 30_000 }).toEqual({ streams: 0, topics: 0 });
}

let lastSeq = 0;
/** Large trades of ever new sequences, `[underlying, contracts]`, a minute before now. */
function events(...wanted: [string, number][]) {
  return wanted.map(([symbol, size]) => {
    const seq = ++lastSeq;
    const one = leg(`O:${symbol}261218C00600000`, nowMs - 60_000 + seq, { size, sequence: seq });
    return largeTrade([one], seq, coverage(session, 715));
  });
}
const seqs = (found: readonly SentEvent[]) => found.map(({ data }) => data.seq);

describe('GET /v2/stream', () => {
  test('tells quotes as the route of quotes does, under their topic', async () => {
    const reader = await ready('quotes:spy,AAPL');
    expect(reader.events[0]!.data).toEqual({ topics: ['quotes:SPY', 'quotes:AAPL'] });
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-ratelimit-limit': '1000000',
      'x-request-id': expect.any(String),
    });
    await take(reader, 2);
    await trade(app.store, { SPY: 603 }, nowMs - 5000);
    const [event] = await take(reader, 1);
    const { body } = await app.get('/v2/quotes?symbols=SPY');
    expect(event).toEqual({ event: 'quotes', id: expect.any(String), data: body.data[0] });
    reader.leave();
    await nothingLeft();
  });

  test('tells bars: the newest, each new one, and those that change', async () => {
    await minutes(app.store, 'AAPL', session, 0, [
      [200, 10],
      [201, 20],
    ]);
    const reader = await ready('bars:AAPL:1m');
    const [first] = await take(reader, 1);
    const { body } = await app.get(`/v2/stocks/AAPL/bars?from=${session}&to=2026-11-21&timeframe=1m`);
    expect(first!.data).toEqual(body.data[1]);
    await minutes(app.store, 'AAPL', session, 1, [
      [201, 25],
      [202, 5],
    ]);
    expect((await take(reader, 2)).map(({ data }) => [data.close, data.volume])).toEqual([
      [201, 25],
      [202, 5],
    ]);
    // A late print changes a bar that was sent.
    await minutes(app.store, 'AAPL', session, 0, [[200, 11]]);
    expect((await take(reader, 1))[0]!.data).toMatchObject({ ts_ms: exchangeInstant(session, 570), volume: 11 });
  });

  test('tells no more of a bar than the clock has come to', async () => {
    await minutes(app.store, 'NVDA', session, 148, [
      [100, 1],
      [101, 2],
      [102, 4],
      [103, 8],
    ]);
    // 11:58 to 12:01, of which the last is later than now; the five minutes as a file would hold them.
    const whole = { tsMs: exchangeInstant(session, 720), open: 102, high: 103, low: 102, close: 103, volume: 12 };
    await inTransaction(app.store, (tx) =>
      writeBars(tx, '5m', [{ symbol: 'NVDA', bars: toBarColumns([{ ...whole, vwap: null, tradeCount: null }]) }]),
    );
    const reader = await ready('bars:NVDA:5m');
    expect((await take(reader, 1))[0]!.data).toMatchObject({ ts_ms: nowMs, close: 102, volume: 4 });
    app.clock.nowMs = nowMs + 60_000;
    timers.sweep();
    expect((await take(reader, 1))[0]!.data).toMatchObject({ ts_ms: nowMs, close: 103, volume: 12 });
    app.clock.nowMs = nowMs;
  });

  test('tells captures: the latest, then each, with as many strikes as wanted', async () => {
    const at = (minute: number, gex: number) =>
      gexCapture('SPY', exchangeInstant(session, minute), [
        { strike: 600_000, expiry: '2026-12-18', gex },
        { strike: 610_000, expiry: '2026-12-18', gex: 3 * gex },
      ]);
    await saveCaptures(app.store, { gex: [at(600, 5), at(605, 6)] });
    const reader = await ready('gex:SPY:1');
    const { body } = await app.get(`/v2/gex/SPY/history?date=${session}&top=1`);
    expect((await take(reader, 1))[0]!.data).toEqual({ symbol: 'SPY', ...body.data.captures[1] });
    // Two in one commit, and one that is made again.
    await saveCaptures(app.store, { gex: [at(610, 7), at(615, 8)] });
    expect((await take(reader, 2)).map(({ data }) => data.strikes[0].gex)).toEqual([21, 24]);
    await saveCaptures(app.store, { gex: [at(615, 9)] });
    expect((await take(reader, 1))[0]!.data.strikes[0].gex).toBe(27);
  });

  test('tells cross-sections: the latest, then each that follows', async () => {
    await snapshot(app.store, 'SPY', session, 1, 10);
    const reader = await ready('cross-section:SPY');
    const { body } = await app.get('/v2/flow/SPY/cross-section');
    expect((await take(reader, 1))[0]!.data).toEqual(body.data.snapshot);
    await snapshot(app.store, 'SPY', session, 2, 20);
    expect((await take(reader, 1))[0]!.data).toMatchObject({ seq: 2 });
  });

  test('tells large trades by symbol and premium', async () => {
    const all = await ready('large-trades:*:0');
    const some = await ready('large-trades:AAPL,large-trades:SPY:300000');
    const stored = events(['SPY', 1000], ['AAPL', 1000], ['SPY', 2000]);
    await storeLargeTrades(app.store, stored);
    const [a, b, c] = stored.map(({ seq }) => seq);
    const told = await take(all, 3);
    expect(seqs(told)).toEqual([a, b, c]);
    const { body } = await app.get('/v2/flow/large-trades?symbol=AAPL&limit=1');
    expect(told[1]!.data).toEqual(body.data.events[0]);
    expect(seqs(await take(some, 2)).sort()).toEqual([b, c]);
  });

  test.each([
    ['foo:SPY', '"foo:SPY"'],
    ['SPY', '"SPY"'],
    ['quotes:', 'expected a ticker'],
    ['quotes:SPY:1m', 'quotes takes no option'],
    ['quotes:*', 'expected a ticker'],
    ['quotes:SPY,bars:SPY:2m', 'one of 1s, 1m, 5m, 1h, 1d as timeframe'],
    ['gex:SPY:0', 'a number of strikes'],
    ['large-trades:*:lots', 'a minimum premium in dollars'],
    ['quotes:SPY,AAPL:1m', '"AAPL:1m"'],
    ['quotes:SPY,,AAPL', '""'],
    [
      Array.from({ length: 51 }, (_, i) => `gex:A${String.fromCharCode(65 + (i % 26))}${i < 26 ? '' : 'X'}`).join(),
      'at most 50',
    ],
    [
      Array.from({ length: 181 }, (_, i) => String.fromCharCode(65 + (i % 26), 65 + Math.floor(i / 26), 65))
        .join()
        .replace(/^/, 'quotes:'),
      'at most 180',
    ],
  ])('refuses the topics %s, and says why', async (topics, words) => {
    const { status, body } = await app.get(`/v2/stream?topics=${encodeURIComponent(topics)}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toContain(words);
  });

  test('refuses what the routes refuse, before it begins, and leaves nothing open', async () => {
    const refused = async (topics: string, account: Parameters<TestApp['key']>[0]) => {
      const { status, body } = await app.get(`/v2/stream?topics=${topics}`, { credential: await app.key(account) });
      return [status, body.error.code];
    };
    expect(await refused('quotes:SPY,large-trades:*:0', { apiTier: 'basic' })).toEqual([403, 'not_entitled_tier']);
    expect(await refused('large-trades:SPY', { classification: null })).toEqual([403, 'attestation_required']);
    expect(await refused('cross-section:SPY', { apiTier: 'free' })).toEqual([403, 'not_entitled_tier']);
    expect(await refused('bars:NVDA', { apiTier: 'basic' })).toEqual([403, 'not_entitled_tier']);
    expect(await refused('gex:SPX', { classification: null })).toEqual([403, 'attestation_required']);
    expect(await refused('quotes:NVDA', { apiTier: 'free' })).toEqual([403, 'not_entitled_tier']);
    expect(await refused('bars:QQQQQ', {})).toEqual([404, 'not_found']);
    expect((await app.get('/v2/stream?topics=quotes:SPY', { credential: null })).status).toBe(401);
    expect((await app.get('/v2/stream')).body.error.message).toContain('topics');
    const post = await app.send('POST', '/v2/stream?topics=quotes:SPY');
    expect([post.status, post.headers.allow]).toEqual([405, 'GET']);
    await nothingLeft();
  });

  test('costs what its routes cost, and counts in their groups', async () => {
    const tight = await testApp({ store: app.store, nowMs, env: { RATE_PRO: '5' } });
    // The store is the other application's too.
    onTestFinished(async () => {
      tight.live.close();
    });
    const credential = await tight.key();
    const reader = await ready('quotes:SPY,AAPL,bars:SPY,gex:SPY', { credential, on: tight });
    expect(reader.headers['x-ratelimit-remaining']).toBe('2');
    const second = await tight.get('/v2/stream?topics=quotes:SPY,bars:SPY,gex:SPY', { credential });
    expect([second.status, second.body.error.code]).toEqual([429, 'rate_limited']);
    const { body } = await tight.get('/v2/account/usage', { credential });
    expect(body.data.totals_by_scope_group).toEqual({ 'market.live': 1, 'market.bars': 1, 'analytics.gex': 1 });
  });
});

describe('a stream that is taken up again', () => {
  const topics = 'large-trades:*:0,gex:AAPL,bars:SPY:1m,cross-section:AAPL';
  const capture = (minute: number, gex: number) =>
    gexCapture('AAPL', exchangeInstant(session, minute), [{ strike: 200_000, expiry: '2026-12-18', gex }]);

  test('misses nothing and is told nothing twice, wherever it was cut off', async () => {
    await saveCaptures(app.store, { gex: [capture(600, 1)] });
    await minutes(app.store, 'SPY', session, 0, [[600, 10]]);
    await snapshot(app.store, 'AAPL', session, 1, 1);
    const begun = await ready(topics);
    const told: Json[] = [];
    const name = ({ event, data }: SentEvent) =>
      `${event} ${data.seq ?? data.captured_at ?? `${data.ts_ms} ${data.volume}`}`;
    // Cut off before anything was sent, it begins again.
    begun.leave();
    const again = await ready(topics, { after: begun.id });
    let last = (await take(again, 3)).at(-1)!.id!;
    again.leave();
    // The events of a stream that is never cut off, from the same position on.
    const whole = await ready(topics, { after: last });
    const step = async (round: number) => {
      await storeLargeTrades(app.store, events(['SPY', 1000], ['AAPL', 1100], ['SPY', 1200]));
      await saveCaptures(app.store, { gex: [capture(601 + round, 1)] });
      await minutes(app.store, 'SPY', session, 1 + round, [[601, 10 + round]]);
      await snapshot(app.store, 'AAPL', session, 2 + round, 1);
    };
    for (let round = 0; round < 6; round++) {
      await step(round);
      const reader = await ready(topics, { after: last });
      // Cut off after one to four events, mostly in the middle of the missed ones.
      for (const event of await take(reader, 1 + (round % 4))) {
        told.push(name(event));
        last = event.id!;
      }
      reader.leave();
    }
    const rest = await ready(topics, { after: last });
    const wanted = 6 * 3 + 6 + 6;
    while (told.filter((each) => !each.startsWith('cross')).length < wanted) {
      const [event] = await take(rest, 1);
      told.push(name(event!));
    }
    const states = (all: readonly string[]) => all.filter((each) => !each.startsWith('cross-section'));
    expect(new Set(told).size).toBe(told.length);
    // The one that was always there: its first bar and capture are not reported again either.
    const all: string[] = [];
    while (states(all).length < wanted) all.push(name((await take(whole, 1))[0]!));
    expect(states(told).sort()).toEqual(states(all).sort());
    expect(told.filter((each) => each.startsWith('cross-section')).at(-1)).toBe('cross-section 7');
  });

  test('goes on after a reconciliation with what it missed alone', async () => {
    const reader = await ready('large-trades:SPY');
    const [first, second, missed] = events(['SPY', 3000], ['SPY', 3100], ['SPY', 3200]);
    await storeLargeTrades(app.store, [first!, second!]);
    const before = await take(reader, 2);
    reader.leave();
    await inTransaction(app.store, (tx) => removeFlow(tx, session, ['SPY']));
    const covered = coverage(session, 715, { status: 'eod_reconciled' });
    await storeLargeTrades(
      app.store,
      [first!, second!, missed!].map((each, i) => ({ ...each, seq: i + 1, coverage: covered })),
    );
    const again = await ready('large-trades:SPY', { after: before[1]!.id });
    expect((await take(again, 1))[0]!.data.update.event.event_id).toBe(missed!.event.eventId);
    await storeLargeTrades(app.store, events(['SPY', 5000]));
    expect((await take(again, 1))[0]!.data.update.event.total_size).toBe(5000);
  });

  test('refuses an id of other topics', async () => {
    const reader = await ready('gex:SPY');
    for (const id of [reader.id, 'nonsense', '-'.repeat(9)]) {
      const { status, body } = await app.get('/v2/stream?topics=gex:AAPL', { headers: { 'last-event-id': id } });
      expect([status, body.error.message.startsWith('Last-Event-ID: ')]).toEqual([400, true]);
    }
    const { status } = await app.get('/v2/stream?topics=gex:SPY', {
      headers: { 'last-event-id': reader.id.replace(/-.*/, '-x.y') },
    });
    expect(status).toBe(400);
  });
});

describe('a reader that does not read', () => {
  test('is kept the latest quote alone', async () => {
    const reader = await ready('quotes:SPY,gex:SPX:2000');
    await take(reader, 1);
    reader.pause();
    await fillSockets(app, session, 570);
    for (let i = 1; i <= 150; i++) await trade(app.store, { SPY: 700 + i }, nowMs - 1000 + i);
    const { body } = await app.get('/v2/quotes?symbols=SPY');
    reader.resume();
    let last: Json = null;
    while (last?.spot !== body.data[0].spot) {
      const event = (await reader.next())!;
      if (event.event === 'quotes') last = event.data;
    }
    expect(last.spot).toBe(850);
    expect(reader.events.filter(({ event }) => event === 'quotes').length).toBeLessThan(50);
  }, 300_000);

  test('is cut off when more than 1,000 large trades wait for it, and told why if it can be', async () => {
    const reader = await ready('large-trades:*:0,gex:SPX:2000');
    reader.pause();
    // Trades that come before the sockets are full would lie in them, and wait for nobody.
    await fillSockets(app, session, 620);
    for (let i = 0; i < 3; i++)
      await storeLargeTrades(app.store, events(...Array.from({ length: 400 }, (): [string, number] => ['AAPL', 1000])));
    await nothingLeft();
    reader.resume();
    await reader.over;
    const end = reader.events.find(({ event }) => event === 'end');
    if (end) expect(end.data).toMatchObject({ reason: 'too_slow', error: { code: 'rate_limited' } });
  }, 300_000);
});

describe('a stream', () => {
  test('tells thousands of events at once to whoever reads them', async () => {
    const readers = [await ready('large-trades:*:0'), await ready('large-trades:AAPL')];
    const many = events(...Array.from({ length: 3000 }, (_, i): [string, number] => [i % 2 ? 'SPY' : 'AAPL', 1000]));
    await storeLargeTrades(app.store, many);
    const all = many.map(({ seq }) => seq);
    expect(seqs(await take(readers[0]!, 3000))).toEqual(all);
    expect(seqs(await take(readers[1]!, 1500))).toEqual(all.filter((_, i) => i % 2 === 0));
  }, 300_000);

  test('tells nothing of an old session that is ingested', async () => {
    const reader = await ready('large-trades:*:0');
    const old = leg('O:SPY261218C00600000', nowMs - 30 * 86_400_000, { size: 9000 });
    await storeLargeTrades(app.store, [largeTrade([old], 1, coverage('2026-10-21', 960))]);
    const [fresh] = events(['SPY', 4000]);
    await storeLargeTrades(app.store, [fresh!]);
    expect(seqs(await take(reader, 1))).toEqual([fresh!.seq]);
  });

  test('outlives a store that fails for a while; one that would begin then is refused', async () => {
    const reader = await ready('quotes:AAPL');
    await take(reader, 1);
    await app.store.pool.query('ALTER TABLE live_quotes RENAME TO gone');
    // Cached quotes would do for both.
    app.store.versions.move({ market: null });
    timers.sweep();
    const { status, body } = await app.get('/v2/stream?topics=quotes:SPY');
    expect([status, body.error.code]).toEqual([502, 'internal']);
    await app.store.pool.query('ALTER TABLE gone RENAME TO live_quotes');
    await trade(app.store, { AAPL: 671 }, nowMs - 800);
    expect((await take(reader, 1))[0]!.data.spot).toBe(671);
    reader.leave();
    await nothingLeft();
  });
});

describe('streams of several processes', () => {
  test('are told what is written anywhere, also when the listening connection broke meanwhile', async () => {
    const other = await testApp({ store: app.store, nowMs, every: handTimers().every });
    onTestFinished(() => other.live.close());
    const readers = await Promise.all([
      ready('quotes:AAPL'),
      ready('quotes:AAPL', { on: other, credential: await other.key() }),
    ]);
    for (const reader of readers) await take(reader, 1);
    await trade(app.store, { AAPL: 650 }, nowMs - 700);
    for (const reader of readers) expect((await take(reader, 1))[0]!.data.spot).toBe(650);
    await app.store.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tapegraph listener' and datname = current_database()",
    );
    // Announced while nobody listens.
    await trade(app.store, { AAPL: 651 }, nowMs - 600);
    for (const reader of readers) expect((await take(reader, 1))[0]!.data.spot).toBe(651);
    await trade(app.store, { AAPL: 652 }, nowMs - 500);
    for (const reader of readers) expect((await take(reader, 1))[0]!.data.spot).toBe(652);
  });

  test('end with a reason when the server stops', async () => {
    const stopping = await testApp({ store: app.store, nowMs });
    const credential = await stopping.key();
    const reader = await ready('quotes:SPY,large-trades:*:0', { on: stopping, credential });
    stopping.live.close();
    await reader.over;
    expect(reader.events.at(-1)).toMatchObject({
      event: 'end',
      data: { reason: 'shutdown', error: { code: 'internal', message: 'The server is shutting down; reconnect.' } },
    });
    const { status } = await stopping.get('/v2/stream?topics=quotes:SPY', { credential });
    expect(status).toBe(503);
  });

  test('end when what they tell may not be read any more', async () => {
    const accountId = await app.account();
    const made = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const reader = await ready('quotes:SPY,large-trades:*:0', { credential: made.key });
    await app.access.accounts.set(accountId, { classification: 'professional' });
    timers.recheck();
    await reader.over;
    expect(reader.events.at(-1)).toMatchObject({
      event: 'end',
      data: { reason: 'not_entitled', error: { code: 'attestation_required' } },
    });
    await nothingLeft();
  });

  test('cost one reading, however many follow', async () => {
    const readers = await Promise.all(Array.from({ length: 40 }, () => ready('quotes:SPY')));
    for (const reader of readers) await take(reader, 1);
    const sent = await statementsOf(async () => {
      await trade(app.store, { SPY: 777 }, nowMs - 100);
      for (const reader of readers) expect((await take(reader, 1))[0]!.data.spot).toBe(777);
    });
    expect(sent.filter((text) => /FROM .*live_quotes/.test(text))).toHaveLength(1);
  });
});
