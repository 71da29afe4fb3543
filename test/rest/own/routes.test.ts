import { tableFromIPC } from 'apache-arrow';
import { parse } from 'graphql';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  operationWeights,
  storedWeights,
  type WeighedOperation,
} from '../../../src/graphql/limits/weighed-operation.ts';
import type { CompiledRoute } from '../../../src/rest/contract/compiled-route.ts';
import { ownRoutes } from '../../../src/rest/own/own-routes.ts';
import { schema } from '../../../src/schema/index.ts';
import { type Json, routeFiles, type TestApp, testApp } from '../../support/app.ts';
import { readEvents } from '../../support/event-reader.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { folder } from './folder.ts';

const session = '2026-11-18';
const row = { strike: 600_000, expiry: '2026-12-18', gex: 5 };
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ routes: folder });
  await saveCaptures(app.store, {
    gex: [
      gexCapture('SPY', newYork(session, '09:35'), [row]),
      gexCapture('SPY', newYork(session, '09:30'), [row]),
      gexCapture('SPX', newYork(session, '09:30'), [row]),
    ],
  });
});
afterAll(() => app.close());

const get = (path: string, headers: Record<string, string> = {}) => app.get(path, { headers });

describe('a route of the operator', () => {
  test('serves the data at its path, beside the metadata of the page', async () => {
    const { status, body } = await get(`/desk/spy/gamma?date=${session}`);
    expect(status).toBe(200);
    expect(Object.keys(body.data)).toEqual(['symbol', 'captures']);
    expect(body.data.captures.map(({ net_gex }: Json) => net_gex)).toEqual([5, 5]);
    expect(body.meta).toMatchObject({ plane: 'archive', capture_count: 2, caps: { tier: 'pro' } });
  });

  test('answers about a past session with an ETag, and If-None-Match with 304', async () => {
    const { headers } = await get(`/desk/SPY/gamma?date=${session}`);
    expect(headers['cache-control']).toBe('private');
    const again = await get(`/desk/SPY/gamma?date=${session}`, { 'if-none-match': headers.etag! });
    expect(again.status).toBe(304);
    expect((await get(`/desk/SPY/strikes?date=${session}`)).headers.etag).toBeDefined();
    const never = await get(`/own/unsealed?symbol=SPY&date=${session}`);
    expect([never.headers.etag, never.headers['cache-control']]).toEqual([undefined, 'no-store']);
  });

  test('answers without an ETag where it selects an age, which the clock changes', async () => {
    const path = `/desk/SPY/ages?date=${session}`;
    const first = await get(path);
    expect([first.headers.etag, first.headers['cache-control']]).toEqual([undefined, 'no-store']);
    app.clock.nowMs += 60_000;
    const later = await get(path);
    app.clock.nowMs -= 60_000;
    const ages = ({ body }: Json) => body.data.captures.map(({ old }: Json) => old);
    expect(ages(later)).toEqual(ages(first).map((age: number) => age + 60_000));
  });

  test('answers a list as JSON, CSV, Arrow, Parquet and NDJSON', async () => {
    const json = await get('/own/prices?symbols=SPY,aapl');
    expect(json.body.data).toEqual([
      { symbol: 'SPY', spot: null },
      { symbol: 'AAPL', spot: null },
    ]);
    const csv = await get('/own/prices?symbols=SPY,aapl', { accept: 'text/csv' });
    expect(String(csv.bytes)).toBe('symbol,spot\r\nSPY,\r\nAAPL,\r\n');
    expect(JSON.parse(String(csv.headers['x-itm-extra']))).toMatchObject({ count: 2 });
    const lines = await get('/own/prices?symbols=SPY,aapl', { accept: 'application/x-ndjson' });
    expect(String(lines.bytes)).toBe('{"symbol":"SPY","spot":null}\n{"symbol":"AAPL","spot":null}\n');
    const arrow = await get('/own/prices?symbols=SPY', { accept: 'application/vnd.apache.arrow.stream' });
    expect(tableFromIPC(arrow.bytes).schema.names).toEqual(['symbol', 'spot']);
    const parquet = await get('/own/prices?symbols=SPY', { accept: 'application/vnd.apache.parquet' });
    const file = Uint8Array.from(parquet.bytes).buffer;
    expect(await parquetReadObjects({ file, compressors })).toEqual([{ symbol: 'SPY', spot: null }]);
  });

  test('takes an instant where it reads the market alone, and is sealed as of one in the past', async () => {
    const past = await get('/own/fragments?symbol=SPY&at=2026-11-18');
    expect(past.body.meta).toMatchObject({ plane: 'archive', at: newYork('2026-11-19', '00:00') - 1 });
    expect(past.headers.etag).toBeDefined();
    const live = await get('/own/fragments?symbol=SPY');
    expect([live.body.meta.plane, live.body.meta.at, live.headers.etag]).toEqual(['live', undefined, undefined]);
    // Its own variable of the name is not the gateway's.
    expect((await get('/own/then?symbol=SPY&at=2026-11-18')).body.meta).toMatchObject({ plane: 'archive' });
  });

  test('serves a value alone, and the whole result without a path to the data', async () => {
    expect((await get('/desk/SPY/last')).body.data).toBeNull();
    expect((await get('/own/two-symbols')).body.data).toEqual({
      spy: { spot: { price: null } },
      aapl: { spot: { price: null } },
    });
    expect(Object.keys((await get('/own/aliases')).body.data)).toHaveLength(20);
  });

  test('expands fragments, on the type itself and on others', async () => {
    expect((await get('/own/fragments?symbol=SPY')).body.data).toEqual({
      name: 'SPY Inc.',
      class: 'equity',
      spot: { price: null, ts: null },
    });
    const id = Buffer.from('Symbol:SPY').toString('base64url');
    expect((await get(`/nodes/${id}`)).body.data).toEqual({
      id,
      __typename: 'Symbol',
      symbol: 'SPY',
      name: 'SPY Inc.',
    });
  });

  test('reads variables by name and type, with their defaults, and names the parameter that is wrong', async () => {
    expect((await get('/own/listed?class=index')).body.data).toEqual([{ symbol: 'SPX' }, { symbol: 'XSP' }]);
    expect((await get('/own/listed?class=index&names=1')).body.data[0]).toEqual({ symbol: 'SPX', name: 'SPX Inc.' });
    const wrong = async (path: string) => {
      const { status, body } = await get(path);
      return [status, body.error.details?.parameter, body.error.message];
    };
    expect(await wrong('/own/listed?class=x')).toEqual([400, 'class', expect.stringContaining('expected one of')]);
    expect(await wrong('/own/large?ticker=SPY&min=x')).toEqual([400, 'min', expect.stringContaining('dollar amount')]);
    expect(await wrong('/own/prices')).toEqual([400, 'symbols', 'symbols: is required']);
    expect(await wrong('/own/prices?symbols=SPY,-')).toEqual([400, 'symbols', expect.stringContaining('item 2')]);
    expect(await wrong(`/own/prices?symbols=${Array(251).fill('SPY')}`)).toEqual([
      ...[400, 'symbols', 'symbols: at most 250 items, got 251'],
    ]);
    expect(await wrong('/own/prices?symbols=SPY&symbols=SPY')).toEqual([400, 'symbols', expect.anything()]);
    expect(await wrong('/own/cheap?where={"a":1}')).toEqual([400, 'where', expect.stringContaining('"a"')]);
    expect(await wrong('/own/cheap?where=[')).toEqual([400, 'where', expect.stringContaining('expected JSON')]);
    expect(await wrong('/own/cheap?constructor=1&__proto__=2&first=x')).toEqual([400, 'first', expect.anything()]);
  });

  test('takes an input object in the query, and in a body', async () => {
    const where = JSON.stringify({ symbol: { in: ['SPY'] } });
    expect((await get(`/own/cheap?where=${encodeURIComponent(where)}`)).body.data).toEqual([{ symbol: 'SPY' }]);
    const post = (body: string) => app.send('POST', '/own/cheap', { body });
    expect((await post(`{"where":${where},"other":1}`)).body.data).toEqual([{ symbol: 'SPY' }]);
    expect((await post('{}')).body.error.message).toBe('where: is required');
    expect((await post('{"where":{"symbol":{"in":5}}}')).status).toBe(400);
    expect((await post('[')).body.error.message).toBe('body: expected JSON');
    expect((await post(`{"where":${'{"and":['.repeat(200)}`)).status).toBe(400);
    expect((await app.send('POST', '/own/cheap', { body: '{}', contentType: 'text/plain' })).status).toBe(415);
  });

  test('changes what a mutation changes, by its method alone', async () => {
    const body = JSON.stringify({ name: 'Mine', symbols: ['spy', 'AAPL'] });
    const put = await app.send('PUT', '/lists/a', { body });
    expect(put.body.data).toEqual({ id: 'a', symbols: ['SPY', 'AAPL'] });
    expect((await get('/lists')).body).toMatchObject({ data: [{ id: 'a' }], meta: { count: 1, plane: 'registry' } });
    expect((await get('/lists/a')).headers.allow).toBe('PUT, DELETE');
    expect((await app.send('DELETE', '/lists/a')).body.data).toEqual({ deleted: 'a' });
    expect((await app.send('DELETE', '/lists/a')).status).toBe(404);
  });

  test('requires what its fields require, and the tier of its settings', async () => {
    expect((await app.get('/desk/SPX/gamma?date=2026-11-18', { credential: null })).body.error.code).toBe(
      'unauthenticated',
    );
    const basic = await app.key({ apiTier: 'basic' });
    const of = async (path: string) => (await app.get(path, { credential: basic })).body.error;
    expect(await of(`/desk/SPX/gamma?date=${session}`)).toMatchObject({ code: 'not_entitled_tier' });
    expect(await of('/own/large?ticker=SPY')).toMatchObject({
      code: 'not_entitled_tier',
      message: '/own/large needs the pro tier.',
      details: { required_tier: 'pro' },
    });
  });

  test('costs what its document costs, and counts in the groups of its fields', async () => {
    const routes = {
      ...folder,
      'chains.graphql': '{ symbols(first: 100) { nodes { chain { rows { bid ask iv delta gamma theta vega } } } } }',
      'bars.graphql': `query ($symbols: [Ticker!]!) { quotes(symbols: $symbols) { rows { symbol } } ${Array.from(
        { length: 8 },
        (_, i) =>
          `b${i}: symbol(symbol: "SPY") { bars(from: "2026-11-01", to: "2026-11-19", timeframe: "1m") { rows { open high low close } } }`,
      ).join(' ')} }`,
    };
    const limited = await testApp({ store: app.store, routes, env: { RATE_PRO: '3' } });
    const accountId = await limited.account();
    const { key: credential } = await limited.access.keys.create({ accountId, name: null, expiresAt: null });
    const ask = (path: string) => limited.get(path, { credential });
    expect((await ask('/own/prices?symbols=SPY')).headers['x-ratelimit-remaining']).toBe('2');
    expect((await ask('/own/chains')).body.error.message).toMatch(/^The answer could have .* at most/);
    const over = await ask('/own/bars?symbols=SPY');
    expect([over.status, over.body.error.message]).toEqual([
      400,
      expect.stringMatching(/^The request costs \d+ requests/),
    ]);
    const counted = await limited.access.usage.read(accountId);
    expect(counted.map(({ scopeGroup }) => scopeGroup).sort()).toEqual(['market.bars', 'market.live']);
    limited.live.close();
    await limited.access.close();
  });

  test('is charged what the graph charges for its operation, the tokens of the document among it', () => {
    const [{ operation, weighed }] = ownRoutes(
      { schema, weigh: storedWeights(schema), toolNames: [] },
      [],
      routeFiles(folder),
    ) as [CompiledRoute];
    const pointsOf = ({ predict }: WeighedOperation) =>
      predict({ symbol: 'SPY', date: session }, { kind: 'key' }).points;
    const asked = operationWeights(schema)(parse(operation.source), null);
    expect(pointsOf(weighed!)).toBe(pointsOf(asked));
  });

  test('streams a subscription as events of its name, and rejects HEAD', async () => {
    const authorization = `Bearer ${await app.key()}`;
    const events = await readEvents(`${app.url}/own/quote-stream?symbols=SPY,AAPL`, { headers: { authorization } });
    const [ready, first] = [await events.next(), await events.next()];
    expect(ready).toMatchObject({ event: 'ready', data: { topics: ['quote-stream'] } });
    expect(first).toMatchObject({ event: 'quote-stream', data: { symbol: 'SPY', spot: null } });
    events.leave();
    expect((await app.send('HEAD', '/own/quote-stream?symbols=SPY')).status).toBe(405);
    expect((await get('/own/quote-stream?symbols=-')).body.error.details).toEqual({ parameter: 'symbols' });
  });
});

test('other files replace what is served, cached answers included; files that do not fit change nothing', async () => {
  const changing = await testApp({ store: app.store, routes: folder });
  const path = `/desk/SPY/gamma?date=${session}`;
  expect((await changing.get(path)).body.data.symbol).toBe('SPY');
  const other = {
    ...folder,
    'gamma-day.graphql': folder['gamma-day.graphql']!.replace('{ symbol captures', '{ captures'),
  };
  changing.replaceRoutes(other);
  expect((await changing.get(path)).body.data.symbol).toBeUndefined();
  expect(() => changing.replaceRoutes({ ...other, 'bad.graphql': '{ nothing }' })).toThrow(
    'bad.graphql:1: Cannot query field "nothing" on type "Query".',
  );
  expect((await changing.get('/own/prices?symbols=SPY')).status).toBe(200);
  changing.replaceRoutes({});
  expect((await changing.get(path)).status).toBe(404);
  changing.live.close();
  await changing.access.close();
});
