import { expect, test } from 'vitest';
import { openStore } from '../../src/store/rows/connection.ts';
import { testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { proxiedDatabase } from '../support/servers/proxied-database.ts';
import { testStore } from '../support/store.ts';
import { about, knownRoutes, saveScreen } from './known-routes.ts';

test('a database that hangs is a 502 on every route that needs it, in bounded time, and serves again when it answers', async () => {
  const base = await testStore();
  const { proxy, url } = await proxiedDatabase(base.databaseUrl);
  const store = await openStore({ databaseUrl: url, dataDir: '', migrate: false, statementTimeoutMs: 300 });
  const close = async () => {
    await store.close();
    await base.close();
  };
  const app = await testApp({ nowMs: filledNowMs, store: { ...store, databaseUrl: url, close } });
  await fillMarket({ ...base, blocks: store.blocks });
  const session = await app.session();
  await saveScreen(app, session);
  const reading = knownRoutes().filter(({ route }) => route.method === 'GET');
  const outcomes = async () => {
    const all = reading.map(async ({ known }) => {
      const { status, body } = await app.get(about(known.path, 'SPY'), { credential: session });
      return `${status} ${body?.error?.code ?? 'ok'}`;
    });
    return new Set(await Promise.all(all));
  };
  expect(await outcomes()).toEqual(new Set(['200 ok']));
  proxy.hang();
  const startedMs = performance.now();
  const hanging = await outcomes();
  expect([...hanging].filter((outcome) => outcome !== '200 ok')).toContain('502 internal');
  expect([...hanging].filter((outcome) => !/^(200 ok|502 internal|503 provider_unavailable)$/.test(outcome))).toEqual(
    [],
  );
  // A connection waits for ten seconds to be made, a statement for 1.3: each route waits once.
  expect(performance.now() - startedMs).toBeLessThan(20_000);
  await proxy.bringBack();
  await expect.poll(outcomes, { timeout: 30_000 }).toEqual(new Set(['200 ok']));
  await app.close();
});
