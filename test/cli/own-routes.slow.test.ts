import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { writtenFolder } from '../rest/own/written-folder.ts';
import { storeForThisTest } from '../support/store.ts';
import { ask } from './asking.ts';
import { tapegraph, tapegraphProcess } from './command-line.ts';
import { served } from './served.ts';

const document = (key: string) => `query ($symbol: Ticker!) { ${key}: symbol(symbol: $symbol) { symbol } }`;

test('SIGHUP reloads the routes of every worker without losing a request; files that do not fit change nothing', async () => {
  const store = await storeForThisTest();
  const env = { DATABASE_URL: store.databaseUrl, RATE_PRO: '1000000', LOG_FORMAT: 'text' };
  const folder = writtenFolder({ 'named.graphql': document('one') });
  const running = await served(['--workers', '2', '--no-spare-worker', '--routes', folder], env);
  const account = ['account', 'set', 'acme', '--api-tier', 'pro', '--site-tier', 'pro', '--classification'];
  await tapegraph([...account, 'non_professional'], env);
  const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], env)).stdout);
  const headers = { authorization: `Bearer ${key}` };
  const keyNow = async () => {
    const { status, json } = await ask(running, '/own/named?symbol=SPY', { headers });
    return status === 200 ? Object.keys((json as { data: object }).data)[0]! : `status ${status}`;
  };
  const seen: string[] = [];
  let isOver = false;
  const asking = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver) seen.push(await keyNow());
    }),
  );
  const hangUp = async (text: string, logged: string) => {
    writeFileSync(join(folder, 'named.graphql'), text);
    running.child.kill('SIGHUP');
    await vi.waitUntil(() => running.log().includes(logged), { timeout: 20_000 });
  };
  await vi.waitUntil(() => seen.includes('one'), { timeout: 20_000 });
  await hangUp(document('two'), 'are served: 1');
  const after = await Promise.all(Array.from({ length: 40 }, keyNow));
  expect(new Set(after)).toEqual(new Set(['two']));
  await hangUp('{ nothing }', 'named.graphql:1: Cannot query field "nothing"');
  expect(new Set(await Promise.all(Array.from({ length: 20 }, keyNow)))).toEqual(new Set(['two']));
  // No request was lost so far, whichever worker it met.
  expect(new Set(seen)).toEqual(new Set(['one', 'two']));
  // One that replaces another serves what the others serve.
  process.kill(running.ready.workers[0]!, 'SIGKILL');
  await vi.waitUntil(() => running.log().includes('replaces it'), { timeout: 60_000 });
  isOver = true;
  await asking;
  await delay(100);
  expect(new Set(await Promise.all(Array.from({ length: 20 }, keyNow)))).toEqual(new Set(['two']));
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
});

test('a folder that does not fit stops the start', async () => {
  const store = await storeForThisTest();
  const folder = writtenFolder({ 'a.graphql': '{\n  nothing\n}' });
  const { code, stderr } = await tapegraphProcess(['serve', '--port', '0'], {
    DATABASE_URL: store.databaseUrl,
    ROUTES_DIR: folder,
  });
  expect(code).toBe(1);
  expect(stderr).toContain('a.graphql:2: Cannot query field "nothing" on type "Query".');
});
