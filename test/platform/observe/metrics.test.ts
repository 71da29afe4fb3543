import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataAges, timedBy, watchBy } from '../../../src/cli/server/observing.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { createMetrics, type Metrics } from '../../../src/platform/observe/metrics.ts';
import { assertSolves } from '../../../src/store/chain/greeks.ts';
import { saveLiveQuotes } from '../../../src/store/market/live-quotes.ts';
import { openStore } from '../../../src/store/rows/connection.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { filledNowMs, fillMarket } from '../../support/filled-market.ts';
import { storeForThisTest, testStore } from '../../support/store.ts';

let app: TestApp;
let metrics: Metrics;
const token = 'a-token-of-sixteen-and-more';

beforeAll(async () => {
  metrics = createMetrics('1.2.3');
  const base = await testStore();
  const timed = await openStore({
    databaseUrl: base.databaseUrl,
    dataDir: '',
    migrate: false,
    onStatement: timedBy(metrics),
  });
  const close = () => timed.close().then(() => base.close());
  const env = { METRICS_TOKEN: token, RATE_FREE: '2' };
  app = await testApp({
    nowMs: filledNowMs,
    env,
    metrics,
    store: { ...timed, databaseUrl: base.databaseUrl, close },
  });
  const { access, live } = app;
  watchBy(metrics, { store: timed, access, live, config: readConfig(env), now: () => app.clock.nowMs });
  await fillMarket(app.store);
});
afterAll(() => app.close());

const read = (authorization?: string) =>
  app.get('/metrics', { credential: null, ...(authorization && { headers: { authorization } }) });

/** The samples as they are read, by name and labels. */
async function samples(): Promise<Map<string, number>> {
  const { bytes } = await read(`Bearer ${token}`);
  const lines = bytes.toString().split('\n');
  return new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** By how much the samples grew while `work` was done, those that did. */
async function growth(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await samples();
  await work();
  const after = await samples();
  const grown = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([name, by]) => by !== 0 && name.startsWith('tapegraph_')));
}

const total = (route: string, status: number | string, code = '', method = 'GET') =>
  `tapegraph_http_requests_total{route="${route}",method="${method}",status="${status}",code="${code}"}`;

describe('/metrics', () => {
  test('is for whoever has the token', async () => {
    for (const authorization of [undefined, 'Bearer another-token-of-sixteen', token]) {
      const { status, bytes } = await read(authorization);
      expect(status).toBe(401);
      expect(bytes.toString()).not.toContain('tapegraph_');
    }
    const { status, headers } = await read(`Bearer ${token}`);
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  test('is unknown where no token is set', async () => {
    const plain = await testApp();
    expect((await plain.get('/metrics', { credential: null })).status).toBe(404);
    await plain.close();
  });

  test('counts and times requests by the route’s pattern, whatever symbol, and by the code of what failed', async () => {
    const grown = await growth(async () => {
      for (const symbol of ['SPY', 'AAPL', 'QWERTY']) await app.get(`/v2/symbols/${symbol}`);
      await app.get('/v2/symbols/SPY', { credential: null });
      await app.send('DELETE', '/v2/symbols/SPY');
    });
    expect(grown).toMatchObject({
      [total('/v2/symbols/:symbol', 200)]: 2,
      [total('/v2/symbols/:symbol', 404, 'not_found')]: 1,
      [total('/v2/symbols/:symbol', 401, 'unauthenticated')]: 1,
      [total('/v2/symbols/:symbol', 405, 'invalid_params', 'DELETE')]: 1,
      'tapegraph_http_request_duration_seconds_count{route="/v2/symbols/:symbol",method="GET"}': 4,
      'tapegraph_http_response_bytes_total{route="/v2/symbols/:symbol"}': expect.any(Number),
      // The 405 costs its caller a request too.
      'tapegraph_request_cost_total{tier="pro"}': 4,
    });
  });

  test('holds no more rows for a thousand addresses that are nowhere than for one', async () => {
    const before = (await samples()).size;
    const grown = await growth(async () => {
      for (let i = 0; i < 50; i += 1) await app.send(i % 2 ? 'GET' : 'PROPFIND', `/nowhere/${i}`, { credential: null });
    });
    expect(grown).toMatchObject({
      [total('other', 404, 'not_found')]: 25,
      [total('other', 404, 'not_found', 'other')]: 25,
    });
    expect((await samples()).size - before).toBeLessThan(60);
  });

  test('times GraphQL by what it reads, and counts the errors of answers that are 200', async () => {
    const grown = await growth(async () => {
      await app.graphql('{ symbol(symbol: "SPY") { name } }');
      await app.graphql(
        '{ symbol(symbol: "SPX") { gex { latest { spot } } } }',
        {},
        { credential: await app.key({ apiTier: 'free' }) },
      );
      await app.graphql('{ symbol(symbol: "SPY") { nothing } }');
    });
    expect(grown).toMatchObject({
      'tapegraph_graphql_operation_duration_seconds_count{operation="query",groups="market.reference"}': 1,
      'tapegraph_graphql_operation_errors_total{operation="query",groups="analytics.gex",code="not_entitled_tier"}': 1,
      [total('/graphql', 200, 'not_entitled_tier', 'POST')]: 1,
    });
  });

  test('tells refusals by their limit, and what caches gave', async () => {
    const credential = await app.key({ apiTier: 'free' });
    const grown = await growth(async () => {
      for (let i = 0; i < 4; i += 1) await app.get('/v2/symbols/SPY', { credential });
      const query = '{ symbol(symbol: "AAPL") { name } }';
      for (let i = 0; i < 3; i += 1) await app.graphql(query);
    });
    expect(grown).toMatchObject({
      'tapegraph_limited_total{limit="rate",tier="free"}': 2,
      [total('/v2/symbols/:symbol', 429, 'rate_limited')]: 2,
      'tapegraph_cache_hits_total{cache="graphql"}': 1,
      'tapegraph_cache_misses_total{cache="graphql"}': 2,
    });
  });

  test('counts assertions on blocks that failed, by kind', async () => {
    const series = { of: 'SPY', sessionDate: '2026-11-20', tsMs: [2, 1] };
    const grown = await growth(async () => expect(() => assertSolves.onRead(series)).toThrow('its minutes ascend'));
    expect(grown).toMatchObject({ 'tapegraph_assertions_failed_total{kind="solves",when="read"}': 1 });
  });

  test('tells statements and connections of the database', async () => {
    const grown = await growth(() =>
      app.store.pool.query('select 1').then(() => app.store.pool.query('selekt').catch(() => {})),
    );
    expect(grown).toMatchObject({
      'tapegraph_database_statement_duration_seconds_count{verb="select"}': expect.any(Number),
      'tapegraph_database_statement_duration_seconds_count{verb="other"}': 1,
      'tapegraph_database_statement_failures_total{verb="other"}': 1,
    });
    const now = await samples();
    expect(now.get('tapegraph_database_connections{state="max"}')).toBe(16);
    expect(now.get('tapegraph_database_waiting')).toBe(0);
    expect(now.get(`tapegraph_build_info{version="1.2.3",node="${process.versions.node}"}`)).toBe(1);
    expect(now.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
    expect(now.get('tapegraph_http_requests_in_flight')).toBe(1);
    expect(now.get('tapegraph_streams_open')).toBe(0);
  });
});

describe('the age of data', () => {
  test('is told by dataset while the market is open, and of what there is', async () => {
    const store = await storeForThisTest();
    const at = (time: string) => Date.parse(`2026-11-20T${time}-05:00`);
    await inTransaction(store, (tx) =>
      saveLiveQuotes(tx, [
        {
          symbol: 'SPY',
          sessionDate: '2026-11-20',
          spot: 1,
          eventTsMs: at('11:59:30'),
          volume: 1,
          officialClose: null,
        },
      ]),
    );
    const ages = (time: string) => dataAges(store, () => at(time))();
    expect(await ages('12:00:00')).toEqual({ quotes: 30 });
    expect(await ages('16:00:00')).toEqual({});
    expect(await ages('09:29:59')).toEqual({});
  });
});

/** A family of the exposition: its name, its type, and whether it has a help text. */
function families(text: string): { name: string; type: string; help: string; labels: string[] }[] {
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
    name: name!,
    type: type!,
    help: new RegExp(`^# HELP ${name} (.*)$`, 'm').exec(text)?.[1] ?? '',
    labels: [...text.matchAll(new RegExp(`^${name}\\w*\\{(.*)\\} `, 'gm'))].flatMap((line) =>
      [...line[1]!.matchAll(/(\w+)="/g)].map((label) => label[1]!),
    ),
  }));
}

/** The rules of `promtool check metrics`. */
function lint(text: string): string[] {
  const units =
    /_(milliseconds|microseconds|minutes|hours|days|kilobytes|megabytes|bits|percent|s|sec|ms|us|ns|b|kb|mb|gb)(_|$)/;
  return families(text).flatMap(({ name, type, help, labels }) => [
    ...(help === '' ? [`${name}: no help text`] : []),
    ...(type === 'counter' && !name.endsWith('_total') ? [`${name}: counter metrics should have "_total" suffix`] : []),
    ...(type !== 'counter' && name.endsWith('_total')
      ? [`${name}: non-counter metrics should not have "_total" suffix`]
      : []),
    ...(type !== 'histogram' && /_bucket$/.test(name) ? [`${name}: "_bucket" suffix`] : []),
    ...(!/histogram|summary/.test(type) && /_(count|sum)$/.test(name) ? [`${name}: "_count" or "_sum" suffix`] : []),
    ...(new RegExp(`(^|_)${type}(_|$)`).test(name) ? [`${name}: the name includes its type`] : []),
    ...(/[A-Z:]/.test(name) ? [`${name}: not snake_case`] : []),
    ...(units.test(name) ? [`${name}: not a base unit`] : []),
    ...labels.filter((label) => /[A-Z]/.test(label)).map((label) => `${name}: label ${label} is not snake_case`),
  ]);
}

test('every metric passes promtool check metrics, or its rules where promtool is not installed', async ({
  annotate,
}) => {
  await app.get('/v2/symbols');
  const text = (await read(`Bearer ${token}`)).bytes.toString();
  expect(families(text).length).toBeGreaterThan(20);
  expect(lint(text)).toEqual([]);
  const promtool = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (promtool.error) await annotate('promtool is not installed');
  else expect([promtool.status, promtool.stdout, promtool.stderr]).toEqual([0, '', '']);
});
