import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { flakyProxy } from '../access/flaky-proxy.ts';
import { redisUrl } from '../access/redis-for-tests.ts';
import { waitingForLocks } from '../support/locks.ts';
import { storeForThisTest } from '../support/store.ts';
import { ask, barsHeld } from './asking.ts';
import { tapegraph } from './command-line.ts';
import { served } from './served.ts';

const bars = '/v2/stocks/SPY/bars?from=2026-11-19&to=2026-11-20';

/** A database, and the headers of a caller of the free tier. */
async function database(more: Record<string, string> = {}) {
  const store = await storeForThisTest();
  const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'info', RATE_FREE: '30', ...more };
  await tapegraph(['account', 'set', 'acme', '--api-tier', 'free', '--classification', 'non_professional'], env);
  const made = await tapegraph(['key', 'create', '--account', 'acme', '--json'], env);
  return { store, env, headers: { authorization: `Bearer ${JSON.parse(made.stdout).key}` } };
}

describe('servers on one database without a Redis', () => {
  it('say what they do not share, from the second on', async () => {
    const { env, headers } = await database();
    const one = await served([], env);
    const other = await served([], env);
    const both = [one, other];
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(both[i % 2]!, '/v2/symbols', { headers })));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(50);
    const told = both.map(({ log }) =>
      /REDIS_URL is not set: each server counts rate and in-flight limits/.test(log()),
    );
    expect(told).toEqual([false, true]);
  });
});

describe.skipIf(redisUrl === null)('servers that share a Redis', () => {
  it('count together, whatever their clocks say; one that is killed in the middle of requests gives its places back', async () => {
    const { store, env, headers } = await database({ REDIS_URL: redisUrl! });
    const one = await served([], env);
    const other = await served(['--clock', '2026-12-24T15:00:00Z'], env);
    const both = [one, other];
    const all = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(both[i % 2]!, '/v2/symbols', { headers })));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(30);
    // The next minute, by Redis's clock.
    const next = await database({ REDIS_URL: redisUrl!, DATABASE_URL: store.databaseUrl });
    const letGo = await barsHeld(store);
    onTestFinished(letGo);
    const held = [1, 2].map(() => ask(one, bars, next));
    const attempt = () => Promise.race([ask(other, bars, next).then(({ status }) => status), delay(700, 'taken')]);
    await vi.waitUntil(async () => (await waitingForLocks(store.pool, 'bar_blocks')) === 2, { timeout: 20_000 });
    expect(await attempt()).toBe(429);
    // All of its processes, as with a machine that loses power.
    for (const pid of [one.child.pid!, ...one.ready.workers]) process.kill(pid, 'SIGKILL');
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([0, 0]);
    expect(await attempt()).toBe(429);
    await vi.waitUntil(async () => (await attempt()) === 'taken', { timeout: 20_000, interval: 2000 });
  });

  it.each(['takeAway', 'hang'] as const)(
    'go on, each for itself, when Redis goes away (%s): no request waits for it, each way is told once, health says it',
    async (how) => {
      const { hostname, port } = new URL(redisUrl!);
      const proxy = await flakyProxy(hostname, Number(port || 6379));
      onTestFinished(() => proxy.takeAway());
      const { env, headers } = await database({ RATE_FREE: '100000' });
      const running = await served([], { ...env, REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
      const status = async () => (await ask(running, '/healthz', {})).json;
      const request = async () => (await ask(running, '/v2/symbols', { headers })).status;
      expect(await request()).toBe(200);
      expect(await status()).toEqual({ status: 'ok' });
      await proxy[how]();
      let slowestMs = 0;
      for (let asked = 0; asked < 40; asked++) {
        const startMs = performance.now();
        expect(await request()).toBe(200);
        slowestMs = Math.max(slowestMs, performance.now() - startMs);
        await delay(50);
      }
      // A command is waited for 0.3 s at most; without that, forever.
      expect(slowestMs).toBeLessThan(5000);
      const reasons = ['Redis is not reachable: this process counts limits on its own.'];
      expect(await status()).toEqual({ status: 'degraded', reasons });
      await proxy.bringBack();
      const back = async () => (await request()) === 200 && JSON.stringify(await status()) === '{"status":"ok"}';
      await vi.waitUntil(back, { timeout: 20_000, interval: 300 });
      const told = (text: string) =>
        running
          .log()
          .split('\n')
          .filter((line) => line.includes(text)).length;
      expect([told('is not reachable'), told('is back')]).toEqual([1, 1]);
    },
    120_000,
  );
});
