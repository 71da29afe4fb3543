import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import type { Json, TestApp } from '../support/app.ts';
import { filledApp, filledContract, filledNowMs } from '../support/filled-market.ts';
import { largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { quotedChain, solvedPair } from '../support/hand-made-capture.ts';
import { newYork, saveCaptures } from '../support/option-market.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await filledApp();
  session = await app.session();
});
afterAll(() => app.close());

const graphql = (query: string) => app.graphql(query, {}, { credential: session });
const ms = (date: string, time: string) => newYork(date, time);

test.each([
  ['the list of the day before until 20:00', '2026-11-30T19:59:59', '2026-11-27'],
  ['the list of a session from 20:00 on', '2026-11-30T20:00', '2026-11-30'],
  ['the last list over a weekend', '2026-11-29T12:00', '2026-11-27'],
])('end-of-day lists are published at 20:00: %s', async (_what, at, sessionDate) => {
  const { data } = await graphql(`{ asOf(at: "${at}") { eod(symbol: "SPY", minPremiumUsd: 0) { sessionDate } } }`);
  expect(data.asOf.eod.sessionDate).toBe(sessionDate);
});

test.each([
  ['before 06:00 of the next trading day', '2026-11-30T05:59:59', '2026-11-25'],
  ['from 06:00 of the next trading day on', '2026-11-30T06:00', '2026-11-27'],
  ['over a weekend', '2026-11-28T12:00', '2026-11-25'],
])('off-exchange data is published at 06:00: %s', async (_what, at, latest) => {
  const { status, body } = await app.get(`/v2/offexchange/SPY/activity?at=${at}`, { credential: session });
  expect([status, body.meta.latest_session]).toEqual([200, latest]);
});

test.each([
  ['2026-11-30T19:59:59', 'observed_live', false],
  ['2026-11-30T20:00', 'eod_reconciled', true],
])('coverage is reconciled at 20:00: %s', async (at, status, complete) => {
  const path = `/v2/flow/SPY/cross-section?session=2026-11-30&at=${at}`;
  const { body } = await app.get(path, { credential: session });
  expect(body.data.snapshot.coverage).toMatchObject({ status, complete });
});

test('a large trade appears with its last leg', async () => {
  const store = app.store;
  const atMs = ms('2026-11-30', '11:00');
  const call = filledContract('SPY');
  const legs = [leg(call, atMs, { sequence: 9000 }), leg(call, atMs + 400, { sequence: 9001 })];
  const { coverage } = (
    await graphql(
      '{ symbol(symbol: "SPY") { flow { largeTrades(session: "2026-11-30", limit: 1) { events { coverage { status complete sessionDate observedFromMs observedThroughMs registryVersion standardMultiplierAssumed } } } } } }',
    )
  ).data.symbol.flow.largeTrades.events[0];
  await storeLargeTrades(store, [largeTrade(legs, 9000, coverage, { eventKind: 'sweep' })]);
  const newest = async (at: number) => {
    const fields = 'events { update { event { eventTsMs } } }';
    const { data } = await graphql(`{ asOf(at: "${at}") {
      all: largeTrades(session: "2026-11-30", minPremiumUsd: 0, limit: 1) { ${fields} }
      own: symbol(symbol: "SPY") { flow { largeTrades(session: "2026-11-30", limit: 1) { ${fields} meta { total { count } } } } } } }`);
    const { all, own } = data.asOf;
    return [all.events[0], own.flow.largeTrades.events[0]].map(({ update }) => update.event.eventTsMs === atMs);
  };
  expect(await newest(atMs)).toEqual([false, false]);
  expect(await newest(atMs + 1000)).toEqual([true, true]);
});

test('an instant that has not come is 400; up to a minute ahead, and the date of today, mean now', async () => {
  const statusOf = async (at: string | number) => {
    const { status, body } = await app.get(`/v2/quotes?symbols=SPY&at=${at}`, { credential: session });
    return [status, body.meta?.at ?? body.error.details];
  };
  expect(await statusOf(filledNowMs + 60_000)).toEqual([200, filledNowMs]);
  expect(await statusOf('2026-12-01')).toEqual([200, filledNowMs]);
  for (const at of [filledNowMs + 60_001, '2026-12-02', '2026-12-01T12:02'])
    expect(await statusOf(at)).toEqual([400, { parameter: 'at' }]);
});

test('what is asked beyond the instant is cut to it, and the answer says so', async () => {
  const at = ms('2026-11-30', '09:38');
  const beyond = '2026-11-30T15:00';
  const { data } = await graphql(`{ asOf(at: "${at}") { atEffective symbol(symbol: "SPY") {
    gex {
      grid(at: "${beyond}") { capturedAt meta { caps { applied } at atEffective } }
      diff(from: "2026-11-30T09:35", to: "${beyond}") { to { capturedAt } meta { caps { applied } } }
    }
    chainDiff(from: "${beyond}", to: "${beyond}") { fromCapturedAt meta { caps { applied } } }
    chain(at: "${beyond}") { capturedAt meta { caps { applied } } }
    expirations(at: "${beyond}") { meta { capturedAt caps { applied } } }
    bars(from: "2026-11-30", to: "2026-12-01", timeframe: "1m") { rows { tsMs } } } } }`);
  const { grid } = data.asOf.symbol.gex;
  const captured = ms('2026-11-30', '09:35');
  expect(grid).toEqual({
    capturedAt: captured,
    meta: { caps: { applied: ['at_clamped'] }, at, atEffective: captured },
  });
  expect(data.asOf.symbol.chain).toEqual({ capturedAt: captured, meta: { caps: { applied: ['at_clamped'] } } });
  expect(data.asOf.symbol.expirations.meta.caps.applied).toEqual(['at_clamped']);
  const meta = { caps: { applied: ['at_clamped'] } };
  expect(data.asOf.symbol.gex.diff).toEqual({ to: { capturedAt: captured }, meta });
  expect(data.asOf.symbol.chainDiff).toEqual({ fromCapturedAt: captured, meta });
  expect(data.asOf.symbol.bars.rows.at(-1).tsMs).toBe(ms('2026-11-30', '09:37'));
});

test('captures count from their exact instant on, and a part of a chain at its own alone', async () => {
  const at = ms('2026-11-30', '11:00') + 500;
  const whole = quotedChain({
    root: 'SPXW',
    atMs: at,
    spot: 6000,
    volatility: 0.16,
    volume: 1,
    expiries: ['2026-12-18', '2026-12-31'],
    strikes: [5900, 5950, 6000, 6050, 6100],
    openInterest: () => 100,
  });
  const { chain, gex } = await solvedPair(whole);
  const part = { ...chain, capturedAt: at + 60_000, subset: true };
  await saveCaptures(app.store, { gex: [gex], chains: [chain, part] });
  const { data } = await graphql(`{ at: asOf(at: ${at}) { symbol(symbol: "SPX") {
    chain { capturedAt } expirations { dates meta { capturedAt } } inside: chain(at: ${at}) { capturedAt }
    gex { latest { capturedAt } grid { capturedAt } sessions(first: 1) { capturedAt }
      history(date: "2026-11-30") { captures { capturedAt } } } }
    contract(id: "O:SPXW261218C06000000") { greeks { latest { tsMs } } history { days { date openInterest capturedAt } } } }
    part: asOf(at: ${at + 60_000}) { symbol(symbol: "SPX") { chain { capturedAt } } }
    later: asOf(at: ${at + 60_001}) { symbol(symbol: "SPX") { chain { capturedAt } gex { exposures { capturedAt } } } } }`);
  const capturedAt = at;
  expect(data.at.symbol).toEqual({
    chain: { capturedAt },
    expirations: { dates: ['2026-12-18', '2026-12-31'], meta: { capturedAt } },
    inside: { capturedAt },
    gex: {
      latest: { capturedAt },
      grid: { capturedAt },
      sessions: [{ capturedAt }],
      history: { captures: expect.arrayContaining([{ capturedAt }]) },
    },
  });
  expect(data.at.contract.greeks).toEqual({ latest: { tsMs: at } });
  expect(data.at.contract.history.days).toContainEqual({ date: '2026-11-30', openInterest: 100, capturedAt });
  expect(data.part.symbol.chain).toEqual({ capturedAt: at + 60_000 });
  expect(data.later.symbol).toEqual({ chain: { capturedAt }, gex: { exposures: { capturedAt } } });
});

test('two instants and now stay apart in one request', async () => {
  const spot = '{ symbol(symbol: "SPY") { id spot { price } gex { latest { id capturedAt } } } }';
  const { data } = await graphql(`{ a: asOf(at: "2026-11-27T12:56") ${spot} b: asOf(at: "2026-11-30T09:41") ${spot}
    live: asOf ${spot} symbol(symbol: "SPY") { id spot { price } gex { latest { id capturedAt } } } }`);
  expect(data.live.symbol).toEqual(data.symbol);
  const captures = [data.a, data.b, data].map(({ symbol }: Json) => symbol.gex.latest.capturedAt);
  expect(captures).toEqual([ms('2026-11-27', '12:55'), ms('2026-11-30', '09:40'), ms('2026-12-01', '09:40')]);
  const ids = [data.a, data.b, data].flatMap(({ symbol }: Json) => [symbol.id, symbol.gex.latest.id]);
  expect(new Set(ids).size).toBe(6);
});

test('an id from the past reads the object as of its instant again', async () => {
  const fields = 'id spot { price } quote { spot changePct }';
  const { data } = await graphql(`{ asOf(at: "2026-11-27T12:56") { symbol(symbol: "SPY") { ${fields} } } }`);
  const { symbol } = data.asOf;
  const again = await graphql(`{ node(id: "${symbol.id}") { ... on Symbol { ${fields} } }
    nodes(ids: ["${symbol.id}"]) { ... on Symbol { ${fields} } } }`);
  expect(again.data).toEqual({ node: symbol, nodes: [symbol] });
  const live = await graphql(`{ symbol(symbol: "SPY") { ${fields} } }`);
  expect(live.data.symbol.spot).not.toEqual(symbol.spot);
  const mixed = await graphql(`{ nodes(ids: ["${symbol.id}", "${live.data.symbol.id}"]) { id } }`);
  expect(mixed.errors?.[0].message).toContain('expected ids of one instant');
});

test('an answer of a past session carries a tag and is answered 304; one of today is not stored', async () => {
  const path = '/v2/quotes?symbols=SPY&at=2026-11-30T10:00';
  const { headers, body } = await app.get(path, { credential: session });
  expect([headers['cache-control'], body.meta.plane]).toEqual(['private', 'archive']);
  const again = await app.get(path, { credential: session, headers: { 'if-none-match': headers.etag! } });
  expect(again.status).toBe(304);
  const today = await app.get('/v2/quotes?symbols=SPY&at=2026-12-01T10:00', { credential: session });
  expect([today.headers['cache-control'], today.headers.etag, today.body.meta.plane]).toEqual([
    'no-store',
    undefined,
    'live',
  ]);
});

test('an API key takes one slot for bars of two instants', async () => {
  const credential = await app.key();
  const bars = 'bars(from: "2026-11-30", to: "2026-12-01", timeframe: "1m", limit: 1) { rows { tsMs } }';
  const asked = ['2026-11-30T10:00', '2026-11-30T10:01', '2026-11-30T10:02'].map(
    (at, i) => `a${i}: asOf(at: "${at}") { symbol(symbol: "SPY") { ${bars} } }`,
  );
  const { errors } = await app.graphql(`{ ${asked.join(' ')} }`, {}, { credential });
  expect(errors).toBeUndefined();
});

test('a bar in progress at the instant is made of the seconds up to it', async () => {
  const at = exchangeInstant('2026-11-30', 570) + 30_000;
  const bars = (timeframe: string, credential = session) =>
    app.get(`/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01&timeframe=${timeframe}&at=${at}`, { credential });
  const seconds = (await bars('1s')).body.data;
  const [minute] = (await bars('1m')).body.data;
  expect(seconds.length).toBe(30);
  expect(minute).toMatchObject({
    open: seconds[0].open,
    close: seconds.at(-1).close,
    high: Math.max(...seconds.map((bar: Json) => bar.high)),
    volume: seconds.reduce((sum: number, bar: Json) => sum + bar.volume, 0),
  });
});

test('the caller needs the same access as now', async () => {
  const credential = await app.session({ siteTier: 'free', classification: null });
  const { status } = await app.get('/v2/gex/SPX/grid?at=2026-11-30', { credential });
  const { errors } = await app.graphql(
    '{ asOf(at: "2026-11-30") { symbol(symbol: "SPX") { spot { price } } } }',
    {},
    { credential },
  );
  expect([status, errors?.[0].extensions.code]).toEqual([
    403,
    expect.stringMatching(/not_entitled_tier|attestation_required/),
  ]);
});
