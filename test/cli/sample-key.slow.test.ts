import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureStarterRegistry } from '../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { writeSampleMetadata } from '../../src/intake/ingest/sample-metadata.ts';
import { storeOrigin } from '../../src/store/market/session-origins.ts';
import { testApp } from '../support/app.ts';
import { chainServer, tagged } from '../support/chain-server.ts';
import { dataFolder } from '../support/data-folder.ts';
import { storeForThisTest } from '../support/store.ts';
import { start, tapegraph } from './command-line.ts';
import { served } from './served.ts';

const clock = '2026-11-20T04:00:00Z';
const isEnded =
  /the sample key no longer works: create an account with tapegraph account set, and a key with tapegraph key create/;

/**
 * A store that is said to hold the sample market, which is quicker than bringing it, and the settings of a server on
 * it.
 */
async function sampled(): Promise<Record<string, string>> {
  const store = await storeForThisTest();
  await writeSampleMetadata(store, { throughMs: Date.parse(clock) }, { begins: true });
  return { TAPEGRAPH_DATA: dataFolder(), DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
}

type Settings = Record<string, string>;

function written(name: string, lines: string[]): string {
  const path = join(dataFolder(), name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const bars = 'ticker,volume,open,close,high,low,window_start,transactions\nSPY,100,10,11,12,9,1550068200000000000,5';
const print =
  '{"type":"stock_print","symbol":"BAC","exchange":4,"id":"7","price":14.05,"size":100,"sip_timestamp":"1710509400123456789","sequence_number":8801}\n';
const option = { option: 'XYZ241220C00100000', bid: 5, ask: 5.2, open_interest: 9, iv: 0.2 };
const chain = JSON.stringify({
  timestamp: '2024-11-26 14:31:00',
  data: { options: [option], current_price: 100, prev_day_close: 99 },
});
const tape = [
  'ticker,conditions,correction,exchange,price,sip_timestamp,size',
  'O:SPY241220C00600000,209,0,302,5,1732633200000000000,400',
];

/** Every way that data comes in; each gives all that its command said. */
const ways: Record<string, (env: Settings) => Promise<string>> = {
  async ingest(env) {
    const { stdout, stderr } = await tapegraph(['ingest', 'stock-minute-bars', written('own.csv', [bars])], env);
    return stdout + stderr;
  },
  async follow(env) {
    const { child, ended } = start(['follow'], env);
    child.stdin!.end(print);
    return (await ended).stderr;
  },
  async capture(env) {
    const server = await chainServer();
    server.serve('XYZ', tagged(chain, '"1"'));
    const { stderr } = await tapegraph(
      ['capture', 'chains', '--once', '--url', `${server.url('')}{symbol}`, '--symbols', 'XYZ'],
      env,
    );
    return stderr;
  },
  async reconcile(env) {
    const { stdout, stderr } = await tapegraph(['reconcile', '--session', '2024-11-26', written('own.csv', tape)], env);
    return stdout + stderr;
  },
};

const withKey = (url: string, key: string) =>
  fetch(`${url}/v2/flow/large-trades?symbol=SPX`, { headers: { authorization: `Bearer ${key}` } });
let showing: Promise<{ url: string; key: string }> | null = null;
const toClose: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(toClose.map((close) => close())));

/** A server that shows a sample key. */
function shown(): Promise<{ url: string; key: string }> {
  showing ??= (async () => {
    const first = await testApp();
    const key = await first.key();
    const app = await testApp({ store: { ...first.store, close: async () => {} }, sampleKey: key });
    toClose.push(async () => {
      await app.close();
      await first.close();
    });
    return { url: app.url, key };
  })();
  return showing;
}

const landing = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(url, { headers: { accept: 'text/html', ...headers } })).text();

describe('the sample market’s key', () => {
  it.each(Object.keys(ways))('stops working with the first %s of other data, and is shown no more', async (way) => {
    const store = await storeForThisTest();
    const first = await testApp({ store, nowMs: Date.parse(clock) });
    await first.access.accounts.set('sample', { apiTier: 'pro', classification: 'non_professional' });
    const { key } = await first.access.keys.create({ accountId: 'sample', name: 'sample market', expiresAt: null });
    const own = await first.access.keys.create({ accountId: 'sample', name: 'mine', expiresAt: null });
    const app = await testApp({ store, nowMs: Date.parse(clock), sampleKey: key });
    onTestFinished(async () => {
      app.live.close();
      first.live.close();
      await Promise.all([app.access.close(), first.access.close()]);
    });
    expect((await withKey(app.url, key)).status).toBe(200);
    expect(await landing(app.url)).toContain(key);
    expect(await ways[way]!({ DATABASE_URL: store.databaseUrl })).toMatch(isEnded);
    // Another process: here a key is read again after 4 s; a gateway reads the sample's at every change.
    await expect.poll(async () => (await withKey(app.url, key)).status, { timeout: 20_000 }).toBe(401);
    expect(await landing(app.url)).toContain('You need a key');
    expect((await withKey(app.url, own.key)).status).toBe(200);
    expect(await storeOrigin(store)).toBe('own');
  });

  it('stops working at once in every process of a server, and is not given again at the next start', async () => {
    const env = await sampled();
    const args = ['--sample', '--clock', clock, '--workers', '2'];
    const first = await served(args, env);
    const key = first.ready.key!;
    const statuses = () =>
      Promise.all(Array.from({ length: 8 }, async () => (await withKey(first.ready.url, key)).status));
    expect(new Set(await statuses())).toEqual(new Set([200]));
    expect(await ways.ingest!(env)).toMatch(isEnded);
    await expect.poll(async () => [...new Set(await statuses())], { timeout: 3000 }).toEqual([401]);
    expect(await landing(first.ready.url)).not.toContain(key);
    first.child.kill('SIGTERM');
    await first.ended;
    const second = await served(args, env);
    expect(second.ready.key).toBeUndefined();
    expect(second.log()).toMatch(isEnded);
    expect(second.log()).toContain('the sample market is not loaded');
    expect((await withKey(second.ready.url, key)).status).toBe(401);
  });

  it('is not touched by what the sample market itself stores, nor by the registry that comes with the project', async () => {
    const store = await storeForThisTest();
    await ensureStarterRegistry(store, () => Date.parse(clock));
    const path = written('sample.csv', [bars]);
    expect(await storeOrigin(store)).toBeNull();
    await writeSampleMetadata(store, { throughMs: null }, { begins: true });
    await ingestFiles(store, 'stock-minute-bars', [path], { now: () => Date.parse(clock), bundled: 'sample' });
    expect(await storeOrigin(store)).toBe('sample');
  });

  it.each([
    ['x-forwarded-for', '192.0.2.1'],
    ['x-forwarded-proto', 'https'],
    ['forwarded', 'for=192.0.2.1'],
    ['via', '1.1 proxy'],
    ['x-real-ip', '192.0.2.1'],
    ['host', 'market.example'],
  ])('is shown to nobody behind %s', async (name, value) => {
    const { url, key } = await shown();
    expect(await landing(url)).toContain(key);
    const { port } = new URL(url);
    const page = await new Promise<string>((resolve, reject) => {
      const request = http.get({ port, host: '127.0.0.1', headers: { accept: 'text/html', [name]: value } }, (answer) =>
        resolve(text(answer)),
      );
      request.on('error', reject);
    });
    expect(page).toContain('You need a key');
    expect(page).not.toContain(key);
  });
});
