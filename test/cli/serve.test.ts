import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { toBarColumns } from '../../src/domain/bar.ts';
import { writeBars } from '../../src/store/bar-blocks.ts';
import { writeFact } from '../../src/store/facts.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { sampleVersion } from '../../src/tape/sample/plan.ts';
import { dataFolder } from '../support/data-folder.ts';
import { storeForThisTest, type TestStore, testStore } from '../support/store.ts';
import { start, tapegraph } from './command-line.ts';

let store: TestStore;
let env: Record<string, string>;
beforeAll(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
});
afterAll(() => store.close());

/** A server that said it is ready, and what it said. */
async function served(args: string[], given = env) {
  const { child, ended } = start(['serve', '--port', '0', '--json', ...args], given);
  onTestFinished(() => void child.kill('SIGKILL'));
  const first = await Promise.race([once(child.stdout!, 'data'), ended]);
  if (!Array.isArray(first)) throw new Error(`the server ended: ${first.stderr}`);
  return {
    child,
    ended,
    ready: JSON.parse(String(first[0])) as { url: string; port: number; pid: number; key?: string },
  };
}

describe('tapegraph serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('says where it listens, answers, and ends with 0 at %s', async (signal) => {
    const { child, ended, ready } = await served([]);
    expect(ready).toMatchObject({ url: `http://127.0.0.1:${ready.port}`, pid: child.pid });
    const health = await fetch(`${ready.url}/healthz`);
    expect(await health.json()).toEqual({ status: 'ok' });
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(ready);
  });

  it('reads its clock from --clock and runs on', async () => {
    const { ready } = await served(['--clock', '2020-01-02T15:00:00Z']);
    await tapegraph(['account', 'set', 'acme', '--site-tier', 'pro'], env);
    const token = async (clock: string) =>
      JSON.parse((await tapegraph(['session', 'create', '--account', 'acme', '--clock', clock, '--json'], env)).stdout)
        .token;
    const status = async (clock: string) =>
      (
        await fetch(`${ready.url}/v2/stocks/SPY/bars?from=0&to=1`, {
          headers: { authorization: `Bearer ${await token(clock)}` },
        })
      ).status;
    expect(await status('2020-01-02T13:59:00Z')).toBe(401);
    expect(await status('2020-01-02T14:30:00Z')).not.toBe(401);
  });

  it('--sample shows the same key at every start, and it reads what needs the most', async () => {
    const sampled = await storeForThisTest();
    const data = dataFolder();
    // The market is said to be there, which is quicker than bringing it.
    const clock = '2026-11-19T22:00:00Z';
    await writeFact(sampled, 'sample', JSON.stringify({ version: sampleVersion, throughMs: Date.parse(clock) }));
    const own = { TAPEGRAPH_DATA: data, DATABASE_URL: sampled.databaseUrl, LOG_LEVEL: 'warn' };
    const first = await served(['--sample', '--clock', clock], own);
    const answer = await fetch(`${first.ready.url}/v2/flow/large-trades?symbol=SPX`, {
      headers: { authorization: `Bearer ${first.ready.key}` },
    });
    expect(answer.status).toBe(200);
    first.child.kill('SIGTERM');
    await first.ended;
    const second = await served(['--sample', '--clock', clock], own);
    expect(second.ready.key).toBe(first.ready.key);
    expect(statSync(join(data, 'sample-key')).mode & 0o077).toBe(0);
  });

  it('--sample gives nobody a key to a store that holds data of its own', async () => {
    const own = await storeForThisTest();
    const bar = {
      tsMs: Date.parse('2026-11-18T14:30:00Z'),
      open: 1,
      high: 1,
      low: 1,
      close: 1,
      volume: 1,
      vwap: null,
      tradeCount: null,
    };
    await inTransaction(own, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns([bar]) }]));
    const { ready } = await served(['--sample'], { DATABASE_URL: own.databaseUrl, LOG_LEVEL: 'warn' });
    expect(ready.key).toBeUndefined();
    expect((await own.pool.query('select 1 from api_keys')).rowCount).toBe(0);
  });

  it('leaves with 1 and says so when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stdout, stderr } = await tapegraph(['serve', '--port', String(port)], env);
    other.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `tapegraph: port ${port} of 127.0.0.1 is in use: choose another with --port, or 0 for any that is free\n`,
    );
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

  it.each([
    ['a port that is none', ['serve', '--port', '65536'], '65535'],
    ['a time that is none', ['serve', '--clock', 'noon'], '2026-11-20T14:30:00Z'],
  ])('leaves with 2 for %s and says what was expected', async (_, args, expected) => {
    const { code, stdout, stderr } = await tapegraph(args, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });
});
