import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dataFolder } from '../support/data-folder.ts';
import { storeForThisTest } from '../support/store.ts';
import { tapegraph } from './command-line.ts';

const asRoot = process.getuid?.() === 0;

/** A server that never says a word that PostgreSQL would. */
async function stranger(): Promise<number> {
  const server = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a start with TAPEGRAPH_DATA', () => {
  it('below a file ends with 1 and names it', async () => {
    const file = join(dataFolder(), 'file');
    writeFileSync(file, '');
    const { code, stderr } = await tapegraph(['serve', '--port', '0'], { TAPEGRAPH_DATA: join(file, 'data') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tapegraph: TAPEGRAPH_DATA: the folder .*file\/data cannot be used: E(EXIST|NOTDIR)/);
  });

  it.skipIf(asRoot)('that this user may not write ends with 1 and names it', async () => {
    const folder = join(dataFolder(), 'locked');
    mkdirSync(folder, { mode: 0o500 });
    onTestFinished(() => chmodSync(folder, 0o700));
    const { code, stderr } = await tapegraph(['serve', '--port', '0'], { TAPEGRAPH_DATA: folder });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tapegraph: TAPEGRAPH_DATA: the folder .*locked cannot be used: EACCES/);
  });
});

describe('a start with DATABASE_URL', () => {
  const list = ['account', 'list'];
  // The worker of a server, a process of its own, opens the store as every command does: it is asked once.
  const serve = ['serve', '--port', '0'];
  it.each([
    ['no server', [serve, list], async () => 'postgres://127.0.0.1:1/market', /ECONNREFUSED.*Check its host and port/],
    [
      'another kind of server',
      [list],
      async () => `postgres://127.0.0.1:${await stranger()}/market`,
      /Check its host and port/,
    ],
    [
      'no such database',
      [list],
      async () => await at((url) => url.replace(/\/[^/?]*(\?|$)/, '/nowhere$1')),
      /"nowhere".*Create the database/,
    ],
    [
      'no such user',
      [list],
      async () => await at((url) => url.replace(/\/\/[^/]*@/, '//nobody-known:hunter2@')),
      /"nobody-known".*Check the user and the password/,
    ],
  ])('that leads to %s ends with 1, names it and says what to do', async (_what, commands, url, expected) => {
    const databaseUrl = await url();
    for (const args of commands) {
      const { code, stdout, stderr } = await tapegraph(args, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^tapegraph: The database of DATABASE_URL cannot be used: .*\n$/);
      expect(stderr).toMatch(expected);
      expect(stderr).not.toContain('hunter2');
    }
  });

  async function at(change: (url: string) => string): Promise<string> {
    const { databaseUrl } = await storeForThisTest();
    const changed = change(databaseUrl);
    expect(changed).not.toBe(databaseUrl);
    return changed;
  }
});

describe('a start with DATABASE_READ_URLS', () => {
  it('that cannot be read ends with 1, and names it and the URL', async () => {
    const { databaseUrl } = await storeForThisTest();
    const env = { DATABASE_URL: databaseUrl, DATABASE_READ_URLS: `${databaseUrl},postgres://me:hunter2@[::1/market` };
    const { code, stderr } = await tapegraph(['serve', '--port', '0'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^tapegraph: DATABASE_READ_URLS: URL 2 cannot be read: Invalid URL\. Expected postgres:\/\/user:password@/,
    );
    expect(stderr).not.toContain('hunter2');
  });
});

describe('a start with REDIS_URL', () => {
  it('that is malformed ends with 1, names it and shows one that is not', async () => {
    const { code, stderr } = await tapegraph(['serve', '--port', '0'], { REDIS_URL: 'redis://:hunter#2@localhost' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tapegraph: REDIS_URL: expected a URL such as redis:\/\/host:6379 .*percent-encoded\n$/);
    expect(stderr).not.toContain('hunter');
  });
});
