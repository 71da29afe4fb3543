import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { storeChain } from '../../src/intake/ingest/chains/chain.ts';
import { dashboardQuery } from '../../src/pages/dashboard/client/data/operations.ts';
import { dayMs } from '../../src/platform/runtime/clock.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { capturedAt, market, pricedChain } from '../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents, subscribe } from '../support/event-reader.ts';
import { newYork } from '../support/option-market.ts';
import { talk } from '../support/web-socket.ts';

// A chain of 11:00, one of whose expiries ends that day.
const [today, next, soon, later] = ['2025-06-04', '2025-06-05', '2025-06-06', '2025-07-18'];
const all = [today, soon, later];
const open = [soon, later];
const strikes = Array.from({ length: 17 }, (_, i) => 560 + 5 * i);
let app: TestApp;
let Frame: protobuf.Type;

/** The first view of the dashboard, with the panels of gamma and volatility. */
const page = {
  symbol: 'SPX',
  past: false,
  sessionAt: today,
  session: today,
  flowSession: null,
  timeframe: '5m',
  quotes: ['SPX'],
  from: today,
  to: next,
  activityFrom: today,
  dailyFrom: today,
  dailyTo: today,
  offFrom: today,
  offTo: today,
  lists: false,
  flow: false,
  activity: false,
  heat: true,
  trades: false,
  volatility: true,
  offExchange: false,
};

async function saveChain(underlying: string, root: string, atMs: number, sessionDate = today): Promise<void> {
  await inTransaction(app.store, async (tx) => {
    const rows = pricedChain('SPXW', all, strikes).rows.map((row) => ({ ...row, root }));
    const chain = { ...pricedChain('SPXW', all, strikes), underlying, rows, capturedAt: atMs, sessionDate };
    await storeChain(tx, chain, { rate: market.rate, gammaSource: 'solve' });
  });
}

beforeAll(async () => {
  app = await testApp({ nowMs: newYork(today, '11:30') });
  // The latest is compared with one before it.
  await saveChain('SPX', 'SPXW', capturedAt - dayMs, '2025-06-03');
  await saveChain('SPX', 'SPXW', capturedAt);
  const proto = (await app.get('/v2/stream-protocol.proto', { credential: null })).bytes.toString();
  Frame = protobuf.parse(proto).root.lookupType('tapegraph.stream.v2.Frame');
});
afterAll(() => app.close());

/** The latest answers of the symbol, each reduced to the expiries that it shows. */
const answers: Record<string, (body: Json) => string[]> = {
  'gex/SPX/grid?by_expiry=1': ({ data }) => data.strikes.map(({ expiry }: Json) => expiry),
  'gex/SPX/exposures': ({ data }) => data.by_expiry.map(({ expiry }: Json) => expiry),
  'gex/SPX/figures': ({ data }) => data.expiries,
  'options/SPX/vol/term': ({ data }) => data.expiries.map(({ expiry }: Json) => expiry),
  'options/SPX/vol/surface': ({ data }) => data.points.map(({ expiry }: Json) => expiry),
  'levels/SPX': ({ data }) => data.levels.flatMap(({ expiry }: Json) => expiry ?? []),
};
/** Answers that list settled contracts too, and one that never does. */
const lists: Record<string, (body: Json) => string[]> = {
  'chain/SPX': ({ data }) => data.rows.map(({ contract }: Json) => contract.expiry),
  'chain/SPX/expirations': ({ data }) => data,
};
const distinct = (expiries: string[]) => [...new Set(expiries)].sort();

const note = `The latest capture of SPX is of ${today}.`;

interface Case {
  what: string;
  nowMs: number;
  plane: 'live' | 'archive';
  expiries: string[];
}

const cases: Case[] = [
  { what: 'within its session', nowMs: newYork(today, '12:00'), plane: 'live', expiries: all },
  { what: 'after the close', nowMs: newYork(today, '16:30'), plane: 'live', expiries: open },
  { what: 'before the next session begins', nowMs: newYork(next, '08:00'), plane: 'live', expiries: open },
  { what: 'after the next session began', nowMs: newYork(next, '09:30'), plane: 'archive', expiries: all },
  { what: 'years later', nowMs: newYork('2026-11-24', '12:00'), plane: 'archive', expiries: all },
];

test('an expiry of the day leaves the list of an old capture at the close, also where the list was asked for before', async () => {
  const listed = async (time: string) => {
    app.clock.nowMs = newYork(soon, time);
    return (await app.get('/v2/chain/SPX/expirations')).body.data;
  };
  // An answer that is asked for twice is cached.
  for (const time of ['12:00', '12:01']) expect(await listed(time)).toEqual([soon, later]);
  expect(await listed('16:30')).toEqual([later]);
});

describe.each(cases)('the latest capture, asked $what', ({ nowMs, plane, expiries }) => {
  beforeAll(() => {
    app.clock.nowMs = nowMs;
  });

  test.each(Object.keys(answers))(
    '%s is judged at its instant: the clock drops what settled, or nothing',
    async (path) => {
      const { status, body, headers } = await app.get(`/v2/${path}`);
      expect(status).toBe(200);
      const shown = distinct(answers[path]!(body));
      expect(shown).toEqual(path.startsWith('levels') ? expiries.slice(0, 1) : expiries);
      expect([body.meta.plane, body.meta.note]).toEqual([plane, plane === 'archive' ? note : undefined]);
      // An age would change under one tag.
      expect(JSON.stringify(body)).not.toContain('"age"');
      expect(headers.etag === undefined).toBe(plane === 'live');
    },
  );

  test.each(Object.keys(lists))('%s names the date of an old capture', async (path) => {
    const { body } = await app.get(`/v2/${path}`);
    const isOpen = (expiry: string) => newYork(expiry, '16:00') > nowMs;
    const listed = path.endsWith('expirations') ? all.filter(isOpen) : all;
    expect(distinct(lists[path]!(body))).toEqual(listed);
    expect([body.meta.plane, body.meta.note]).toEqual([plane, plane === 'archive' ? note : undefined]);
  });

  test('one capture has one net: of grid, figures and pages, and as stored of latest, history, screener and streams', async () => {
    const [grid, figures, history, stored] = await Promise.all(
      ['gex/SPX/grid', 'gex/SPX/figures', `gex/SPX/history?date=${today}`, `gex/SPX/grid?at=${today}`].map(
        async (path) => (await app.get(`/v2/${path}`)).body.data,
      ),
    );
    const { data } = await app.graphql(`{ symbol(symbol: "SPX") {
      gex { latest { netGex sourceTime age expiries { expiry maxPain } } grid { netGex } } } }`);
    const { latest, grid: shown } = data.symbol.gex;
    expect(shown.netGex).toBe(grid.net_gex);
    expect(figures.net).toBeCloseTo(grid.net_gex, 6);
    expect([latest.netGex, history.captures[0].net_gex]).toEqual([stored.net_gex, stored.net_gex]);
    if (expiries === all)
      expect([grid.net_gex, grid.flip_point, grid.strikes]).toEqual([
        stored.net_gex,
        stored.flip_point,
        stored.strikes,
      ]);
    else expect(grid.net_gex).not.toBe(stored.net_gex);
    expect([latest.sourceTime, latest.age]).toEqual([capturedAt, nowMs - capturedAt]);
    const levels = (await app.get('/v2/levels/SPX')).body.data.levels;
    const pain = latest.expiries.find(({ expiry }: Json) => expiry === expiries[0]);
    expect(levels.find(({ kind }: Json) => kind === 'max_pain').price).toBe(pain.maxPain / 1000);
    expect(levels.filter(({ kind }: Json) => kind !== 'off_exchange').map((level: Json) => level.as_of)).toEqual(
      Array(9).fill(capturedAt),
    );
    const screen = await app.get(`/v2/screener/screen?where=${encodeURIComponent('{"symbol":{"eq":"SPX"}}')}`);
    const [row] = screen.body.data;
    expect([row.as_of, row.net_gex]).toEqual([capturedAt, latest.netGex]);
    const rows = await app.graphql(`{ screener(where: { symbol: { eq: "SPX" } }) { rows { asOf netGex } } }`);
    expect(rows.data.screener.rows).toEqual([{ asOf: capturedAt, netGex: latest.netGex }]);
  });

  test('the page shows it as stored, and expiries as the routes do', async () => {
    const { data, errors } = await app.graphql(dashboardQuery, page);
    expect(errors).toBeUndefined();
    const { gex, volatility } = data.symbol;
    const { data: stored } = (await app.get(`/v2/gex/SPX/grid?at=${today}`)).body;
    expect([gex.latest.capturedAt, gex.latest.netGex]).toEqual([capturedAt, stored.net_gex]);
    expect(gex.history.captures.map(({ capturedAt: at }: Json) => at)).toEqual([capturedAt]);
    expect(distinct(volatility.surface.points.map(({ expiry }: Json) => expiry))).toEqual(expiries);
    expect(volatility.surface.meta.note).toBe(plane === 'archive' ? note : null);
  });

  test('a reference and a change of it are as stored, whatever has settled since', async () => {
    const { data: stored } = (await app.get(`/v2/gex/SPX/grid?at=${today}&by_expiry=1`)).body;
    const { data } = (await app.get(`/v2/gex/SPX/reference?date=${today}`)).body;
    expect([data.captured_at, data.net_gex]).toEqual([capturedAt, stored.net_gex]);
    expect(distinct(data.strikes.map(({ expiry }: Json) => expiry))).toEqual(all);
    const changed = (await app.get(`/v2/gex/SPX/change?from=2025-06-03&to=${today}`)).body;
    expect([changed.data.to.captured_at, changed.data.net_gex.to]).toEqual([capturedAt, stored.net_gex]);
    expect(distinct(changed.data.change.expiries.map(({ expiry }: Json) => expiry))).toEqual(all);
    expect(JSON.stringify([data, changed])).not.toContain('"age"');
  });

  test('the first frames of a stream and of a socket are it as stored', async () => {
    const { data: stored } = (await app.get(`/v2/gex/SPX/grid?at=${today}`)).body;
    const credential = await app.key();
    const reader = await readEvents(`${app.url}/v2/stream?topics=gex:SPX`, {
      headers: { authorization: `Bearer ${credential}` },
    });
    let event = await reader.next();
    while (event!.event === 'ready') event = await reader.next();
    reader.leave();
    expect([event!.data.captured_at, event!.data.net_gex]).toEqual([capturedAt, stored.net_gex]);
    expect(event!.data).not.toHaveProperty('age');
    const { ticket } = (await app.send('POST', '/v2/stream/ticket', { credential })).body.data;
    const talking = talk(`${app.url}/v2/ws`);
    onTestFinished(() => talking.socket.terminate());
    await talking.open;
    talking.send({ op: 'auth', ticket, proto: 3, encoding: 'protobuf' });
    talking.send({ op: 'sub', id: 1, topic: 'gex', symbol: 'SPX' });
    await expect.poll(() => talking.bytes.length, { timeout: 20_000 }).toBe(1);
    const { gexSnap } = Frame.toObject(Frame.decode(talking.bytes[0]!), { longs: Number });
    expect([gexSnap.capturedAtMs, gexSnap.netGex]).toEqual([capturedAt, stored.net_gex]);
  });

  test('0DTE and dte are those of its session', async () => {
    const { data, meta } = (await app.get('/v2/gex/SPX/grid?dte=0')).body;
    expect(meta.dte_expiry).toBe(today);
    expect(data.strikes.length > 0).toBe(expiries === all);
    const zero = await app.get(`/v2/gex/SPX/figures?expiries=zero_dte`);
    expect(zero.body.data.expiries).toEqual(expiries.filter((expiry) => expiry === today));
    const { expiries: term } = (await app.get('/v2/options/SPX/vol/term')).body.data;
    expect(term.map(({ dte }: Json) => dte)).toEqual(expiries === all ? [0, 2, 44] : [2, 44]);
  });

  test('a stream and a tool say the same', async () => {
    const query = 'subscription { chainCaptured(symbol: "SPX") { capturedAt meta { plane note } } }';
    const reader = await subscribe(app.url, await app.key(), query);
    const first = await reader.next();
    reader.leave();
    const said = { plane, note: plane === 'archive' ? note : null };
    expect(first!.data.data.chainCaptured).toEqual({ capturedAt, meta: said });
    const call = { name: 'gex_grid', arguments: { symbol: 'SPX', by_expiry: true } };
    const { body } = await app.send('POST', '/mcp', {
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
      contentType: 'application/json',
      headers: { accept: 'application/json, text/event-stream' },
    });
    const { meta } = JSON.parse(body.result.content[0].text);
    expect({ plane: meta.plane, note: meta.note ?? null }).toEqual(said);
  });
});

test('a capture of another symbol, or its first print, begins the next session', async () => {
  app.clock.nowMs = newYork(next, '08:00');
  await saveChain('XSP', 'XSP', newYork(next, '07:55'));
  const { meta, data } = (await app.get('/v2/gex/SPX/grid?by_expiry=1')).body;
  expect([meta.plane, meta.note]).toEqual(['archive', note]);
  expect(distinct(data.strikes.map(({ expiry }: Json) => expiry))).toEqual(all);
  expect((await app.get('/v2/gex/XSP/grid')).body.meta.plane).toBe('live');
});
