// Replays of chains, cross-sections and evening prints, over server-sent events and WebSockets: each event is what the
// graph says as of its instant.
import { Readable } from 'node:stream';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents, subscribe } from '../support/event-reader.ts';
import { handTimers, jumpingPace } from '../support/live.ts';
import { storeDays } from '../support/market.ts';

const [friday, monday, tuesday] = ['2026-11-13', '2026-11-16', '2026-11-17'] as const;
const at = (date: string, hour: number, minute = 0, second = 0) =>
  exchangeInstant(date, hour * 60 + minute) + second * 1000;
const [from, to] = [at(monday, 14, 58), at(tuesday, 9, 40)];
const contracts = { SPY: 'O:SPY261218C00600000', SPX: 'O:SPXW261218C06000000' };
let id = 0;
const stamp = (ms: number) => ({ sip_timestamp: `${ms}000000`, sequence_number: ++id });
const stock = (ms: number, price: number) => ({
  type: 'stock_print',
  symbol: 'SPY',
  exchange: 11,
  id: String(id),
  price,
  size: 100,
  ...stamp(ms),
});
const option = (contract: string, ms: number, size: number) => ({
  type: 'option_print',
  contract,
  exchange: 302,
  conditions: [209],
  price: 5,
  size,
  ...stamp(ms),
});
const chain = (ms: number, openInterest: number) => ({
  type: 'chain',
  underlying: 'SPY',
  captured_at_ms: ms,
  spot: 601,
  prior_close_spot: 600,
  rows: ['C', 'P'].map((right) => ({
    contract: `O:SPY261218${right}00600000`,
    open_interest: openInterest,
    bid: 4,
    ask: 4.1,
    iv: 0.12,
    delta: right === 'C' ? 0.5 : -0.5,
    gamma: 0.02,
  })),
});

/** A Monday afternoon, the evening that belongs to Tuesday, and Tuesday morning. */
const tape = [
  stock(at(monday, 14, 59, 1), 600),
  option(contracts.SPX, at(monday, 14, 59, 5), 10),
  option(contracts.SPY, at(monday, 15, 0, 20), 400),
  chain(at(monday, 15, 1, 30), 1000),
  option(contracts.SPX, at(monday, 15, 1, 40), 700),
  stock(at(monday, 15, 59, 58), 601),
  chain(at(monday, 15, 59, 59), 1100),
  option(contracts.SPX, at(monday, 20, 15, 7), 30),
  option(contracts.SPX, at(monday, 20, 17, 59), 500),
  option(contracts.SPX, at(tuesday, 9, 31, 12), 5),
  stock(at(tuesday, 9, 31, 30), 602),
  chain(at(tuesday, 9, 32, 1), 1200),
];

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await testApp({ nowMs: at(tuesday, 12), every: handTimers().every, pace: jumpingPace() });
  key = await app.key();
  await storeDays(app.store, 'SPY', { [friday]: 590 });
  const lines = [...tape, { type: 'time', sip_timestamp: `${at(tuesday, 11)}000000` }];
  await follow(app.store, Readable.from(lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`))), {
    source: 'tape',
    fromStart: true,
    everyMs: 0,
    now: () => app.clock.nowMs,
    rate: 0.04,
    stop: new AbortController().signal,
    gammaSource: 'vendor' as const,
    onBadLine: ({ reason }) => expect.fail(reason),
  });
});
afterAll(() => app.close());

const nothingLeft = () => expect.poll(() => app.live.counts(), { timeout: 5_000 }).toEqual({ streams: 0, topics: 0 });

const selections = {
  quotes: 'quote { symbol sessionDate spot volume }',
  bars: 'bar { tsMs open close volume }',
  gex: 'gexCapture { capturedAt netGex strikes { strike gex callOi } }',
  chain: 'chain { capturedAt spot rows { contract { id } openInterest bid } }',
  large_trades: 'largeTrade { symbol update { event { eventId eventTsMs } } }',
  cross_section: `crossSection { symbol seq coverage { sessionDate observedThroughMs }
    update { byStrike { strikeThousandths measures { callPremiumUsd putPremiumUsd callVolume } } byExpiration { expiry measures { callPremiumUsd putPremiumUsd callVolume } } } }`,
};
const replayOf = (topics: string) =>
  `subscription { replay(topics: [${topics}], from: "${from}", to: "${to}", speed: 3600) {
    at kind ${Object.values(selections).join(' ')} } }`;
const everything = replayOf(
  ['quotes', 'bars', 'gex', 'chain'].map((kind) => `{ kind: ${kind}, symbol: "SPY" }`).join() +
    ',{ kind: large_trades, symbol: "SPX" }, { kind: cross_section, symbol: "SPX" }',
);

/** All events of a replay over server-sent events. */
async function bySse(query: string): Promise<Json[]> {
  const reader = await subscribe(app.url, key, query);
  onTestFinished(() => reader.leave());
  await reader.over;
  return reader.events.flatMap(({ data }) => (data === '' ? [] : [data.data.replay]));
}

function clientOf(credential: string): Client {
  const client = createClient({
    url: `${app.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${credential}` },
    retryAttempts: 0,
    lazyCloseTimeout: 60_000,
  });
  onTestFinished(async () => void (await client.dispose()));
  return client;
}

/** All events of a replay over graphql-ws; rejects with the errors of one that is not served. */
async function byWebSocket(query: string, client: Client): Promise<Json[]> {
  const events: Json[] = [];
  await new Promise<void>((resolve, reject) => {
    client.subscribe(
      { query },
      {
        next: ({ data, errors }: Json) => (errors ? reject(errors) : events.push(data.replay)),
        error: reject,
        complete: resolve,
      },
    );
  });
  return events;
}

const asOf = async (ms: number, selection: string) => {
  const { data, errors } = await app.graphql(`{ asOf(at: "${ms}") { ${selection} } }`, {}, { credential: key });
  expect(errors).toBeUndefined();
  return data.asOf;
};
const ofKind = (events: Json[], wanted: string) => events.filter(({ kind }) => kind === wanted);

describe('over graphql-ws a replay', () => {
  test('has the events that it has over server-sent events, and completes', async () => {
    const client = clientOf(key);
    const [socket, sse] = [await byWebSocket(everything, client), await bySse(everything)];
    expect(socket).toEqual(sse);
    const kinds = Object.keys(selections);
    expect([...new Set(socket.map(({ kind }) => kind))].sort()).toEqual([...kinds, 'end'].sort());
    expect(socket.at(-1)).toMatchObject({ kind: 'end', at: to });
    await client.dispose();
    await nothingLeft();
  });

  test('runs beside others of one connection, and leaves nothing behind when it is stopped', async () => {
    const client = clientOf(key);
    const spy = '{ kind: quotes, symbol: "SPY" }';
    const [one, other] = await Promise.all([byWebSocket(replayOf(spy), client), byWebSocket(everything, client)]);
    expect(ofKind(other, 'quotes')).toEqual(ofKind(one, 'quotes'));
    const stopped = Promise.withResolvers<void>();
    const stop = client.subscribe(
      { query: everything },
      { next: () => stop(), error: stopped.reject, complete: stopped.resolve },
    );
    await stopped.promise;
    await client.dispose();
    await nothingLeft();
  });

  test('that is not served is an error of the contract', async () => {
    const free = clientOf(await app.key({ apiTier: 'free', classification: null }));
    const refused = await byWebSocket(replayOf('{ kind: cross_section, symbol: "SPX" }'), free).catch((e) => e);
    expect(refused[0].extensions.code).toBe('not_entitled_tier');
    const wrong = await byWebSocket(everything.replace('speed: 3600', 'speed: 0'), clientOf(key)).catch((e) => e);
    expect(wrong[0].message).toBe('speed: expected a number from 0.1 to 3600, got 0');
  });
});

describe('an event of a replay is what the graph says as of its instant', () => {
  test('of a chain: each capture once, then', async () => {
    const events = ofKind(await bySse(replayOf('{ kind: chain, symbol: "SPY" }')), 'chain');
    expect(events.map(({ chain }) => chain.rows[0].openInterest)).toEqual([1000, 1100, 1200]);
    for (const { at: ms, chain } of events)
      expect(chain).toEqual((await asOf(ms, `symbol(symbol: "SPY") { ${selections.chain} }`)).symbol.chain);
  });

  test('of a cross-section: minute by minute, in the evening that of the next session', async () => {
    const events = ofKind(await bySse(replayOf('{ kind: cross_section, symbol: "SPX" }')), 'cross_section');
    const fields = selections.cross_section.replace('crossSection', 'snapshot');
    for (const { at: ms, crossSection } of events) {
      const { symbol } = await asOf(ms, `symbol(symbol: "SPX") { flow { crossSection { ${fields} } } }`);
      expect(crossSection).toEqual(symbol.flow.crossSection.snapshot);
    }
    const premiums = events.map(({ crossSection: { coverage, update } }) => [
      coverage.sessionDate,
      update.byStrike.reduce((sum: number, row: Json) => sum + row.measures.callPremiumUsd, 0),
    ]);
    expect(premiums.filter(([, premium]) => premium > 0)).toEqual([
      [monday, 5000],
      [monday, 355_000],
      [tuesday, 15_000],
      [tuesday, 265_000],
      [tuesday, 267_500],
    ]);
  });

  test('of evening trades: with their last leg, and nothing before', async () => {
    const events = ofKind(await bySse(replayOf('{ kind: large_trades, symbol: "SPX" }')), 'large_trades');
    const told = events.map(({ at: ms, largeTrade }) => [ms, largeTrade.update.event.eventTsMs]);
    expect(told.filter(([ms]) => ms! > at(monday, 18))).toEqual([[at(monday, 20, 17, 59), at(monday, 20, 17, 59)]]);
    for (const [ms, eventMs] of told) expect(ms! - eventMs!).toBeLessThanOrEqual(1000);
  });

  test('of a quote: in the evening that of the session that ended', async () => {
    const events = ofKind(await bySse(replayOf('{ kind: quotes, symbol: "SPY" }')), 'quotes');
    expect(events.map(({ quote }) => [quote.sessionDate, quote.spot]).slice(-2)).toEqual([
      [monday, 601],
      [tuesday, 602],
    ]);
    for (const { at: ms, quote } of events)
      expect([quote]).toEqual(
        (await asOf(ms, 'quotes(symbols: ["SPY"]) { rows { symbol sessionDate spot volume } }')).quotes.rows,
      );
  });
});

test('over REST the same trades and cross-sections are sent', async () => {
  const reader = await readEvents(
    `${app.url}/v2/stream?topics=cross-section:SPX,large-trades:SPX&from=${from}&to=${to}&speed=3600`,
    { headers: { authorization: `Bearer ${key}` } },
  );
  onTestFinished(() => reader.leave());
  await reader.over;
  const graph = await bySse(replayOf('{ kind: cross_section, symbol: "SPX" }, { kind: large_trades, symbol: "SPX" }'));
  const namesOf = (name: string) => reader.events.filter(({ event }) => event === name);
  expect(namesOf('cross-section').map(({ data }) => data.seq)).toEqual(
    ofKind(graph, 'cross_section').map(({ crossSection }) => crossSection.seq),
  );
  expect(namesOf('large-trades').map(({ data }) => data.update.event.event_id)).toEqual(
    ofKind(graph, 'large_trades').map(({ largeTrade }) => largeTrade.update.event.eventId),
  );
});
