// Stores of earlier releases could hold the sample market and other data: other data wins. Of the oldest ones the names
// of files say which is which.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { ensureSampleMarket } from '../../src/intake/ingest/sample/sample-market.ts';
import { openCurrentStore } from '../../src/store/current-store.ts';
import { originsOf, storeOrigin } from '../../src/store/market/session-origins.ts';
import { symbolColumn, symbolModels } from '../../src/store/market-models.ts';
import { tableOf } from '../../src/store/rows/models/model-tables.ts';
import { upsertRows } from '../../src/store/rows/models/sets.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
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

/** Takes out of a store what the oldest releases did not write. */
async function asOldest({ pool }: TestStore): Promise<void> {
  await pool.query('TRUNCATE session_origins');
  await pool.query(`DELETE FROM store_facts WHERE key IN ('session_origins', 'store_origin')`);
}

/** Makes a store one of the release before, which marked simulated symbols; `keys`: further entries of its metadata. */
async function asBefore({ pool }: TestStore, symbols: readonly string[], keys: readonly string[] = []): Promise<void> {
  await pool.query('TRUNCATE session_origins');
  await pool.query(`INSERT INTO session_origins SELECT symbol, '*', 'sample' FROM unnest($1::text[]) AS symbol`, [
    symbols,
  ]);
  await pool.query(`DELETE FROM store_facts WHERE key = 'store_origin'`);
  await pool.query(`INSERT INTO store_facts SELECT key, 'true' FROM unnest($1::text[]) AS key`, [
    ['session_origins', ...keys],
  ]);
}

/** The symbols with market data. */
async function symbolsOf({ pool }: TestStore): Promise<string[]> {
  const found = new Set<string>();
  for (const model of symbolModels) {
    const { rows } = await pool.query(`SELECT DISTINCT ${symbolColumn(model)} AS symbol FROM ${tableOf(model).table}`);
    for (const { symbol } of rows) found.add(symbol);
  }
  return [...found];
}

/** Numbers of rows as the log has them. */
function reported(lines: readonly string[]): Record<string, number> {
  const counts = lines.map((line) => /number of rows: (.*)/.exec(line)?.[1]).find((text) => text !== undefined) ?? '';
  return Object.fromEntries(counts.split(', ').map((each) => [each.split(' ')[0]!, Number(each.split(' ')[1])]));
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

test.for([
  ['the release before', async (store: TestStore) => asBefore(store, await symbolsOf(store))],
  ['the oldest release', asOldest],
] as const)('a store of %s that holds the sample market alone is of it, as it was', async ([, age]) => {
  const store = await sampled();
  const before = await contentsOf(store, records);
  await age(store);
  expect(await start(store)).toEqual([]);
  expect(await contentsOf(store, records)).toEqual(before);
  expect(await storeOrigin(store)).toBe('sample');
  expect(await originsOf(store, [{ symbol: 'SPY', sessionDate: session }])).toEqual(['sample']);
});

/** A store with the same other data, which never held the sample market. */
async function ownStore(files: readonly string[]): Promise<TestStore> {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, now);
  for (const file of files) await ingestBefore(store, file);
  await store.pool.query(`INSERT INTO session_origins VALUES ('*', '*', 'own')`);
  return store;
}

async function expectEqual(left: TestStore, expected: TestStore, besides: readonly string[] = []): Promise<void> {
  const omitted = { tables: [...records.tables, 'symbols', ...besides] };
  const found = await contentsOf(left, omitted);
  for (const [table, rows] of Object.entries(await contentsOf(expected, omitted)))
    expect(found[table], table).toEqual(rows);
}

test('simulated symbols that were served beside other data are deleted, and counted', async () => {
  const store = await sampled();
  const simulated = await symbolsOf(store);
  const sampleOnly = await contentsOf(store, records);
  const files = [dayBars('IBM', ['2026-10-01', '2026-10-02'])];
  await store.pool.query(`DELETE FROM bar_blocks WHERE symbol = 'IBM'`);
  for (const file of files) await ingestBefore(store, file);
  await asBefore(
    store,
    simulated.filter((symbol) => symbol !== 'IBM'),
    ['own_data', 'keep_sample'],
  );
  const lines = await start(store);
  for (const table of ['chain_captures', 'gex_captures', 'flow_events'])
    expect(reported(lines)[table], table).toBe(sampleOnly[table]!.length);
  await expectEqual(store, await ownStore(files), ['volatility_days']);
  const { rows } = await store.pool.query(`SELECT key FROM store_facts WHERE key ~ 'sample|own_data|session_origins'`);
  expect(rows).toEqual([]);
  expect(await start(store)).toEqual([]);
});

test('rows of the sample market that were set aside are deleted, and counted', async () => {
  const file = dayBars('IBM', ['2026-10-01']);
  const store = await ownStore([file]);
  await asBefore(store, [], ['own_data']);
  const name = '20261128080000_sample_or_own';
  await store.pool.query(`DELETE FROM _prisma_migrations WHERE migration_name = $1`, [name]);
  await store.pool.query(
    `CREATE TABLE sample_rows (table_name TEXT, row_key TEXT, symbol TEXT, row JSONB, PRIMARY KEY (table_name, row_key));
     INSERT INTO sample_rows SELECT 'flow_events', n::text, 'SPY', '{}' FROM generate_series(1, 7) AS n;
     INSERT INTO sample_rows VALUES ('bar_blocks', 'SPY', 'SPY', '{}')`,
  );
  expect(reported(await start(store))).toEqual({ bar_blocks: 1, flow_events: 7 });
  await expectEqual(store, await ownStore([file]));
  expect(await start(store)).toEqual([]);
});

test('the sample market is deleted by the names of its files where other data is stored, which is as it was', async () => {
  const store = await sampled();
  const sampleOnly = await contentsOf(store, records);
  // One session is not the sample market's, and IBM has the year of the sample market's bars in no block.
  const files = [dayBars('SPY', ['2026-10-01']), dayBars('IBM', ['2026-10-01', '2026-10-02'])];
  for (const file of files) await ingestBefore(store, file);
  await asOldest(store);
  const lines = await start(store);
  for (const table of ['chain_captures', 'gex_captures', 'flow_events', 'off_exchange_sessions', 'greeks_minutes'])
    expect(reported(lines)[table], table).toBe(sampleOnly[table]!.length);
  // Volatility days are of later releases than origins.
  await expectEqual(store, await ownStore(files), ['volatility_days']);
  expect(await start(store)).toEqual([]);
});

test('sessions of which other files of the same kind are stored are taken for real, and named', async () => {
  const store = await sampled();
  await ingestBefore(store, dayBars('IBM', [session]));
  await asOldest(store);
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
    underlying: status === 'observed_live' ? 'SPX' : 'SPY',
    sessionDate: session,
    status,
    standardMultiplierAssumed: true,
  }));
  await inTransaction(store, (tx) => upsertRows(tx, 'FlowCoverage', rows));
  await asOldest(store);
  await ingestBefore(store, dayBars('IBM', [session]));
  expect(await start(store)).toEqual([]);
  const sessions = ['SPX', 'SPY', 'IBM'].map((symbol) => ({ symbol, sessionDate: session }));
  expect(await originsOf(store, sessions)).toEqual(['live', 'file', 'file']);
});
