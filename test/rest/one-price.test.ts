import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { Follower } from '../../src/intake/ingest/tail/follower.ts';
import { readLiveLines } from '../../src/intake/tape/live/live-lines.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { handTimers } from '../support/live.ts';
import { storeDays } from '../support/market.ts';
import { randomOf } from '../support/random.ts';
import { talk } from '../support/web-socket.ts';

vi.setConfig({ testTimeout: 120_000 });
const patient = { timeout: 20_000, interval: 5 };
// Monday 2026-11-16, from the open on.
const session = '2026-11-16';
const open = exchangeInstant(session, 570);
const lengths = ['1s', '1m', '5m', '1h', '1d'];
const [stock, index] = ['SPY', 'XSP'];
const symbols = [stock, index];
let app: TestApp;
let tape: ReturnType<typeof madeTape>;
let endedMs = 0;

beforeAll(async () => {
  app = await testApp({ nowMs: open });
  for (const symbol of symbols) await storeDays(app.store, symbol, { '2026-11-12': 590, '2026-11-13': 600 });
});
afterAll(() => app.close());

interface Print {
  id: number;
  /** Ms after the open. */
  ms: number;
  price: number;
  size: number;
  conditions: number[];
}

/** Conditions of prints that count in volume and set no close: an odd lot, an average price, one out of sequence. */
const withoutPrice = [[37], [2], [32]];

/** A made-up tape: what it says between two instants, and what a reader of all its lines so far knows. */
function madeTape() {
  const random = randomOf(20_261_116);
  const price = () => (6_000_000 + random.below(100_000)) / 10_000;
  const prints: Print[] = [];
  const values: { ms: number; price: number }[] = [];
  const lineOf = ({ id, ms, conditions, ...print }: Print, correction = 0) => ({
    type: 'stock_print',
    symbol: stock,
    exchange: 11,
    id: String(id),
    ...print,
    conditions,
    correction,
    sip_timestamp: `${open + ms}000000`,
    sequence_number: id,
  });
  const byTime = (a: Print, b: Print) => a.ms - b.ms || a.id - b.id;
  const priced = () => prints.filter(({ conditions }) => conditions.length === 0).sort(byTime);
  let id = 0;
  return {
    /** The lines of (beforeMs, throughMs]. */
    lines(beforeMs: number, throughMs: number): object[] {
      const lines: object[] = [];
      for (let i = random.below(4); i >= 0; i--) {
        const conditions = id > 0 && random.once(3) ? random.pick(withoutPrice) : [];
        // Some arrive up to three seconds late.
        const ms = Math.max(1, beforeMs + 1 + random.below(throughMs - beforeMs) - (random.once(4) ? 3000 : 0));
        const print = { id: ++id, ms, price: price(), size: 1 + random.below(500), conditions };
        prints.push(print);
        lines.push(lineOf(print));
      }
      // The last price is withdrawn where its second has another.
      const [before, last] = priced().slice(-2);
      if (before && last && Math.floor(before.ms / 1000) === Math.floor(last.ms / 1000) && random.once(2)) {
        prints.splice(prints.indexOf(last), 1);
        lines.push(lineOf(last, 8));
      }
      const value = { ms: throughMs, price: price() };
      values.push(value);
      lines.push({
        type: 'index_value',
        symbol: index,
        value: value.price,
        sip_timestamp: `${open + throughMs}000000`,
      });
      return lines;
    },
    volume: () => prints.reduce((sum, { size }) => sum + size, 0),
    /** The last price of each symbol before an instant. */
    pricesBefore: (ms: number): Record<string, number> => ({
      [stock]: priced().findLast((print) => print.ms < ms)?.price ?? 600,
      [index]: values.findLast((value) => value.ms < ms)?.price ?? 600,
    }),
    /** The first whole second by which both symbols have a price, ms after the open. */
    pricedByMs: () => 1000 * Math.ceil((Math.max(priced()[0]!.ms, values[0]!.ms) + 1) / 1000),
    step: () => (random.once(3) ? 200 + random.below(800) : 1000 + random.below(150_000)),
  };
}

/** The newest price by `source symbol`; of bars, the close of the one that starts last. */
class Seen {
  readonly #newest = new Map<string, { tsMs: number; price: number }>();
  note(key: string, price: number, tsMs = 0): void {
    if (tsMs >= (this.#newest.get(key)?.tsMs ?? 0)) this.#newest.set(key, { tsMs, price });
  }
  prices(): Record<string, number> {
    return Object.fromEntries([...this.#newest].map(([key, { price }]) => [key, price]).sort());
  }
}

async function followEvents(app: TestApp, seen: Seen): Promise<void> {
  const bars = symbols.flatMap((symbol) => lengths.map((tf) => `bars:${symbol}:${tf}`));
  const reader = await readEvents(`${app.url}/v2/stream?topics=quotes:${symbols},${bars}`, {
    headers: { authorization: `Bearer ${await app.key()}` },
  });
  onTestFinished(() => reader.leave());
  void (async () => {
    for (let event = await reader.next(); event; event = await reader.next()) {
      const { data } = event;
      if (event.event === 'quotes') seen.note(`SSE quotes ${data.symbol}`, data.spot);
      if (event.event === 'bars') seen.note(`SSE bars ${data.timeframe} ${data.symbol}`, data.close, data.ts_ms);
    }
  })();
}

async function followSubscriptions(app: TestApp, seen: Seen): Promise<void> {
  const client = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
  onTestFinished(() => client.socket.terminate());
  await client.open;
  client.socket.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(String(data)) as Json;
    if (type !== 'next') return;
    const { quotes, bars } = payload.data;
    if (quotes) seen.note(`subscription quotes ${quotes.symbol}`, quotes.spot);
    if (bars) seen.note(`subscription bars ${bars.timeframe} ${bars.symbol}`, bars.close, bars.tsMs);
  });
  client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${await app.key()}` } });
  await expect.poll(() => client.said.some(({ type }) => type === 'connection_ack'), patient).toBe(true);
  const queries = symbols.flatMap((symbol) => [
    `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }`,
    ...lengths.map(
      (tf) => `subscription { bars(symbol: "${symbol}", timeframe: "${tf}") { symbol timeframe tsMs close } }`,
    ),
  ]);
  for (const [id, query] of queries.entries()) client.send({ type: 'subscribe', id: String(id), payload: { query } });
}

async function followFrames(app: TestApp, seen: Seen): Promise<void> {
  const proto = (await app.get('/v2/stream-protocol.proto', { credential: null })).bytes.toString();
  const Frame = protobuf.parse(proto).root.lookupType('tapegraph.stream.v2.Frame');
  const { body } = await app.send('POST', '/v2/stream/ticket', { credential: await app.key() });
  const client = talk(`${app.url}/v2/ws`);
  onTestFinished(() => client.socket.terminate());
  await client.open;
  client.socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) return;
    const { symbol, spot, indexValue } = Frame.toObject(Frame.decode(data), { longs: Number });
    const scaled = spot?.priceScaled ?? indexValue?.valueScaled;
    if (scaled !== undefined) seen.note(`/v2/ws ${symbol}`, scaled / 10_000);
  });
  client.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
  await expect.poll(() => client.said, patient).toEqual([{ op: 'authed' }]);
  client.send({ op: 'sub', id: 1, topic: 'spot', symbol: stock });
  client.send({ op: 'sub', id: 2, topic: 'index', symbol: index });
}

/** Prices that are requested, not followed. */
async function asked(app: TestApp, credential: string): Promise<Record<string, number>> {
  const prices: Record<string, number> = {};
  const { body } = await app.get(`/v2/quotes?symbols=${symbols}`, { credential });
  for (const { symbol, spot } of body.data) prices[`quote ${symbol}`] = spot;
  for (const symbol of symbols) {
    prices[`spot ${symbol}`] = (await app.get(`/v2/symbols/${symbol}/spot`, { credential })).body.data.price;
    for (const tf of lengths) {
      const bars = await app.get(`/v2/stocks/${symbol}/bars?from=${session}&to=2026-11-17&timeframe=${tf}`, {
        credential,
      });
      prices[`bars ${tf} ${symbol}`] = bars.body.data.at(-1)?.close;
    }
  }
  const fields = lengths.map(
    (tf, i) => `b${i}: bars(from: "${session}", to: "2026-11-17", timeframe: "${tf}") { columns { close } }`,
  );
  const { data } = await app.graphql(
    `{ ${symbols.map((symbol) => `${symbol}: symbol(symbol: "${symbol}") { quote { spot } spot { price } ${fields} }`)} }`,
    {},
    { credential },
  );
  for (const symbol of symbols) {
    const { quote, spot, ...bars } = data[symbol];
    prices[`graph quote ${symbol}`] = quote.spot;
    prices[`graph spot ${symbol}`] = spot.price;
    for (const [i, tf] of lengths.entries()) prices[`graph bars ${tf} ${symbol}`] = bars[`b${i}`].columns.close.at(-1);
  }
  return prices;
}

/** Every price that is asked for, or was sent by the streams, is its symbol's. */
async function expectOnePrice(app: TestApp, seen: Seen, credential: string, bySymbol: Record<string, number>) {
  const wanted = (prices: Record<string, number>) =>
    Object.fromEntries(Object.keys(prices).map((key) => [key, bySymbol[key.split(' ').at(-1)!]]));
  const prices = await asked(app, credential);
  expect(Object.keys(prices)).toHaveLength(symbols.length * 2 * (2 + lengths.length));
  expect(prices).toEqual(wanted(prices));
  const streamed = symbols.length * (1 + 2 * (1 + lengths.length));
  await expect.poll(() => Object.keys(seen.prices()).length, patient).toBe(streamed);
  await expect.poll(() => seen.prices(), patient).toEqual(wanted(seen.prices()));
}

test('at 100 instants of a live tape every endpoint has one price: the last on the tape', async () => {
  tape = madeTape();
  const credential = await app.key();
  const seen = new Seen();
  const follower = new Follower(app.store, {
    source: 'tape',
    now: () => app.clock.nowMs,
    gammaSource: 'vendor',
    rate: 0.04,
  });
  await follower.recover();
  await Promise.all([followEvents, followSubscriptions, followFrames].map((follow) => follow(app, seen)));
  let ms = 0;
  for (let instant = 0; instant < 100; instant++) {
    const before = ms;
    ms += tape.step();
    app.clock.nowMs = open + ms;
    const lines = tape.lines(before, ms);
    const piece = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const reading = {
      name: 'tape',
      book: follower.book,
      now: () => app.clock.nowMs,
      onBadLine: ({ reason }: { reason: string }) => expect.fail(reason),
    };
    for await (const { records } of readLiveLines(
      (async function* () {
        yield piece;
      })(),
      reading,
    ))
      await follower.take(piece, lines.length, records);
    await follower.commit();
    await expect
      .poll(async () => {
        const { body } = await app.get(`/v2/quotes?symbols=${stock}`, { credential });
        return body.data[0].volume;
      }, patient)
      .toBe(tape.volume());
    await expectOnePrice(app, seen, credential, tape.pricesBefore(ms + 1));
  }
  // The instants were in several bars of every length but the day.
  expect(ms).toBeGreaterThan(3_600_000);
  endedMs = ms;
});

test('at 100 instants of its replay every endpoint has one price: the last of the seconds that have ended', async () => {
  const timers = handTimers();
  const store = { ...app.store, endedBarsOnly: true, close: async () => {} };
  const fromMs = tape.pricedByMs();
  const replay = await testApp({ nowMs: open + fromMs, store, every: timers.every });
  onTestFinished(() => replay.close());
  const random = randomOf(7);
  const credential = await replay.key();
  const seen = new Seen();
  await Promise.all([followEvents, followSubscriptions, followFrames].map((follow) => follow(replay, seen)));
  for (let ms = fromMs; ms < endedMs; ms += 1 + random.below(endedMs / 50)) {
    replay.clock.nowMs = open + ms;
    timers.sweep();
    await expectOnePrice(replay, seen, credential, tape.pricesBefore(ms - (ms % 1000)));
  }
});
