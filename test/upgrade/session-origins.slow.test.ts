// Stores of the release before do not say where their sessions come from: the names of files do.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { ensureStarterRegistry } from '../../src/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../src/ingest/ingest.ts';
import { ensureSampleMarket } from '../../src/ingest/sample/sample-market.ts';
import { openCurrentStore } from '../../src/store/current-store.ts';
import { originsOf } from '../../src/store/market/session-origins.ts';
import { upsertRows } from '../../src/store/rows/models/sets.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { sampleSetAside, storedSample } from '../../src/store/sample-data.ts';
import { filledStores, storeForThisTest, type TestStore } from '../support/store.ts';
import { contentsOf } from '../support/store-contents.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const tape = { optionPrints: 800, plants: 12, stockPrints: 200, symbols: ['SPX', 'SPY'] };
const shape = { barSessions: 2, chainSessions: 1, historySessions: 2, captureEveryMinutes: 130, tapeSessions: 1, tape };
const folder = temporaryFolder();
const nowMs = exchangeInstant('2026-11-25', 0);
const now = () => nowMs;
const session = '2026-11-24';

async function start({ databaseUrl }: TestStore): Promise<string[]> {
  const lines: string[] = [];
  await (await openCurrentStore({ databaseUrl, dataDir: '', log: (line) => lines.push(line) })).close();
  return lines;
}

/** Takes out of a store what the release before did not write. */
async function asBefore({ pool }: TestStore): Promise<void> {
  await pool.query('TRUNCATE session_origins, sample_rows');
  await pool.query(`DELETE FROM store_facts WHERE key = 'session_origins'`);
}

const sampleStore = filledStores(async (store) => {
  await ensureStarterRegistry(store, now);
  await ensureSampleMarket(store, { dataDir: folder(), now, shape });
  // The sample market of that release had none.
  await store.pool.query('TRUNCATE splits, dividends, rates, option_roots, tape_sessions');
  await store.pool.query(`DELETE FROM generations WHERE symbol = '*'`);
});

async function sampled(): Promise<TestStore> {
  const store = await sampleStore();
  onTestFinished(() => store.close());
  return store;
}

const header = 'ticker,volume,open,close,high,low,window_start,transactions';

function dayBars(symbol: string, sessions: readonly string[]): string {
  const path = join(folder(), `${symbol}-${sessions.join()}.csv`);
  const lines = sessions.map((date) => `${symbol},100,5,5,5,5,${exchangeInstant(date)}000000,3`);
  writeFileSync(path, `${[header, ...lines].join('\n')}\n`);
  return path;
}

/** Stores a file as the release before did: beside the sample market. */
async function ingestBefore(store: TestStore, path: string): Promise<void> {
  const { files } = await ingestFiles(store, 'stock-day-bars', [path], { now, bundled: 'registry' });
  expect(files[0]).toMatchObject({ status: 'stored' });
}

const records = { tables: ['ingested_files', 'store_facts'] };

test('all sessions of a store that holds the sample market alone are of the sample', async () => {
  const store = await sampled();
  const before = await contentsOf(store, records);
  await asBefore(store);
  expect(await start(store)).toEqual([]);
  expect(await contentsOf(store, records)).toEqual(before);
  expect(await originsOf(store, [{ symbol: 'SPY', sessionDate: session }])).toEqual(['sample']);
});

test('the sample market is set aside where other data is stored, which is left as it was', async () => {
  const store = await sampled();
  const sampleOnly = await contentsOf(store, records);
  // One session is not the sample market's, and IBM has the year of the sample market's bars in no block.
  await ingestBefore(store, dayBars('SPY', ['2026-10-01']));
  await ingestBefore(store, dayBars('IBM', ['2026-10-01', '2026-10-02']));
  await asBefore(store);
  expect(await start(store)).toContain(`warning: ${sampleSetAside}`);
  const other = await storeForThisTest();
  await ensureStarterRegistry(other, now);
  await ingestBefore(other, dayBars('SPY', ['2026-10-01']));
  await ingestBefore(other, dayBars('IBM', ['2026-10-01', '2026-10-02']));
  // Volatility days are of later releases than origins.
  const market = { tables: [...records.tables, 'sample_rows', 'symbols', 'volatility_days'] };
  const [left, expected] = [await contentsOf(store, market), await contentsOf(other, market)];
  for (const [table, rows] of Object.entries(expected)) {
    expect(left[table]!.length, table).toBe(rows.length);
    expect(left[table], table).toEqual(rows);
  }
  const { rows } = await storedSample(store.primary);
  for (const table of ['chain_captures', 'gex_captures', 'flow_events', 'off_exchange_sessions', 'greeks_minutes'])
    expect(rows[table], table).toBe(sampleOnly[table]!.length);
  expect(await start(store)).toEqual([]);
  expect((await storedSample(store.primary)).rows).toEqual(rows);
});

test('sessions of which other files of the same kind are stored are taken for real, and named', async () => {
  const store = await sampled();
  await ingestBefore(store, dayBars('IBM', [session]));
  await asBefore(store);
  const lines = await start(store);
  expect(lines.join('\n')).toContain(`are taken for real: ${session}`);
  const daily = await store.prisma.barBlock.findMany({ where: { symbol: 'SPY', timeframe: '1d' } });
  expect(daily.map(({ count }) => count)).toEqual([1]);
  // Its options are of files of the sample market alone.
  expect(await store.prisma.flowEvent.count()).toBe(0);
  expect(await store.prisma.gexCapture.count()).toBe(0);
});

test('sessions observed live are live until a file replaces them', async () => {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, now);
  const coverage = { complete: false, observedFromMs: 1, observedThroughMs: 2, registryVersion: 1 };
  const rows = ['observed_live', 'eod_reconciled'].map((status) => ({
    ...coverage,
    ...{ underlying: status === 'observed_live' ? 'SPX' : 'SPY', sessionDate: session, status },
    standardMultiplierAssumed: true,
  }));
  await inTransaction(store, (tx) => upsertRows(tx, 'FlowCoverage', rows));
  await ingestBefore(store, dayBars('IBM', [session]));
  expect(await start(store)).toEqual([]);
  const sessions = ['SPX', 'SPY', 'IBM'].map((symbol) => ({ symbol, sessionDate: session }));
  expect(await originsOf(store, sessions)).toEqual(['live', 'file', 'file']);
});
