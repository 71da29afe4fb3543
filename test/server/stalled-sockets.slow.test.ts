import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { fillSockets } from '../support/fill-sockets.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';
import { gexCapture, saveCaptures } from '../support/option-market.ts';
import { type Talk, talk } from '../support/web-socket.ts';

// A client that stops reading costs the server what it would need to go on, never all that it missed.
const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-20';
const patient = { timeout: 30_000 };
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
  for (const symbol of ['SPY', 'AAPL']) await storeDays(app.store, symbol, { '2026-11-19': 600 });
});
afterAll(() => app.close());

async function connect(path: string, protocols: string[] = []): Promise<Talk> {
  const talking = talk(app.url + path, protocols);
  onTestFinished(() => talking.socket.terminate());
  await talking.open;
  return talking;
}

const nothingLeft = () => expect.poll(() => app.live.counts(), patient).toEqual({ streams: 0, topics: 0 });

test('a socket of /v2/ws that stops reading is kept the latest price alone', async () => {
  const proto = (await app.get('/v2/stream-protocol.proto', { credential: null })).bytes.toString();
  const Frame = protobuf.parse(proto).root.lookupType('tapegraph.stream.v2.Frame');
  const { body } = await app.send('POST', '/v2/stream/ticket', { credential: await app.key() });
  const talking = await connect('/v2/ws');
  talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
  talking.send({ op: 'sub', id: 1, topic: 'spot', symbol: 'SPY' });
  // Their frames are short: the sockets take those of one subscription.
  for (let id = 2; id < 10; id++) talking.send({ op: 'sub', id, topic: 'gex', symbol: 'SPX' });
  await expect.poll(() => talking.said.length, patient).toBe(10);
  expect(talking.said.map(({ op }) => op)).toEqual(['authed', ...new Array(9).fill('ack')]);
  const prices = () =>
    talking.bytes
      .map((bytes): Json => Frame.toObject(Frame.decode(bytes)))
      .flatMap(({ symbol, ...update }) => (symbol === 'SPY' ? [Object.values(update).at(-1)] : []));
  await expect.poll(() => prices().length, patient).toBeGreaterThan(0);
  talking.socket.pause();
  await fillSockets(app, session, 570);
  for (let i = 1; i <= 150; i++) await trade(app.store, { SPY: 700 + i }, nowMs - 1000 + i);
  talking.socket.resume();
  await expect.poll(() => JSON.stringify(prices().at(-1)), patient).toContain('850');
  expect(prices().length).toBeLessThan(50);
}, 300_000);

test('a socket of /v2/ws that stops reading gets bye when more than 1,000 captures wait for it', async () => {
  const { body } = await app.send('POST', '/v2/stream/ticket', { credential: await app.key() });
  const talking = await connect('/v2/ws');
  talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
  talking.send({ op: 'sub', id: 1, topic: 'gex', symbol: 'AAPL' });
  for (let id = 2; id < 10; id++) talking.send({ op: 'sub', id, topic: 'gex', symbol: 'SPX' });
  await expect.poll(() => talking.said.length, patient).toBe(10);
  talking.socket.pause();
  await fillSockets(app, session, 620);
  const at = (second: number) =>
    gexCapture('AAPL', exchangeInstant(session, 600) + second * 1000, [
      { strike: 600_000, expiry: '2026-12-18', gex: second },
    ]);
  for (let first = 0; first < 1500; first += 250)
    await saveCaptures(app.store, { gex: Array.from({ length: 250 }, (_, i) => at(first + i)) });
  await expect.poll(() => app.live.counts().topics, { ...patient, interval: 10 }).toBeLessThan(2);
  // It has a second to read the last words.
  talking.socket.resume();
  expect(await talking.closed).toMatchObject({ code: 1013 });
  expect(talking.said.at(-1)).toMatchObject({ op: 'bye', reason: 'too_slow', code: 'rate_limited' });
  await nothingLeft();
}, 300_000);

test('a socket of /graphql that stops reading is ended when more than 1,000 large trades wait for it', async () => {
  const talking = await connect('/graphql', ['graphql-transport-ws']);
  talking.send({ type: 'connection_init', payload: { Authorization: `Bearer ${await app.key()}` } });
  const follow = (id: string, query: string) => talking.send({ type: 'subscribe', id, payload: { query } });
  await expect.poll(() => talking.said.length, patient).toBe(1);
  follow('trades', 'subscription { largeTrades(symbol: "AAPL", minPremiumUsd: 0) { seq } }');
  follow('gex', 'subscription { gexCaptured(symbol: "SPX") { capturedAt strikes { strike gex callOi putOi } } }');
  await expect.poll(() => app.live.counts().topics, patient).toBe(2);
  talking.socket.pause();
  await fillSockets(app, session, 660);
  for (let first = 0; first < 1200; first += 400) {
    const trades = Array.from({ length: 400 }, (_, i) => first + i + 1).map((seq) =>
      largeTrade(
        [leg('O:AAPL261218C00600000', nowMs - 60_000 + seq, { size: 1000, sequence: seq })],
        seq,
        coverage(session, 715),
      ),
    );
    await storeLargeTrades(app.store, trades);
  }
  // The operation is over in the server, whether or not its client ever reads again.
  await expect.poll(() => app.live.counts().topics, patient).toBeLessThan(2);
  talking.socket.resume();
  const ended = () => talking.said.find(({ id, type }) => id === 'trades' && (type === 'error' || type === 'complete'));
  await expect.poll(ended, patient).toBeDefined();
  expect(talking.said.filter(({ id, type }) => id === 'trades' && type === 'next').length).toBeLessThan(1200);
  talking.socket.terminate();
  await nothingLeft();
}, 300_000);

test.each([
  ['/v2/ws', [], 60_000, 900, (text: string) => ({ op: 'ping', t: text })],
  ['/graphql', ['graphql-transport-ws'], 1_000_000, 120, (payload: string) => ({ type: 'ping', payload: { payload } })],
] as const)(
  'a socket of %s that asks and does not read is not read either',
  async (path, protocols, bytes, most, ping) => {
    const talking = await connect(path, [...protocols]);
    if (path === '/v2/ws') {
      const { body } = await app.send('POST', '/v2/stream/ticket', { credential: await app.key() });
      talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
    } else talking.send({ type: 'connection_init', payload: { Authorization: `Bearer ${await app.key()}` } });
    await expect.poll(() => talking.said.length, patient).toBe(1);
    talking.socket.pause();
    const message = JSON.stringify(ping('x'.repeat(bytes)));
    // Each waits until the one before has left: what the kernel and the server hold is all that is ever on its way.
    let taken = 0;
    const sending = (async () => {
      for (; taken < most; taken++)
        await new Promise((resolve, reject) =>
          talking.socket.send(message, (error) => (error ? reject(error) : resolve(0))),
        );
    })();
    let before = -1;
    while (before !== taken && taken < most) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    expect(taken * message.length).toBeLessThan(30_000_000);
    // Once it reads, everything is answered.
    talking.socket.resume();
    await sending;
    await expect.poll(() => talking.said.filter(({ op, type }) => (op ?? type) === 'pong').length, patient).toBe(most);
  },
  120_000,
);

test.each([
  ['/v2/ws', []],
  ['/graphql', ['graphql-transport-ws']],
] as const)(
  'a socket of %s has its pings answered, and is closed with 1008 for a flood of them',
  async (path, protocols) => {
    const talking = await connect(path, [...protocols]);
    const answered = new Promise((resolve) => talking.socket.once('pong', (data) => resolve(String(data))));
    talking.socket.ping('are you there?');
    expect(await answered).toBe('are you there?');
    for (let i = 0; i < 1200; i++) i % 2 === 0 ? talking.socket.ping() : talking.socket.pong();
    expect(await talking.closed).toMatchObject({ code: 1008 });
    await nothingLeft();
  },
);
