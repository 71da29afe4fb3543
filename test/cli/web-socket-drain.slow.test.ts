import { expect, it, vi } from 'vitest';
import { storeForThisTest } from '../support/store.ts';
import { talk } from '../support/web-socket.ts';
import { tapegraph } from './command-line.ts';
import { served } from './served.ts';

// It starts a process of its own, which is slow where other tests run beside it.
vi.setConfig({ testTimeout: 90_000 });

const protocols = ['graphql-transport-ws'];

it('a server that is told to stop closes its WebSockets at once, also those that come later, and ends cleanly', async () => {
  const store = await storeForThisTest();
  const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn', DRAIN_DELAY_MS: '4000' };
  await tapegraph(['account', 'set', 'acme', '--api-tier', 'pro'], env);
  const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], env)).stdout);
  const running = await served([], env);
  const url = `${running.ready.url}/graphql`;
  const silent = talk(url, protocols);
  const greeted = talk(url, protocols);
  await Promise.all([silent.open, greeted.open]);
  greeted.send({ type: 'connection_init', payload: { Authorization: `Bearer ${key}` } });
  await expect.poll(() => greeted.said, { timeout: 15_000 }).toEqual([{ type: 'connection_ack' }]);
  const stoppedMs = performance.now();
  running.child.kill('SIGTERM');
  const gone = { code: 1001, reason: 'The server is shutting down; reconnect.' };
  expect([await silent.closed, await greeted.closed]).toEqual([gone, gone]);
  expect(performance.now() - stoppedMs).toBeLessThan(3000);
  const late = talk(url, protocols);
  await late.open;
  expect(await late.closed).toEqual(gone);
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
