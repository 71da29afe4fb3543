// A server beside other commands, and its end: several processes a test.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writtenFolder } from '../../rest/own/written-folder.ts';
import { dataFolder } from '../../support/data-folder.ts';
import { readEvents } from '../../support/event-reader.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { start, tapegraph } from '../command-line.ts';
import { served } from '../served.ts';

let store: TestStore;
let env: Record<string, string>;
beforeAll(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
});
afterAll(() => store.close());

describe('tapegraph serve', () => {
  it('prints commands that work as printed, and the page of the operator’s routes', async () => {
    const folder = writtenFolder({ 'named.graphql': '{ symbol(symbol: "SPY") { symbol } }' });
    const { child, ended } = start(['serve', '--port', '0', '--routes', folder], env);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout!, 'data');
    const page = /Routes {5}those of (.*): (.*)#group-own/.exec(String(greeting))!;
    expect([page[1], await (await fetch(page[2]!)).text()]).toEqual([
      folder,
      expect.stringContaining('id="group-own"'),
    ]);
    child.kill('SIGTERM');
    const { stdout } = await ended;
    for (const command of /create one: (.*)/.exec(stdout)![1]!.split(' && ')) {
      const [, args] = /^npm run tapegraph -- (.*)$/.exec(command)!;
      expect(await tapegraph(args!.split(' '), env)).toMatchObject({ code: 0 });
    }
    expect(stdout).toContain('curl -H "Authorization: Bearer $KEY"');
  });

  it('tells its streams at SIGTERM that it stops, does not wait for them, and ends with 0', async () => {
    const { child, ended, ready } = await served([], env);
    await tapegraph(['account', 'set', 'reader', '--api-tier', 'pro'], env);
    const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'reader', '--json'], env)).stdout);
    const headers = { authorization: `Bearer ${key}` };
    const reader = await readEvents(`${ready.url}/v2/stream?topics=quotes:SPY`, { headers });
    const idle = await readEvents(`${ready.url}/v2/stream?topics=quotes:SPY`, { headers });
    idle.pause();
    expect((await reader.next())!.event).toBe('ready');
    child.kill('SIGTERM');
    await reader.over;
    expect(reader.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'shutdown' } });
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(ready);
  });

  it('is joined in its embedded store by every other command', async () => {
    const data = dataFolder();
    const own = { TAPEGRAPH_DATA: data, LOG_LEVEL: 'warn' };
    const { child, ended, ready } = await served([], own);
    await tapegraph(['account', 'set', 'acme', '--api-tier', 'pro'], own);
    const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], own)).stdout);
    const answer = await fetch(`${ready.url}/v2/stocks/SPY/bars?from=0&to=1`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).not.toBe(401);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });
});
