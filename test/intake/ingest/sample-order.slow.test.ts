import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { ensureSampleMarket, sampleSolveMost } from '../../../src/intake/ingest/sample/sample-market.ts';
import { type SampleLoading, sampleMetadata, writeSampleMetadata } from '../../../src/intake/ingest/sample-metadata.ts';
import { corporateDatasets } from '../../../src/intake/sample/market/corporate.ts';
import { samplePlan } from '../../../src/intake/sample/market/plan.ts';
import { beginOwnData } from '../../../src/store/origin.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { contentsOf } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const tape = { optionPrints: 1500, plants: 24, stockPrints: 0, symbols: ['SPX', 'SPY', 'TSLA'] };
const shape = { barSessions: 3, chainSessions: 3, historySessions: 3, captureEveryMinutes: 130, tapeSessions: 2, tape };
/** Where one session of history will do. */
const shorter = { ...shape, barSessions: 2, chainSessions: 2, historySessions: 2 };
const folder = temporaryFolder();
const nowMs = exchangeInstant('2026-11-25', 0);
const now = () => nowMs;

async function emptyStore(): Promise<TestStore> {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, now);
  return store;
}

/** The session a file is of, or begins with. */
const sessionOf = (path: string) => /\d{4}-\d\d-\d\d/.exec(path)![0];

/**
 * Stores the files of a market as they came into the world: terms and rates, then session by session, prints after what
 * they rest on.
 */
async function bringInOrder(store: TestStore): Promise<void> {
  const datasets = [
    ...corporateDatasets,
    'stock-day-bars',
    'stock-minute-bars',
    'option-minute-bars',
    'chain',
    'stock-trades',
    'option-trades',
  ] as const;
  await writeSampleMetadata(store, { throughMs: null }, { begins: true });
  const solved = new Set(
    samplePlan(nowMs, null, shape).flatMap((task) => (task.dataset === 'chain' && task.solve ? [task.name] : [])),
  );
  const files = await Promise.all(
    datasets.map(async (dataset) => {
      const path = join(folder(), 'sample', dataset);
      const names = existsSync(path) ? await readdir(path, { recursive: true }) : [];
      return names.filter((name) => name.endsWith('.csv.gz')).map((name) => ({ dataset, name }));
    }),
  );
  const isTerms = (dataset: (typeof datasets)[number]) => corporateDatasets.some((each) => each === dataset);
  const order = ({ dataset, name }: (typeof files)[number][number]) =>
    `${isTerms(dataset) ? '' : sessionOf(name)} ${String(datasets.indexOf(dataset)).padStart(2, '0')} ${name}`;
  for (const { dataset, name } of files.flat().sort((a, b) => (order(a) < order(b) ? -1 : 1))) {
    const { files: reports } = await ingestFiles(store, dataset, [join(folder(), 'sample', dataset, name)], {
      now,
      delayMs: 0,
      gammaSource: solved.has(name.replace('.csv.gz', '')) ? 'solve' : 'vendor',
      quoteFiles: dataset === 'option-trades' ? [join(folder(), 'sample', 'option-quotes', name)] : [],
      solveMost: sampleSolveMost,
      bundled: 'sample',
    });
    expect(reports[0]!.status).not.toBe('refused');
  }
}

describe('a sample market that is brought with its latest session first', () => {
  test('is in the end what it is when brought in the order of its sessions', async () => {
    const [store, inOrder] = [await emptyStore(), await emptyStore()];
    await ensureSampleMarket(store, { dataDir: folder(), now, shape });
    await bringInOrder(inOrder);
    const [brought, expected] = [await contentsOf(store), await contentsOf(inOrder)];
    expect(expected.greeks_minutes!.length).toBeGreaterThan(100);
    for (const [table, rows] of Object.entries(expected)) expect(brought[table], table).toEqual(rows);
  });

  test('says how far it is, and has its latest session before the history', async () => {
    const store = await emptyStore();
    const states: { hasLatest: boolean; tapes: string[]; stored: unknown }[] = [];
    await ensureSampleMarket(store, {
      dataDir: folder(),
      now,
      shape: shorter,
      isShown: true,
      async onProgress({ hasLatest }) {
        const { rows } = await store.pool.query('SELECT DISTINCT session_date AS date FROM flow_events ORDER BY 1');
        states.push({ hasLatest, tapes: rows.map(({ date }) => date), stored: (await sampleMetadata(store))?.loading });
      },
    });
    const first = states.findIndex(({ hasLatest }) => hasLatest);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(states.length - 1);
    expect(states[first]).toMatchObject({ tapes: ['2026-11-24'], stored: { hasLatest: true } });
    expect(states[0]).toMatchObject({ tapes: [], stored: { percent: 0, hasLatest: false } });
    expect(states.at(-1)!.tapes).toEqual(['2026-11-23', '2026-11-24']);
    expect((await sampleMetadata(store))!.loading).toBeUndefined();
  });

  test('takes nothing back of what it says is there when it continues, and says no more once it is left alone', async () => {
    const store = await emptyStore();
    const said: SampleLoading[] = [];
    const bring = (signal?: AbortSignal, onLatest = () => {}) =>
      ensureSampleMarket(store, {
        dataDir: folder(),
        now,
        shape: shorter,
        isShown: true,
        ...(signal && { signal }),
        async onProgress({ hasLatest }) {
          said.push((await sampleMetadata(store))!.loading!);
          if (hasLatest) onLatest();
        },
      });
    const stop = new AbortController();
    await expect(bring(stop.signal, () => stop.abort())).rejects.toThrow();
    const before = said.splice(0).at(-1)!;
    expect(before).toMatchObject({ hasLatest: true, percent: expect.toSatisfy((percent) => percent > 0) });
    await expect(bring(stop.signal)).rejects.toThrow();
    expect(said[0]!.hasLatest).toBe(true);
    expect(said[0]!.percent).toBeGreaterThanOrEqual(before.percent);
    await inTransaction(store, (tx) => beginOwnData(tx, nowMs));
    expect(await bring()).toBe('absent');
    expect(await sampleMetadata(store)).toBeNull();
  });
});
