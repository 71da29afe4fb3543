import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { sampleMetadata } from '../../../src/intake/ingest/sample-metadata.ts';
import { dataFolder } from '../../support/data-folder.ts';
import { storeForThisTest, type TestStore, testStore } from '../../support/store.ts';
import { contentsOf, type Omitted } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { surrounding } from '../command-line.ts';
import type { SmallSample } from './small-sample.ts';

const tape = { optionPrints: 1500, plants: 24, stockPrints: 0, symbols: ['SPX', 'TSLA'] };
const shape = { barSessions: 2, chainSessions: 2, historySessions: 2, captureEveryMinutes: 130, tapeSessions: 2, tape };
// A night: nothing trades, so that what is stored does not depend on how long a server runs.
const market: SmallSample = { nowMs: exchangeInstant('2026-11-25', 0), shape };
const program = fileURLToPath(new URL('small-sample.ts', import.meta.url));
const patient = { timeout: 120_000, interval: 50 };

const latestSession = 'latest session of the sample market';
const history = 'history of the sample market';

interface Running {
  child: ChildProcess;
  url: string;
  said: () => { stdout: string; stderr: string };
}

/** Starts a server on `store`, which listens and may still load. Its processes are a group, gone when the test ends. */
async function started(store: TestStore, dataDir: string): Promise<Running> {
  const env = { ...surrounding, DATABASE_URL: store.databaseUrl, TAPEGRAPH_DATA: dataDir, PORT: '0' };
  const child = spawn(process.execPath, [program, JSON.stringify(market)], { env, detached: true });
  onTestFinished(() => end(child));
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk;
  });
  const listening = () => /listening on (http:[^ "]+)/.exec(said.stderr)?.[1] ?? null;
  await vi.waitUntil(() => listening() !== null || child.exitCode !== null, patient);
  if (child.exitCode !== null) throw new Error(`the server ended: ${said.stderr}`);
  return { child, url: listening()!, said: () => said };
}

/** Ends a server and all of its processes, as a machine that loses power does. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await exit;
}

/** State of a server by its own account. */
async function stateOf({ url, said }: Running) {
  // In this order: what is announced was ready before.
  const isAnnounced = said().stdout !== '';
  const ready = await fetch(`${url}/readyz`);
  const health = await (await fetch(`${url}/healthz`)).json();
  return {
    isAnnounced,
    readiness: [ready.status, (await ready.json()).status],
    what: health.loading?.what ?? null,
    health,
  };
}

/** States of a server until all is loaded. */
async function statesUntilWhole(running: Running) {
  const states: Awaited<ReturnType<typeof stateOf>>[] = [];
  await vi.waitUntil(async () => states[states.push(await stateOf(running)) - 1]!.what === null, patient);
  return states;
}

const whatOf = async (running: Running) => (await stateOf(running)).what;
const untilWhole = (running: Running) => vi.waitUntil(async () => (await whatOf(running)) === null, patient);

function loaderOf({ child }: Running): number {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean);
  return Number(children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('market.ts')));
}

// Differences between stores that are served: accounts, and the source and time of what was read.
const omitted: Omitted = {
  tables: ['accounts', 'api_keys', 'usage_counts'],
  columns: {
    ingested_files: ['name', 'ingested_at'],
    off_exchange_sessions: ['as_of_ms'],
    ranked_sessions: ['scanned_at_ms'],
  },
};

const folder = temporaryFolder();
let undisturbed: Record<string, string[]>;

beforeAll(async () => {
  const store = await testStore();
  const now = () => market.nowMs;
  await ensureStarterRegistry(store, now);
  await ensureSampleMarket(store, { dataDir: folder(), now, shape, besideTape: true });
  undisturbed = await contentsOf(store, omitted);
  await store.close();
});

async function expectWhole(store: TestStore): Promise<void> {
  const found = await contentsOf(store, omitted);
  expect(undisturbed.greeks_minutes!.length).toBeGreaterThan(100);
  for (const [table, rows] of Object.entries(undisturbed)) expect(found[table], table).toEqual(rows);
}

describe('a server that loads the sample market', () => {
  it('is not ready before the latest session is stored, then is announced, and says what is missing until all is there; another one that starts at the same time shows the same key', async () => {
    const store = await storeForThisTest();
    const data = dataFolder();
    const both = await Promise.all([started(store, data), started(store, data)]);
    const seen = await Promise.all(both.map(statesUntilWhole));
    for (const states of seen) {
      expect(states[0]).toMatchObject({
        isAnnounced: false,
        readiness: [503, 'not_ready'],
        health: { status: 'ok', loading: { what: latestSession, percent: expect.any(Number) } },
      });
      for (const { isAnnounced, readiness, what } of states) {
        if (isAnnounced) expect(readiness).toEqual([200, 'ready']);
        if (what === latestSession) expect(isAnnounced).toBe(false);
      }
      const stages = states.map(({ what }) => what).filter((what, i, all) => what !== all[i - 1]);
      expect(stages).toEqual([latestSession, history, null]);
    }
    expect(seen.flat().some(({ isAnnounced, what }) => isAnnounced && what === history)).toBe(true);
    await vi.waitUntil(() => both.every(({ said }) => said().stdout !== ''), patient);
    const [one, other] = both.map(({ said }) => said().stdout);
    expect(one).toBe(other);
    expect(await store.prisma.apiKey.count()).toBe(1);
    const quotes = `${both[0]!.url}/v2/quotes?symbols=SPY`;
    expect((await fetch(quotes, { headers: { authorization: `Bearer ${JSON.parse(one!).key}` } })).status).toBe(200);
    await expectWhole(store);
  });

  it('goes on by itself when its loader is killed after the latest session, and stays ready', async () => {
    const store = await storeForThisTest();
    const running = await started(store, dataFolder());
    await vi.waitUntil(async () => (await whatOf(running)) === history, patient);
    process.kill(loaderOf(running), 'SIGKILL');
    await vi.waitUntil(() => running.said().stderr.includes('was interrupted; it continues in'), patient);
    const states = await statesUntilWhole(running);
    expect(states[0]!.what).toBe(history);
    for (const { readiness, isAnnounced } of states) expect([readiness, isAnnounced]).toEqual([[200, 'ready'], true]);
    await expectWhole(store);
  });

  it('leaves the loading to another one that has begun it, which stays ready, and is announced as early', async () => {
    const store = await storeForThisTest();
    const data = dataFolder();
    const first = await started(store, data);
    await vi.waitUntil(async () => (await whatOf(first)) === history, patient);
    // So that it is not over before the second one has begun.
    const loader = loaderOf(first);
    process.kill(loader, 'SIGSTOP');
    const before = await stateOf(first);
    expect(before.what).toBe(history);
    const second = await started(store, data);
    await vi.waitUntil(() => second.said().stdout !== '', patient);
    expect(await stateOf(first)).toEqual(before);
    process.kill(loader, 'SIGCONT');
    await Promise.all([first, second].map(untilWhole));
    expect(second.said().stdout).toBe(first.said().stdout);
    await expectWhole(store);
  });

  it('that is killed with its loader in the latest session, then in the history, has all at the next start', async () => {
    const store = await storeForThisTest();
    const data = dataFolder();
    for (const stage of [latestSession, history]) {
      const killed = await started(store, data);
      const isHalfWay = async () => {
        const { loading } = (await stateOf(killed)).health;
        return loading.what === stage && loading.percent > 0;
      };
      await vi.waitUntil(isHalfWay, patient);
      await end(killed.child);
      expect((await sampleMetadata(store))!.loading).toMatchObject({ hasLatest: stage === history });
    }
    await untilWhole(await started(store, data));
    await expectWhole(store);
  });
});
