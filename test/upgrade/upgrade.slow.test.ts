// Stores that the oldest release filled, read and written by this version. TAPEGRAPH_UPGRADE=everything fills them with
// the whole sample market and every vendor file, which takes minutes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { OwnGateway } from '../../scripts/own-gateway.ts';
import { barsClock, fillClock } from '../../scripts/upgrade/fill.ts';
import { prepareRelease } from '../../scripts/upgrade/release.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { announce, watchChanges } from '../../src/store/versions/announcements.ts';
import { anyChange, type Change } from '../../src/store/versions/subjects.ts';
import { start } from '../cli/command-line.ts';
import { notRun } from '../support/not-run.ts';
import { type Answered, answersTo, changed, clocks, everyRequest, nextPages } from './answers.ts';
import { fillOldStores, type OldStore, type OldStores, type Version } from './old-stores.ts';

const release = prepareRelease();
if (release.folder === null) notRun('tests of upgrades', release.absent);

const minute = 60_000;
const everything = process.env.TAPEGRAPH_UPGRADE === 'everything';

test('a release that is not in the history, as in a shallow clone, is reported and passed over', () => {
  const absent = "commit 0123456789abcdef is not in this repository's history";
  expect(prepareRelease('0123456789abcdef')).toEqual({ folder: null, absent });
});

/** The old release's way of following and announcing changes. */
interface OldChanges {
  watchChanges(store: object): Promise<{ onChange(listener: (change: object) => void): void; stop(): Promise<void> }>;
  concerns(change: object, kind: string, symbol: string): boolean;
  announceChange(tx: object, change: object): Promise<void>;
}

describe.skipIf(release.folder === null)('a store of the oldest release', { timeout: 5 * minute }, () => {
  let stores: OldStores;
  /** Answers of the old gateway, by clock. */
  const before = new Map<string, Answered[]>();

  beforeAll(async () => {
    stores = await fillOldStores(release.folder!, everything);
    const store = await stores.copy();
    for (const clock of clocks) {
      const gateway = await store.gateway('old', clock);
      const first = await answersTo(gateway.url, everyRequest(clock, stores.filled));
      before.set(clock, [...first, ...(await answersTo(gateway.url, nextPages(first)))]);
      await gateway.stop();
    }
  }, 10 * minute);
  afterAll(() => stores?.remove(), minute);

  /**
   * A part of the answers will do where the whole was compared before. What requests were counted depends on them all.
   */
  const aPart = (clock = fillClock) =>
    before.get(clock)!.filter(({ asked }, i) => i % 4 === 0 && asked.route !== 'GET /v2/account/usage');

  test('gives the old answers, by status and hash, to every GET route', async () => {
    const store = await stores.copy();
    for (const clock of clocks) {
      const gateway = await store.gateway('new', clock);
      expect(await changed(gateway.url, before.get(clock)!)).toEqual([]);
      await gateway.stop();
    }
  });

  test('the requests reach every GET route, and no answer is a failure of the server', () => {
    const answers = [...before.values()].flat();
    const answered = new Set(answers.filter(({ status }) => status === 200).map(({ asked }) => asked.route));
    expect([...new Set(answers.map(({ asked }) => asked.route))].filter((route) => !answered.has(route))).toEqual([]);
    expect(answers.filter(({ status }) => status >= 500).map(({ asked }) => asked.path)).toEqual([]);
  });

  test('opens, with the old answers, after gateways were killed while they opened it', async () => {
    const measured = await stores.copy();
    const startedMs = Date.now();
    await (await measured.gateway('new', fillClock)).stop();
    const openMs = Date.now() - startedMs;

    const store = await stores.copy();
    for (let i = 0; i < 3; i++) {
      const { child, ended } = start(['serve', '--port', '0', '--clock', fillClock], store.settings);
      // In the first part of the start Node loads the program and the store is not open yet.
      await delay((0.3 + 0.7 * Math.random()) * openMs);
      child.kill('SIGKILL');
      await ended;
    }
    const gateway = await store.gateway('new', fillClock);
    expect(await changed(gateway.url, aPart())).toEqual([]);
  });

  describe('with an old and a new gateway beside each other', () => {
    let store: OldStore;
    let gateways: Record<Version, OwnGateway>;
    const others: [Version, Version][] = [
      ['old', 'new'],
      ['new', 'old'],
    ];
    beforeAll(async () => {
      store = await stores.copy();
      gateways = { old: await store.gateway('old', barsClock), new: await store.gateway('new', barsClock) };
    }, 5 * minute);

    test('the old one goes on with its answers', async () => {
      expect(await changed(gateways.old.url, aPart(barsClock))).toEqual([]);
    });

    const request = async (version: Version, path: string, method = 'GET', body?: object) => {
      const headers = {
        authorization: `Bearer ${stores.filled.sessions[barsClock]}`,
        ...(body && { 'content-type': 'application/json' }),
      };
      const response = await fetch(gateways[version].url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      expect(response.status, path).toBe(200);
      return response.text();
    };

    test.each(others)(
      'what the %s one writes to a watchlist or the journal, the %s one shows at once',
      async (a, b) => {
        expect(await request(b, '/v2/watchlists')).not.toContain(`of the ${a}`);
        await request(a, `/v2/watchlists/${a}`, 'PUT', { name: `of the ${a}`, symbols: ['SPY'] });
        expect(await request(b, '/v2/watchlists')).toContain(`of the ${a}`);
        await request(b, `/v2/watchlists/${a}`, 'DELETE');
        expect(await request(a, '/v2/watchlists')).not.toContain(`of the ${a}`);
        const trade = { account_id: 'paper', symbol: 'SPY', side: 'buy', qty: 1, price: 2, note: `by the ${a}` };
        await request(a, '/v2/journal/trades', 'POST', trade);
        expect(await request(b, '/v2/journal/trades')).toContain(`by the ${a}`);
      },
    );

    const nanosOf = (time: string) => `${Date.parse(`${time}-05:00`)}000000`;

    async function ingestBars(close: number): Promise<void> {
      const lines = ['2019-02-14T10:00:00', '2019-02-15T14:58:00'].map(
        (time) => `MSFT,100,${close},${close},${close},${close},${nanosOf(time)},3`,
      );
      const file = join(store.settings.TAPEGRAPH_DATA!, `bars-${close}.csv`);
      writeFileSync(file, `ticker,volume,open,close,high,low,window_start,transactions\n${lines.join('\n')}\n`);
      const args = ['ingest', 'stock-minute-bars', '--replace', file];
      expect(await start(args, store.settings).ended).toMatchObject({ code: 0 });
    }

    /** Follows a topic until the test ends; the returned function gives the text sent so far. */
    async function stream(version: Version, topic: string): Promise<() => string> {
      const stop = new AbortController();
      onTestFinished(() => stop.abort());
      const headers = { authorization: `Bearer ${stores.filled.sessions[barsClock]}` };
      const response = await fetch(`${gateways[version].url}/v2/stream?topics=${topic}`, {
        headers,
        signal: stop.signal,
      });
      let text = '';
      void (async () => {
        for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
      })().catch(() => {});
      return () => text;
    }

    test('notifications of either are understood by the other', async () => {
      const { DATABASE_URL, TAPEGRAPH_DATA } = store.settings;
      const opened = await openStore({ databaseUrl: DATABASE_URL ?? null, dataDir: TAPEGRAPH_DATA!, migrate: false });
      const old: OldChanges = await import(/* @vite-ignore */ join(stores.release, 'src/store/changes.ts'));
      const heardByOld: object[] = [];
      const heardByNew: Change[] = [];
      const [oldWatch, newWatch] = [await old.watchChanges(opened), await watchChanges(opened)];
      onTestFinished(async () => {
        await oldWatch.stop();
        await newWatch.stop();
        await opened.close();
      });
      oldWatch.onChange((change) => heardByOld.push(change));
      newWatch.onChange((change) => heardByNew.push(change));
      await announce(opened, opened.primary, { market: ['SPY'], gex: ['QQQ'], flow: null, chain: ['IWM'] });
      await expect.poll(() => heardByOld).toHaveLength(1);
      const wakes = (kind: string, symbol: string) => old.concerns(heardByOld[0]!, kind, symbol);
      expect([wakes('stocks', 'SPY'), wakes('gex', 'QQQ'), wakes('flow', 'DIA')]).toEqual([true, true, true]);
      expect([wakes('stocks', 'QQQ'), wakes('gex', 'SPY'), wakes('gex', 'IWM')]).toEqual([false, false, false]);
      await expect.poll(() => heardByNew.at(-1)).toEqual({ market: ['SPY'], gex: ['QQQ'], flow: null, chain: ['IWM'] });
      await inTransaction(opened, (tx) => old.announceChange(tx, { stocks: ['SPY'] }));
      await expect.poll(() => heardByNew.at(-1)).toEqual(anyChange);
    });

    test.each(others.map(([reader]) => reader))(
      'bars that the new command line stores reach the answers and streams of the %s gateway',
      async (reader) => {
        const close = 171.5 + (reader === 'old' ? 1 : 2);
        const path = '/v2/stocks/MSFT/bars?from=2019-02-14&to=2019-02-15&timeframe=1m';
        const events = await stream(reader, 'bars:MSFT:1m');
        // In the caches: the session is over.
        for (let i = 0; i < 3; i++) expect(await request(reader, path)).not.toContain(`${close}`);
        await ingestBars(close);
        await expect.poll(() => request(reader, path), { timeout: 10_000, interval: 100 }).toContain(`${close}`);
        await expect.poll(events, { timeout: 10_000, interval: 100 }).toContain(`${close}`);
      },
    );
  });

  test('is refused by the old release, in one line, once this version has migrated it', async () => {
    const store = await stores.copy();
    await (await store.gateway('new', fillClock)).stop();
    const main = join(stores.release, 'src', 'main.ts');
    const { code, stderr } = await start(['migrate'], store.settings, main).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tapegraph: The store is newer than this version .*holds migration \d{14}_\w+.*\n$/);
  });
});
