import { once } from 'node:events';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { type HandTimers, handTimers, minutes, trade } from '../support/live.ts';
import { flatBar, storeDays } from '../support/market.ts';
import { chainCapture, chainRow, gexCapture, saveCaptures } from '../support/option-market.ts';
import { type Talk, talk } from '../support/web-socket.ts';

// A client as it is written from the contract notes, section 7.
vi.setConfig({ testTimeout: 20_000 });
const patient = { timeout: 20_000 };
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let timers: HandTimers;
let Frame: protobuf.Type;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs, every: timers.every });
  for (const symbol of ['SPY', 'AAPL', 'XSP', 'NVDA'])
    await storeDays(app.store, symbol, { '2026-11-18': 500, '2026-11-19': 600 });
  const proto = (await app.get('/v2/stream-protocol.proto', { credential: null })).bytes.toString();
  Frame = protobuf.parse(proto).root.lookupType('tapegraph.stream.v2.Frame');
});
afterAll(() => app.close());

const nothingLeft = () => expect.poll(() => app.live.counts(), patient).toEqual({ streams: 0, topics: 0 });

async function ticketOf(credential: string, on = app): Promise<string> {
  const { status, body } = await on.send('POST', '/v2/stream/ticket', { credential });
  expect(status).toBe(200);
  return body.data.ticket;
}

async function connect(on = app): Promise<Talk> {
  const talking = talk(`${on.url}/v2/ws`);
  onTestFinished(() => talking.socket.terminate());
  await talking.open;
  return talking;
}

const auth = (ticket: string) => ({ op: 'auth', ticket, proto: 3, encoding: 'protobuf' });

async function authed(credential: string, on = app): Promise<Talk> {
  const talking = await connect(on);
  talking.send(auth(await ticketOf(credential, on)));
  await expect.poll(() => talking.said, patient).toEqual([{ op: 'authed' }]);
  return talking;
}

/** The answer to a subscription. */
async function sub(talking: Talk, message: { id: string | number; [more: string]: unknown }): Promise<Json> {
  const before = talking.said.length;
  talking.send({ op: 'sub', ...message });
  await expect.poll(() => talking.said.slice(before).find(({ id }) => id === message.id), patient).toBeDefined();
  return talking.said.slice(before).find(({ id }) => id === message.id);
}

const frames = ({ bytes }: Talk): Json[] =>
  bytes.map((each) => Frame.toObject(Frame.decode(each), { longs: Number, arrays: true }));

describe('a ticket', () => {
  test('is issued to keys and sessions, costs a request, and says when it expires', async () => {
    for (const credential of [await app.key({ apiTier: 'free' }), await app.session()]) {
      const { body, headers } = await app.send('POST', '/v2/stream/ticket', { credential });
      expect(body.data).toEqual({ ticket: expect.stringMatching(/^[\w-]{43}$/), exp: nowMs + 30_000 });
      expect(headers['x-ratelimit-remaining']).toBe('999999');
      const talking = await connect();
      talking.send(auth(body.data.ticket));
      await expect.poll(() => talking.said, patient).toEqual([{ op: 'authed' }]);
    }
    expect((await app.send('POST', '/v2/stream/ticket', { credential: null })).status).toBe(401);
  });

  test('is good once, for 30 seconds, in another process too; else 4401', async () => {
    const key = await app.key();
    const other = await testApp({ store: app.store, nowMs });
    const ticket = await ticketOf(key);
    const there = await connect(other);
    there.send(auth(ticket));
    await expect.poll(() => there.said, patient).toEqual([{ op: 'authed' }]);
    const expired = await ticketOf(key, other);
    other.clock.nowMs += 30_000;
    for (const [on, bad] of [
      [app, ticket],
      [other, expired],
      [app, 'x'.repeat(43)],
      [app, 'none'],
    ] as const) {
      const talking = await connect(on);
      talking.send(auth(bad));
      expect(await talking.closed).toMatchObject({ code: 4401 });
      expect(talking.said).toMatchObject(
        [{ op: 'nack', code: 'invalid_ticket', message: /unknown, used or expired/ }].map((each) => ({
          ...each,
          message: expect.stringMatching(each.message),
        })),
      );
    }
    other.live.close();
  });

  test('is issued in the request that declares the account, too', async () => {
    const credential = await app.session({ classification: null });
    const document =
      'mutation { classify(classification: non_professional) { __typename } createStreamTicket { ticket } }';
    const { data, errors } = await app.graphql(document, {}, { credential });
    expect(errors).toBeUndefined();
    const talking = await connect();
    talking.send(auth(data.createStreamTicket.ticket));
    await expect.poll(() => talking.said, patient).toEqual([{ op: 'authed' }]);
  });

  test('is used by one of many that come at once', async () => {
    const ticket = await ticketOf(await app.key());
    const talks = await Promise.all(Array.from({ length: 8 }, () => connect()));
    for (const talking of talks) talking.send(auth(ticket));
    await expect.poll(() => talks.filter(({ said }) => said.length > 0).length, patient).toBe(8);
    expect(talks.map(({ said }) => said[0].op).filter((op) => op === 'authed')).toHaveLength(1);
  });

  test('of a key that was revoked since is not valid', async () => {
    const accountId = await app.account();
    const { key, meta } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const ticket = await ticketOf(key);
    await app.access.keys.revoke(meta.id, accountId);
    const talking = await connect();
    talking.send(auth(ticket));
    expect(await talking.closed).toMatchObject({ code: 4401 });
  });
});

describe('topics', () => {
  test('spot: the current price, then every change', async () => {
    const talking = await authed(await app.key());
    expect(await sub(talking, { id: 's1', topic: 'spot', symbol: 'aapl' })).toEqual({
      op: 'ack',
      id: 's1',
      effective: { symbol: 'AAPL', clamps: [] },
    });
    await expect.poll(() => frames(talking), patient).toEqual([{ symbol: 'AAPL', spot: { priceScaled: 6_000_000 } }]);
    await trade(app.store, { AAPL: 701.25 }, nowMs - 1000);
    await expect
      .poll(() => frames(talking).at(-1), patient)
      .toEqual({ symbol: 'AAPL', spot: { tsMs: nowMs - 1000, priceScaled: 7_012_500 } });
    const before = talking.said.length;
    talking.send({ op: 'unsub', id: 's1' });
    await expect.poll(() => talking.said.slice(before), patient).toEqual([{ op: 'ack', id: 's1' }]);
    expect(app.live.counts().topics).toBe(0);
    talking.socket.close();
    await nothingLeft();
  });

  test('spot: a price that stays is not sent again, and the topic has the 404 of its route', async () => {
    const talking = await authed(await app.key());
    await sub(talking, { id: 1, topic: 'spot', symbol: 'MSFT' });
    const beside = await readEvents(`${app.url}/v2/stream?topics=quotes:MSFT`, {
      headers: { authorization: `Bearer ${await app.key()}` },
    });
    for (const volume of [1000, 2000, 3000]) {
      await trade(app.store, { MSFT: 410 }, nowMs - 5000, volume);
      let said = await beside.next();
      while (said?.data.volume !== volume) said = await beside.next();
    }
    beside.leave();
    await trade(app.store, { MSFT: 411 }, nowMs - 4000, 4000);
    await expect.poll(() => frames(talking).at(-1)?.spot?.priceScaled, patient).toBe(4_110_000);
    const prices = frames(talking).flatMap(({ spot }) => (spot.tsMs ? [spot.priceScaled] : []));
    expect(prices).toEqual([4_100_000, 4_110_000]);
    for (const symbol of ['QQQQ', 'ZZZ'])
      expect(await sub(talking, { id: symbol, topic: 'spot', symbol })).toMatchObject({ code: 'not_found' });
  });

  test('effective says where nothing is retained for since, and that no filter is no clamp', async () => {
    const talking = await authed(await app.key());
    const clampsOf = async (message: Json) => (await sub(talking, { symbol: 'SPY', ...message })).effective.clamps;
    expect(await clampsOf({ id: 1, topic: 'spot', since: nowMs - 60_000 })).toEqual(['since_clamped']);
    expect(await clampsOf({ id: 2, topic: 'chain', since: String(nowMs - 60_000) })).toEqual(['since_clamped']);
    expect(await clampsOf({ id: 3, topic: 'gex', since: nowMs, expiries: 'all', by_expiry: false })).toEqual([]);
  });

  test('since may be any number of milliseconds, as a number or as text', async () => {
    const talking = await authed(await app.key());
    const numbers = [253_402_300_800_000, 1e21, 1e300].flatMap((since) => [since, String(BigInt(since))]);
    for (const [id, since] of [...numbers, '9'.repeat(40), '0'.repeat(20)].entries())
      for (const topic of ['stocks', 'gex', 'spot'])
        expect([since, await sub(talking, { id: `${topic}${id}`, topic, symbol: 'SPY', since })]).toMatchObject([
          since,
          { op: 'ack' },
        ]);
    for (const since of [-1, 1.5, '1e3', '', true])
      expect(await sub(talking, { id: 'x', topic: 'spot', symbol: 'SPY', since })).toMatchObject({
        op: 'nack',
        message: expect.stringMatching(/^since: /),
      });
  });

  test('what is too much to be sent since then is a nack that names since', async () => {
    const seconds = Array.from({ length: 10_050 }, (_, i) =>
      flatBar(exchangeInstant('2026-11-13', 570) + i * 1000, 100),
    );
    await inTransaction(app.store, (tx) => writeBars(tx, '1s', [{ symbol: 'XOM', bars: toBarColumns(seconds) }]));
    const talking = await authed(await app.key());
    const asked = { topic: 'stocks', symbol: 'XOM', timeframe: '1s', since: nowMs - 8 * 86_400_000 };
    expect(await sub(talking, { id: 1, ...asked })).toMatchObject({
      op: 'nack',
      id: 1,
      code: 'invalid_params',
      message: expect.stringMatching(/^since: more than 10000 bars/),
    });
    expect(await sub(talking, { id: 1, ...asked, since: nowMs })).toMatchObject({ op: 'ack' });
  });

  test('index: index products alone', async () => {
    const talking = await authed(await app.key());
    expect(await sub(talking, { id: 1, topic: 'index', symbol: 'XSP' })).toMatchObject({ op: 'ack' });
    await expect
      .poll(() => frames(talking), patient)
      .toEqual([{ symbol: 'XSP', indexValue: { valueScaled: 6_000_000 } }]);
    expect(await sub(talking, { id: 2, topic: 'index', symbol: 'SPY' })).toMatchObject({
      op: 'nack',
      code: 'invalid_params',
    });
    expect(await sub(talking, { id: 3, topic: 'index', symbol: 'QQQQ' })).toMatchObject({
      op: 'nack',
      code: 'not_found',
    });
  });

  test('stocks: bars as they open and close; what the store does not have is left out and named', async () => {
    const hand = handTimers();
    const own = await testApp({ nowMs, every: hand.every });
    const talking = await authed(await own.key(), own);
    await storeDays(own.store, 'SPY', { '2026-11-19': 600 });
    // 11:59 is complete, 12:00 has just begun.
    own.clock.nowMs = Date.parse('2026-11-20T17:00:10Z');
    await minutes(own.store, 'SPY', '2026-11-20', 149, [
      [600, 10],
      [601, 20],
    ]);
    const ack = await sub(talking, { id: 'b', topic: 'stocks', symbol: 'SPY', want: ['trades', 'bars', 'quote'] });
    expect(ack.effective).toEqual({
      symbol: 'SPY',
      want: ['bars'],
      unavailable: ['trades', 'quote'],
      timeframe: '1m',
      clamps: ['want_clamped'],
    });
    await expect
      .poll(() => frames(talking), patient)
      .toEqual([{ symbol: 'SPY', barOpen: { tsMs: nowMs, openScaled: 6_010_000 } }]);
    own.clock.nowMs = Date.parse('2026-11-20T17:01:10Z');
    await minutes(own.store, 'SPY', '2026-11-20', 150, [
      [602, 30],
      [603, 40],
    ]);
    await expect.poll(() => frames(talking).length, patient).toBe(3);
    expect(frames(talking).slice(1)).toEqual([
      {
        symbol: 'SPY',
        barClose: {
          tsMs: nowMs,
          openScaled: 6_020_000,
          highScaled: 6_020_000,
          lowScaled: 6_020_000,
          closeScaled: 6_020_000,
          volume: 30,
        },
      },
      { symbol: 'SPY', barOpen: { tsMs: nowMs + 60_000, openScaled: 6_030_000 } },
    ]);
    // Nothing more is traded: the bar is complete by the clock.
    own.clock.nowMs = Date.parse('2026-11-20T17:02:05Z');
    hand.recheck();
    await expect.poll(() => frames(talking).at(-1)?.barClose?.volume, patient).toBe(40);
    const since = await authed(await own.key(), own);
    await sub(since, { id: 'r', topic: 'stocks', symbol: 'SPY', want: 'bars', since: nowMs });
    await expect
      .poll(() => frames(since).flatMap(({ barClose }) => (barClose ? [barClose.tsMs] : [])), patient)
      .toEqual(expect.arrayContaining([nowMs, nowMs + 60_000]));
    const none = await sub(talking, { id: 'n', topic: 'stocks', symbol: 'SPY', want: ['mid'] });
    expect(none.effective).toMatchObject({ want: [], unavailable: ['mid'] });
    expect(await sub(talking, { id: 'n2', topic: 'stocks', symbol: 'QQQQ' })).toMatchObject({ code: 'not_found' });
    own.live.close();
    await own.close();
  });
});

test('gex: a snapshot, then the strikes that changed; a snapshot again when one is gone; what was missed since', async () => {
  const at = (minute: number, strikes: Record<number, number>) =>
    gexCapture(
      'SPY',
      exchangeInstant('2026-11-20', minute),
      Object.entries(strikes).map(([strike, gex]) => ({ strike: Number(strike), expiry: '2026-12-18', gex })),
    );
  await saveCaptures(app.store, { gex: [at(600, { 600000: 5, 610000: -7 })] });
  const talking = await authed(await app.key());
  const ack = await sub(talking, { id: 'g', topic: 'gex', symbol: 'SPY' });
  expect(ack.effective).toEqual({ symbol: 'SPY', expiries: null, clamps: [] });
  const instant = (minute: number) => exchangeInstant('2026-11-20', minute);
  await expect
    .poll(() => frames(talking), patient)
    .toEqual([
      {
        symbol: 'SPY',
        gexSnap: {
          capturedAtMs: instant(600),
          spot: 600.5,
          netGex: -2,
          strikes: [
            { strikeThousandths: 600_000, gex: 5, callOi: 10 },
            { strikeThousandths: 610_000, gex: -7, callOi: 10 },
          ],
        },
      },
    ]);
  await saveCaptures(app.store, { gex: [at(605, { 600000: 5, 610000: -8, 620000: 1 })] });
  await expect
    .poll(() => frames(talking)[1], patient)
    .toEqual({
      symbol: 'SPY',
      gexDelta: {
        capturedAtMs: instant(605),
        strikes: [
          { strikeThousandths: 610_000, gex: -8 },
          { strikeThousandths: 620_000, gex: 1 },
        ],
      },
    });
  await saveCaptures(app.store, { gex: [at(610, { 600000: 5 })] });
  await expect.poll(() => frames(talking)[2]?.gexSnap?.strikes.length, patient).toBe(1);
  const since = await authed(await app.key());
  await sub(since, { id: 'g', topic: 'gex', symbol: 'SPY', since: instant(600) });
  await expect.poll(() => frames(since).length, patient).toBe(2);
  expect(frames(since).map(({ gexSnap }) => gexSnap.capturedAtMs)).toEqual([instant(605), instant(610)]);
});

test('chain: a snapshot of what was asked for, then the rows that changed', async () => {
  const at = (minute: number, bid: number, more: number[] = []) =>
    chainCapture('SPY', exchangeInstant('2026-11-20', minute), [
      chainRow({
        root: 'SPY',
        expiry: '2026-12-18',
        right: 'call',
        strike: 600_000,
        bid,
        ask: 3,
        iv: 0.2,
        openInterest: 9,
      }),
      chainRow({
        root: 'SPY',
        expiry: '2026-12-18',
        right: 'put',
        strike: 600_000,
        bid: 1,
        ask: 2,
        iv: null,
        openInterest: null,
      }),
      ...more.map((strike) => chainRow({ root: 'SPY', expiry: '2026-12-18', right: 'call', strike, bid: 1 })),
      chainRow({ root: 'SPY', expiry: '2027-01-15', right: 'call', strike: 600_000, bid: 5 }),
    ]);
  await saveCaptures(app.store, { chains: [at(600, 2.5)] });
  const talking = await authed(await app.key());
  const asked = { topic: 'chain', symbol: 'SPY', expiry: '2026-12-18', strike_gte: 600_000, strike_lte: 700_000 };
  const ack = await sub(talking, { id: 'c', ...asked });
  expect(ack.effective).toMatchObject({ symbol: 'SPY', expiry: '2026-12-18', strike_gte: 600_000 });
  const epochDay = Date.parse('2026-12-18') / 86_400_000;
  const row = { expiryEpochDay: epochDay, strikeThousandths: 600_000 };
  await expect
    .poll(() => frames(talking), patient)
    .toMatchObject([
      {
        symbol: 'SPY',
        chainSnap: {
          capturedAtMs: exchangeInstant('2026-11-20', 600),
          spot: 600.5,
          rows: [
            { ...row, bid: 2.5, ask: 3, iv: 0.2, oi: 9 },
            { ...row, right: 1, bid: 1, ask: 2 },
          ],
        },
      },
    ]);
  expect(frames(talking)[0].chainSnap.rows[1]).not.toHaveProperty('iv');
  await saveCaptures(app.store, { chains: [at(605, 2.75, [610_000])] });
  await expect
    .poll(() => frames(talking)[1]?.chainDelta?.rows, patient)
    .toMatchObject([
      { ...row, bid: 2.75 },
      { expiryEpochDay: epochDay, strikeThousandths: 610_000, bid: 1 },
    ]);
  await saveCaptures(app.store, { chains: [at(610, 2.75)] });
  await expect.poll(() => frames(talking)[2]?.chainSnap?.rows.length, patient).toBe(2);
});

describe('a chain that lists one key under two roots', () => {
  const expiry = '2026-12-18';
  const at = (minute: number, rows: [root: string, bid: number, strike?: number][]) =>
    chainCapture(
      'XSP',
      exchangeInstant('2026-11-20', minute),
      rows.map(([root, bid, strike = 600_000]) => chainRow({ root, expiry, right: 'call', strike, bid })),
    );
  /** The rows that a client has which keeps them as the protocol says. */
  const heldRows = (talking: Talk) => {
    const rows = new Map<string, number>();
    for (const { chainSnap, chainDelta } of frames(talking)) {
      if (chainSnap) rows.clear();
      for (const row of (chainSnap ?? chainDelta).rows)
        rows.set([row.expiryEpochDay, row.right ?? 0, row.strikeThousandths, row.root].join(' '), row.bid);
    }
    return rows;
  };
  const key = (...parts: unknown[]) => [Date.parse(expiry) / 86_400_000, 0, ...parts].join(' ');

  test('loses no row of either, and names roots only then', async () => {
    const own = await testApp({ nowMs });
    const talking = await authed(await own.key(), own);
    await saveCaptures(own.store, {
      chains: [
        at(600, [
          ['XSP', 1],
          ['XSPW', 4, 610_000],
        ]),
      ],
    });
    await sub(talking, { id: 'c', topic: 'chain', symbol: 'XSP' });
    const alone = new Map([
      [key(600_000, undefined), 1],
      [key(610_000, undefined), 4],
    ]);
    await expect.poll(() => heldRows(talking), patient).toEqual(alone);
    await saveCaptures(own.store, {
      chains: [
        at(605, [
          ['XSP', 1],
          ['XSPW', 2],
          ['XSPW', 4, 610_000],
        ]),
      ],
    });
    const both = (monthly: number, weekly: number) =>
      new Map([
        [key(600_000, 'XSP'), monthly],
        [key(600_000, 'XSPW'), weekly],
        [key(610_000, 'XSPW'), 4],
      ]);
    await expect.poll(() => heldRows(talking), patient).toEqual(both(1, 2));
    await saveCaptures(own.store, {
      chains: [
        at(610, [
          ['XSP', 1],
          ['XSPW', 3],
          ['XSPW', 4, 610_000],
        ]),
      ],
    });
    await expect.poll(() => heldRows(talking), patient).toEqual(both(1, 3));
    expect(frames(talking).at(-1).chainDelta.rows).toHaveLength(1);
    await saveCaptures(own.store, {
      chains: [
        at(615, [
          ['XSP', 5],
          ['XSPW', 3],
          ['XSPW', 4, 610_000],
        ]),
      ],
    });
    await expect.poll(() => heldRows(talking), patient).toEqual(both(5, 3));
    await saveCaptures(own.store, {
      chains: [
        at(620, [
          ['XSP', 1],
          ['XSPW', 4, 610_000],
        ]),
      ],
    });
    await expect.poll(() => heldRows(talking), patient).toEqual(alone);
    own.live.close();
    await own.close();
  });
});

describe('every option of every topic changes what is sent, or is rejected by name', () => {
  const instant = (minute: number) => exchangeInstant('2026-11-20', minute);
  const monthly = { expiry: '2026-12-18', strike: 600_000 };
  const later = { expiry: '2027-01-15', strike: 610_000 };
  let own: TestApp;

  beforeAll(async () => {
    own = await testApp({ nowMs });
    for (const symbol of ['SPY', 'XSP']) {
      await storeDays(own.store, symbol, { '2026-11-18': 500, '2026-11-19': 600 });
      await minutes(own.store, symbol, '2026-11-20', 145, [
        [600, 10],
        [601, 20],
        [602, 30],
        [603, 40],
      ]);
    }
    const fives = [flatBar(instant(715), 604)];
    await inTransaction(own.store, (tx) => writeBars(tx, '5m', [{ symbol: 'SPY', bars: toBarColumns(fives) }]));
    await saveCaptures(own.store, {
      gex: [600, 605].map((minute) =>
        gexCapture('SPY', instant(minute), [
          { ...monthly, gex: 5 + minute },
          { ...monthly, expiry: later.expiry, gex: 100 },
          { ...later, gex: -7 },
        ]),
      ),
      chains: [
        chainCapture(
          'SPY',
          instant(605),
          [monthly, later].map((row) => chainRow({ root: 'SPY', right: 'call', bid: 2, ...row })),
        ),
      ],
    });
  });
  afterAll(async () => {
    own.live.close();
    await own.close();
  });

  /** Options with a value that asks for something. */
  const asking: Record<string, unknown> = {
    want: ['trades'],
    timeframe: '5m',
    expiry: monthly.expiry,
    strike_gte: later.strike,
    strike_lte: monthly.strike,
    expiries: [monthly.expiry],
    by_expiry: true,
    component: 'call',
    since: instant(599),
  };
  const symbols: Record<string, string> = { stocks: 'SPY', spot: 'SPY', index: 'XSP', gex: 'SPY', chain: 'SPY' };
  type Seen = { effective: Json; sent: Json[] };
  const bars = ({ sent }: Seen) => sent.map(({ barClose, barOpen }) => (barClose ?? barOpen).tsMs);
  const nets = ({ sent }: Seen) => sent.map(({ gexSnap, gexDelta }) => gexSnap?.netGex ?? gexDelta.strikes);
  const strikes = ({ sent }: Seen) =>
    sent.map(({ chainSnap }) => chainSnap.rows.map((row: Json) => row.strikeThousandths));
  const clamps = ({ effective }: Seen) => effective.clamps;
  /** Answer of a topic without and with an option that it takes. */
  const taken: Record<string, [of: (seen: Seen) => unknown, plain: unknown, asked: unknown]> = {
    'stocks want': [({ effective }) => effective.want, ['bars'], []],
    'stocks timeframe': [bars, [instant(718)], [instant(715)]],
    'stocks since': [bars, [instant(718)], [715, 716, 717, 718].map(instant)],
    'spot since': [clamps, [], ['since_clamped']],
    'index since': [clamps, [], ['since_clamped']],
    'gex expiries': [nets, [703], [610]],
    'gex since': [nets, [703], [698, [{ strikeThousandths: 600_000, gex: 710 }]]],
    'chain expiry': [strikes, [[600_000, 610_000]], [[600_000]]],
    'chain strike_gte': [strikes, [[600_000, 610_000]], [[610_000]]],
    'chain strike_lte': [strikes, [[600_000, 610_000]], [[600_000]]],
    'chain since': [clamps, [], ['since_clamped']],
  };
  const cases = Object.keys(symbols).flatMap((topic) => Object.keys(asking).map((name) => `${topic} ${name}`));

  test.each(cases)('%s', async (each) => {
    const [topic, name] = each.split(' ') as [string, string];
    const credential = await own.key();
    const asked = { id: 1, topic, symbol: symbols[topic] };
    const talking = await authed(credential, own);
    const answer = await sub(talking, { ...asked, [name]: asking[name] });
    if (!taken[each]) {
      const message = expect.stringMatching(new RegExp(`^${name}: `));
      expect(answer).toEqual({ op: 'nack', id: 1, code: 'invalid_params', message });
      return;
    }
    const plain = await authed(credential, own);
    const { effective } = await sub(plain, asked);
    const [of, without, expected] = taken[each];
    await expect.poll(() => of({ effective, sent: frames(plain) }), patient).toEqual(without);
    await expect.poll(() => of({ effective: answer.effective, sent: frames(talking) }), patient).toEqual(expected);
  });

  test('gex: the net of the expiries asked for, as the grid has it', async () => {
    const talking = await authed(await own.key(), own);
    const ack = await sub(talking, { id: 1, topic: 'gex', symbol: 'SPY', expiries: `${later.expiry}, 2027-02-19` });
    expect(ack.effective).toEqual({ symbol: 'SPY', expiries: [later.expiry, '2027-02-19'], clamps: [] });
    await expect.poll(() => frames(talking).length, patient).toBe(1);
    const { body } = await own.get(`/v2/gex/SPY/grid?expiries=${later.expiry}`);
    const { netGex, strikes } = frames(talking)[0].gexSnap;
    expect([netGex, body.data.net_gex]).toEqual([93, 93]);
    const rows = body.data.strikes.map(({ strike, gex }: Json) => [strike, gex]);
    expect(strikes.map(({ strikeThousandths, gex }: Json) => [strikeThousandths, gex])).toEqual(rows);
    await saveCaptures(own.store, {
      gex: [
        gexCapture('SPY', instant(610), [
          { ...monthly, gex: 1 },
          { ...later, gex: -9 },
        ]),
      ],
    });
    await expect.poll(() => frames(talking).at(-1)?.gexSnap?.netGex, patient).toBe(-9);
    for (const expiries of ['soon', [], [20261218], '2026-12-18,'])
      expect(await sub(talking, { id: 2, topic: 'gex', symbol: 'SPY', expiries })).toMatchObject({
        op: 'nack',
        message: expect.stringMatching(/^expiries: /),
      });
  });
});

test('chainCaptured is the chain of the query, and then every new one', async () => {
  const query = (kind: string, field: string) => `${kind} { ${field} }`;
  const fields = '{ capturedAt spot rows { bid contract { id } } meta { rowCount } }';
  const { data } = await app.graphql(query('query', `symbol(symbol: "SPY") { chain${fields} }`));
  const reader = await readEvents(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await app.key()}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: query('subscription', `chainCaptured(symbol: "SPY") ${fields}`) }),
  });
  expect((await reader.next())!.data).toEqual({ data: { chainCaptured: data.symbol.chain } });
  reader.leave();
});

// JSON.parse reads it, and JSON.stringify overflows the stack.
const deep = `${'['.repeat(90)}${']'.repeat(90)}`;

describe('control', () => {
  test('a wrong message is answered with what was wrong, and costs a request', async () => {
    const key = await app.key({ apiTier: 'free' });
    const talking = await authed(key);
    const cases: [Json, RegExp][] = [
      [
        { op: 'sub', id: 1, topic: 'nothing', symbol: 'SPY' },
        /^topic: expected one of stocks, spot, index, gex, chain/,
      ],
      [{ op: 'sub', id: 1, topic: 'spot', symbol: '??' }, /^symbol: /],
      [{ op: 'sub', topic: 'spot', symbol: 'SPY' }, /^id: /],
      [{ op: 'sub', id: 1, topic: 'stocks', symbol: 'SPY', timeframe: '7m' }, /^timeframe: /],
      [{ op: 'sub', id: 1, topic: 'stocks', symbol: 'SPY', want: ['dreams'] }, /^want: /],
      [{ op: 'sub', id: 1, topic: 'chain', symbol: 'SPY', expiry: 'soon' }, /^expiry: /],
      [{ op: 'sub', id: 1, topic: 'chain', symbol: 'SPY', strike_gte: -1 }, /^strike_gte: /],
      [{ op: 'sub', id: 1, topic: 'stocks', symbol: 'SPY', since: 'x' }, /^since: /],
      [{ op: 'unsub', id: 'unknown' }, /was not found/],
      [{ op: 'sing' }, /^op: expected sub, unsub, ping or pong/],
      [{ op: 'auth', ticket: 'x' }, /^op: /],
      ['{', /no JSON/],
      ['[]', /JSON object/],
      [`{"op":"sub","id":1,"topic":${deep}}`, /^topic: nested more than 64 deep/],
      [`{"op":"sub","id":${deep},"topic":"spot"}`, /^id: nested/],
      [`{"op":"ping","t":${deep}}`, /^t: nested/],
      [`{"op":${deep}}`, /^op: nested/],
    ];
    for (const [message, expected] of cases) {
      const before = talking.said.length;
      talking.send(message);
      await expect.poll(() => talking.said.length, patient).toBe(before + 1);
      expect(talking.said.at(-1)).toMatchObject({ op: 'nack', message: expect.stringMatching(expected) });
    }
    const { headers } = await app.get('/v2/symbols', { credential: key });
    // A ticket, each of these, and the request that asks.
    expect(headers['x-ratelimit-remaining']).toBe(String(1_000_000 - 1 - cases.length - 1));
  });

  test('rights are those of the queries, and a lost right ends the connection with bye', async () => {
    const free = await authed(await app.key({ apiTier: 'free', classification: null }));
    expect(await sub(free, { id: 1, topic: 'spot', symbol: 'NVDA' })).toMatchObject({ code: 'not_entitled_tier' });
    expect(await sub(free, { id: 2, topic: 'index', symbol: 'XSP' })).toMatchObject({ code: 'attestation_required' });
    expect(await sub(free, { id: 3, topic: 'gex', symbol: 'NVDA' })).toMatchObject({ code: 'not_entitled_tier' });
    expect(await sub(free, { id: 4, topic: 'chain', symbol: 'NVDA' })).toMatchObject({ code: 'not_entitled_tier' });
    expect(await sub(free, { id: 5, topic: 'stocks', symbol: 'NVDA', want: 'trades' })).toMatchObject({
      code: 'not_entitled_tier',
    });
    const accountId = await app.account();
    const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const talking = await authed(key);
    await sub(talking, { id: 1, topic: 'spot', symbol: 'NVDA' });
    await app.access.accounts.set(accountId, { apiTier: 'free' });
    timers.recheck();
    expect(await talking.closed).toMatchObject({ code: 4403 });
    expect(talking.said.at(-1)).toMatchObject({ op: 'bye', code: 'not_entitled_tier', reconnect_after_ms: 30_000 });
  });

  test('rates and limits count: subscriptions of a connection, connections of a key, requests', async () => {
    const small = await testApp({ store: app.store, nowMs, env: { RATE_FREE: '5', MAX_STREAMS: '2' } });
    const key = await small.key({ apiTier: 'free' });
    const talking = await authed(key, small);
    for (const id of [1, 2, 3, 4])
      expect(await sub(talking, { id, topic: 'spot', symbol: 'SPY' })).toMatchObject({ op: 'ack' });
    expect(await sub(talking, { id: 5, topic: 'spot', symbol: 'SPY' })).toMatchObject({ code: 'rate_limited' });
    small.live.close();
    const many = await authed(await app.key());
    for (let id = 0; id < 100; id++) many.send({ op: 'sub', id, topic: 'spot', symbol: 'SPY' });
    await expect.poll(() => many.said.filter(({ op }) => op === 'ack').length, patient).toBe(100);
    expect(await sub(many, { id: 100, topic: 'spot', symbol: 'SPY' })).toMatchObject({ code: 'rate_limited' });
    expect(await sub(many, { id: 'x', topic: 'spot' })).toMatchObject({ code: 'invalid_params' });
  });

  test('bye when the server stops', async () => {
    const stopping = await testApp({ store: app.store, nowMs });
    const [quiet, talking] = [await connect(stopping), await authed(await stopping.key(), stopping)];
    stopping.live.drain();
    expect([await quiet.closed, await talking.closed]).toMatchObject([{ code: 1001 }, { code: 1001 }]);
    for (const { said } of [quiet, talking])
      expect(said.at(-1)).toMatchObject({ op: 'bye', reconnect_after_ms: 500, code: 'internal' });
    stopping.live.close();
  });

  test('pings are JSON; a client that answers stays, one that does not is closed after three', async () => {
    const talking = await authed(await app.key());
    const quiet = await authed(await app.key());
    for (let i = 0; i < 3; i++) {
      timers.beat();
      await expect.poll(() => talking.said.filter(({ op }) => op === 'ping').length, patient).toBe(i + 1);
      talking.send({ op: 'pong', t: talking.said.at(-1).t });
    }
    // Messages are handled in the order they were sent.
    await sub(talking, { id: 1, topic: 'spot', symbol: 'SPY' });
    timers.beat();
    expect(await quiet.closed).toMatchObject({ code: 1001 });
    expect(talking.socket.readyState).toBe(talking.socket.OPEN);
  });
});

describe('a hostile client', () => {
  test.each([
    ['subscribes before it authenticates', 4401, { op: 'sub', id: 1, topic: 'spot', symbol: 'SPY' }],
    ['sends no JSON', 4401, '{'],
    ['sends two megabytes of control', 1009, JSON.stringify({ op: 'auth', ticket: 'x'.repeat(2_000_000) })],
    ['sends bytes', 1003, Buffer.from([10, 3, 83, 80, 89, 255])],
  ])('that %s is closed with %i', async (_name, code, message) => {
    const talking = await connect();
    talking.send(message);
    expect(await talking.closed).toMatchObject({ code });
    await nothingLeft();
  });

  test('that asks for another protocol is told so, and may ask again', async () => {
    const talking = await connect();
    const ticket = await ticketOf(await app.key());
    talking.send({ ...auth(ticket), proto: 2 });
    talking.send({ ...auth(ticket), encoding: 'json' });
    talking.send(auth(ticket));
    await expect
      .poll(() => talking.said, patient)
      .toMatchObject([
        { op: 'nack', code: 'invalid_params' },
        { op: 'nack', code: 'invalid_params' },
        { op: 'authed' },
      ]);
  });

  test('that never authenticates is closed with 4401 after ten seconds, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const talking = await connect();
    vi.advanceTimersByTime(9_999);
    talking.socket.ping();
    await once(talking.socket, 'pong');
    expect(talking.said).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await talking.closed).toMatchObject({ code: 4401 });
    expect(talking.said).toMatchObject([{ op: 'nack', code: 'unauthenticated' }]);
  });

  test('that floods is closed with 1008, and leaves nothing behind', async () => {
    const talking = await authed(await app.key());
    for (let i = 0; i < 700; i++) {
      talking.send({ op: 'sub', id: 1, topic: 'spot', symbol: 'SPY' });
      talking.send({ op: 'unsub', id: 1 });
    }
    expect(await talking.closed).toMatchObject({ code: 1008 });
    await nothingLeft();
  });

  test('that guesses tickets is limited by its address', async () => {
    const small = await testApp({ store: app.store, nowMs, env: { RATE_ANONYMOUS: '2' } });
    const codes: number[] = [];
    for (let i = 0; i < 3; i++) {
      const talking = await connect(small);
      talking.send(auth('x'.repeat(43)));
      codes.push((await talking.closed).code);
    }
    expect(codes).toEqual([4401, 4401, 1013]);
    small.live.close();
  });
});

test('/v2/ws without a handshake is 426, and other methods 405', async () => {
  const { status, headers, body } = await app.get('/v2/ws', { credential: null });
  expect([status, headers.upgrade, body.error.code]).toEqual([426, 'websocket', 'invalid_params']);
  expect((await app.send('POST', '/v2/ws')).status).toBe(405);
});
