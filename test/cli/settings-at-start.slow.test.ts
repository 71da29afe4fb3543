// Settings that only a process of its own can be started with: it may never return, or it serves.
import { describe, expect, it, vi } from 'vitest';
import { storeForThisTest } from '../support/store.ts';
import { tapegraphProcess } from './command-line.ts';
import { served } from './served.ts';

describe.runIf(process.platform === 'linux')('a start with TAPEGRAPH_DATA', () => {
  const commands = [
    ['serve', '--port', '0'],
    ['serve', '--port', '0', '--workers', '2'],
    ['account', 'list'],
  ];

  it.each(commands)('in /proc ends with 1 and names it: %s', async (...args) => {
    const { code, stdout, stderr } = await tapegraphProcess(args, { TAPEGRAPH_DATA: '/proc/tapegraph/data' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^tapegraph: TAPEGRAPH_DATA: the folder \/proc\/tapegraph\/data cannot be used: ENOENT.*\. Choose a folder .* --data.*\n$/,
    );
  });

  it('in /proc fails where a database server holds the store, too', async () => {
    const store = await storeForThisTest();
    const { code, stderr } = await tapegraphProcess(['serve', '--sample', '--port', '0'], {
      DATABASE_URL: store.databaseUrl,
      TAPEGRAPH_DATA: '/proc/tapegraph',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/\/proc\/tapegraph/);
  });
});

describe('a start with DATABASE_READ_URLS', () => {
  it('that lead nowhere warns once of each, names it, and serves from the primary', async () => {
    const { databaseUrl } = await storeForThisTest();
    const replicas: [url: string, warning: RegExp][] = [
      // No server, no such database, no such user, no standby.
      ['postgres://me:hunter2@127.0.0.1:1/market', /127\.0\.0\.1:1\/market .*ECONNREFUSED.*host and port/],
      [databaseUrl.replace(/\/[^/?]*(\?|$)/, '/nowhere$1'), /\/nowhere of .*"nowhere" does not exist.*name another/],
      [databaseUrl.replace(/\/\/[^/]*@/, '//nobody-known:hunter2@'), /"nobody-known".*user and the password/],
      [databaseUrl, /it is not a standby/],
    ];
    const DATABASE_READ_URLS = replicas.map(([url]) => url).join();
    const env = { DATABASE_URL: databaseUrl, DATABASE_READ_URLS, LOG_LEVEL: 'warn' };
    const { child, ended, ready, log } = await served([], env);
    await vi.waitUntil(() => log().split('\n').length > replicas.length, { timeout: 20_000 });
    expect((await fetch(`${ready.url}/readyz`)).status).toBe(200);
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    const warnings = stderr
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(warnings).toHaveLength(replicas.length);
    for (const warning of warnings)
      expect(warning).toMatch(/^the read replica \S+ of DATABASE_READ_URLS is not used: /);
    for (const [, expected] of replicas) expect(warnings.filter((warning) => expected.test(warning))).toHaveLength(1);
    expect(stderr).not.toContain('hunter2');
  });
});
