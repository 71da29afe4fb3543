import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMarket } from '../../src/cli/market-process.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../src/intake/ingest/files/lists/starter-registry.ts';
import { sampleMetadata } from '../../src/intake/ingest/sample-metadata.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { dataFolder } from '../support/data-folder.ts';
import { storeForThisTest, type TestStore } from '../support/store.ts';

const tape = { optionPrints: 500, plants: 10, stockPrints: 0, symbols: ['SPY'] };
const shape = { barSessions: 1, chainSessions: 1, historySessions: 1, captureEveryMinutes: 180, tapeSessions: 1, tape };
const nowMs = exchangeInstant('2026-11-19', 11 * 60);

/** Starts the process over a store; `onProgress` hears of each file that is stored. */
function bring(store: TestStore, dataDir: string, onProgress?: () => void) {
  const config = readConfig({ DATABASE_URL: store.databaseUrl, TAPEGRAPH_DATA: dataDir, LOG_LEVEL: 'warn' });
  const task = { work: 'bring', config, clockAheadMs: nowMs - Date.now(), shape } as const;
  const child = startMarket(task, onProgress);
  onTestFinished(() => child.stop(0));
  return child;
}

const childrenOf = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
const commandOf = (pid: string) => execFileSync('ps', ['-o', 'args=', '-p', pid], { encoding: 'utf8' });

async function emptyStore() {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, () => nowMs);
  return store;
}

const bars = async (store: TestStore) =>
  Number((await store.pool.query('select count(*) as n from bar_blocks')).rows[0].n);

describe('the process of the sample market', () => {
  it('that is killed in the middle says so, and the next one stores what is missing', async () => {
    const [store, whole, folder] = [await emptyStore(), await emptyStore(), dataFolder()];
    expect(await bring(whole, dataFolder()).ended).toBe('created');
    const before = new Set(childrenOf());
    const first = bring(store, folder, () => {
      const mine = childrenOf().filter((pid) => !before.has(pid) && commandOf(pid).includes('market.ts'));
      for (const pid of mine) process.kill(Number(pid), 'SIGKILL');
    });
    await expect(first.ended).rejects.toThrow('the sample market: its process was ended by SIGKILL');
    expect(await sampleMetadata(store)).toMatchObject({ throughMs: null });
    expect(await bring(store, folder).ended).toBe('created');
    expect((await sampleMetadata(store))!.throughMs).toBeGreaterThanOrEqual(nowMs);
    expect(await bars(store)).toBe(await bars(whole));
  });

  it('ends when it is told to, with what it has stored, and is no failure', async () => {
    const store = await emptyStore();
    const folder = dataFolder();
    const begun = Promise.withResolvers<void>();
    const child = bring(store, folder, begun.resolve);
    await begun.promise;
    await child.stop(20_000);
    expect(await child.ended).toBeNull();
    expect(await sampleMetadata(store)).toMatchObject({ throughMs: null });
    expect(await bring(store, folder).ended).toBe('created');
  });

  it('says what keeps it from its work', async () => {
    const store = await emptyStore();
    const folder = dataFolder();
    writeFileSync(join(folder, 'sample'), 'where its files should go');
    await expect(bring(store, folder).ended).rejects.toThrow(/^the sample market: (EEXIST|ENOTDIR)/);
  });
});
