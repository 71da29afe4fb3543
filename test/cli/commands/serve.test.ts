import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { marketHours } from '../../../src/cli/commands/serve.ts';
import { alwaysOpen } from '../../../src/cli/server/sample.ts';
import { toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { sampleVersion } from '../../../src/intake/sample/market/plan.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../../../src/store/market/live-quotes.ts';
import { writeMetadata } from '../../../src/store/rows/metadata.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { storeForThisTest, type TestStore, testStore } from '../../support/store.ts';
import { tapegraph } from '../command-line.ts';
import { served } from '../served.ts';

let store: TestStore;
let env: Record<string, string>;
beforeAll(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
});
afterAll(() => store.close());

describe('a start of the sample market', () => {
  const closed = Date.parse('2026-11-22T17:00Z');

  it('offers --always-open while the market is closed, and says nothing of it while it is open', () => {
    expect(marketHours(closed, false)).toBe(
      'closed until 2026-11-23 09:30 in New York; to let it trade now: npm start -- --always-open',
    );
    expect(marketHours(Date.parse('2026-11-20T17:00Z'), false)).toBe(null);
    expect(marketHours(Date.parse('2026-11-23T14:30Z'), true)).toContain('2026-11-23 09:30 in New York; the market');
  });
});

describe('tapegraph serve', () => {
  it('says where it listens, answers, and ends with 0 at SIGINT', async () => {
    const { child, ended, ready } = await served([], env);
    expect(ready).toMatchObject({ url: `http://127.0.0.1:${ready.port}`, pid: child.pid });
    const health = await fetch(`${ready.url}/healthz`);
    expect(await health.json()).toEqual({ status: 'ok' });
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(ready);
  });

  it('--always-open goes with --sample, and sets the clock of a closed market to the open of its next session', async () => {
    expect(await tapegraph(['serve', '--always-open'], env)).toMatchObject({ code: 2, stdout: '' });
    const sampled = await storeForThisTest();
    await writeMetadata(sampled, 'sample', JSON.stringify({ version: sampleVersion, throughMs: null }));
    const reads = async (clock: string) => (await alwaysOpen(sampled, () => Date.parse(clock)))();
    // A Saturday, an hour before the open, at noon, and the day before Thanksgiving after the close.
    expect(await reads('2026-11-21T12:00:00Z')).toBe(Date.parse('2026-11-23T14:30:00Z'));
    expect(await reads('2026-11-19T13:30:00Z')).toBe(Date.parse('2026-11-19T14:30:00Z'));
    expect(await reads('2026-11-19T17:00:00Z')).toBe(Date.parse('2026-11-19T17:00:00Z'));
    expect(await reads('2026-11-25T22:00:00Z')).toBe(Date.parse('2026-11-27T14:30:00Z'));
    const reach = (time: string) =>
      inTransaction(sampled, (tx) =>
        saveLiveQuotes(tx, [
          {
            symbol: 'SPY',
            sessionDate: time.slice(0, 10),
            spot: 1,
            eventTsMs: Date.parse(time),
            volume: 1,
            officialClose: null,
          },
        ]),
      );
    // Stopped in the middle of Monday it continues there; run to its end, the next day is next.
    await reach('2026-11-23T15:00:00Z');
    expect(await reads('2026-11-21T12:30:00Z')).toBe(Date.parse('2026-11-23T15:00:00Z'));
    await reach('2026-11-23T21:30:00Z');
    expect(await reads('2026-11-21T20:00:00Z')).toBe(Date.parse('2026-11-24T14:30:00Z'));
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
      `tapegraph: port ${port} of 127.0.0.1 is in use: choose another with --port or PORT, or 0 for any that is free\n`,
    );
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

describe('tapegraph serve with a clock and metrics', () => {
  it('runs on from --clock, and serves metrics on a port of their own, and there alone', async () => {
    const settings = { ...env, LOG_LEVEL: 'info', METRICS_PORT: '0' };
    const { log, ready } = await served(['--clock', '2020-01-02T15:00:00Z'], settings);
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

    const said = await vi.waitUntil(() => /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(log()), { timeout: 20_000 });
    await fetch(`${ready.url}/healthz`);
    const answer = await fetch(said[0]);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('tapegraph_http_requests_total{route="/healthz",method="GET",status="200",code=""} 1\n');
    expect((await fetch(said[0].replace('/metrics', '/'))).status).toBe(404);
    expect((await fetch(`${ready.url}/metrics`)).status).toBe(404);
  });
});
