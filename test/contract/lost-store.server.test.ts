import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/rows/connection.ts';
import { type FlakyProxy, flakyProxy } from '../access/flaky-proxy.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { testStore } from '../support/store.ts';
import { about, knownRoutes, saveScreen } from './known-routes.ts';

let app: TestApp;
let proxy: FlakyProxy;
let session: string;
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);

/** The application over a store whose every connection goes through `proxy`. */
async function proxiedApp(): Promise<TestApp> {
  const base = await testStore();
  const url = new URL(base.databaseUrl.replace('@/', '@none/'));
  proxy = await flakyProxy(
    url.searchParams.get('host') ?? url.hostname,
    Number(url.searchParams.get('port') ?? (url.port || 5432)),
  );
  const databaseUrl = `postgresql://${url.username}@127.0.0.1:${proxy.port}${url.pathname}`;
  const store = await openStore({ databaseUrl, dataDir: '', migrate: false });
  const close = async () => {
    await store.close();
    await proxy.takeAway();
    await base.close();
  };
  return testApp({ nowMs: filledNowMs, store: { ...store, databaseUrl, close } });
}

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  app = await proxiedApp();
  await fillMarket(app.store);
  session = await app.session();
  await saveScreen(app, session);
});
afterAll(async () => {
  await proxy.bringBack();
  await app.close();
  process.off('unhandledRejection', onRejection);
});

const reading = knownRoutes().filter(({ route }) => route.method === 'GET');
const statuses = async () => {
  const all = reading.map(async ({ name, known }) => {
    const { status, body } = await app.get(about(known.path, 'SPY'), { credential: session });
    return [name, `${status} ${body?.error?.code ?? 'ok'}`] as const;
  });
  return Object.fromEntries(await Promise.all(all));
};

describe('a database whose connections break', () => {
  test('is a 502 on every route that needs it, and serves again when it is back, without a restart', async () => {
    expect(new Set(Object.values(await statuses()))).toEqual(new Set(['200 ok']));
    for (let round = 0; round < 2; round++) {
      // In the middle of requests, and between them.
      const during = statuses();
      await proxy.takeAway();
      const seen = new Set([...Object.values(await during), ...Object.values(await statuses())]);
      expect([...seen].filter((outcome) => outcome !== '200 ok').sort()).toEqual([
        '502 internal',
        // The bars of options have a provider of their own (spec 7).
        '503 provider_unavailable',
      ]);
      expect((await app.get('/readyz', { credential: null })).status).toBe(503);
      expect((await app.get('/healthz', { credential: null })).status).toBe(200);
      await proxy.bringBack();
      await expect
        .poll(async () => new Set(Object.values(await statuses())), { timeout: 10_000 })
        .toEqual(new Set(['200 ok']));
      expect((await app.get('/readyz', { credential: null })).status).toBe(200);
    }
    expect(rejections).toEqual([]);
  });

  test('loses no usage: what was counted meanwhile is written when it is back', async () => {
    const accountId = await app.account();
    const credential = await app.access.sessions.create(accountId, 60_000);
    const ask = () => app.get('/v2/symbols/SPY', { credential });
    await ask();
    await proxy.takeAway();
    const meanwhile = await ask();
    await proxy.bringBack();
    await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(200);
    const counted = async () => (await app.access.usage.read(accountId)).reduce((sum, { count }) => sum + count, 0);
    expect(await counted()).toBeGreaterThanOrEqual(meanwhile.status === 200 ? 3 : 2);
  });
});
