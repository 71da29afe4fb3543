// Whatever replaces stored data, the rows of before can be read as they were known.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { recompute } from '../../../src/intake/ingest/recompute/recompute.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { keptModels, supersededTable } from '../../../src/store/rows/models/kept-models.ts';
import { tableOf } from '../../../src/store/rows/models/model-tables.ts';
import type { Reader } from '../../../src/store/rows/reader.ts';
import { readKnownFrom } from '../../../src/store/superseded/generation.ts';
import { knownText, readKnowledge } from '../../../src/store/superseded/known-store.ts';
import { pruneExpired, pruneSuperseded } from '../../../src/store/superseded/prune.ts';
import { readStoreSize } from '../../../src/store/superseded/size.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { delayedPage } from '../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [monday, tuesday] = ['2026-11-16', '2026-11-17'] as const;
const call = 'O:SPY261218C00600000';
const folder = temporaryFolder();
let nowMs = exchangeInstant('2026-11-18', 720);
const now = () => nowMs++;
let files = 0;

function file(lines: readonly string[], extension = 'csv'): string {
  const path = join(folder(), `${files++}.${extension}`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
const ns = (date: string, minute: number) => `${exchangeInstant(date, minute)}000000`;
const halfHours = Array.from({ length: 13 }, (_, i) => 570 + 30 * i).concat(959);
const optionTape = (price: number, size: number, minutes: readonly number[] = halfHours) =>
  file([
    'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    ...minutes.map((minute) => `${call},209,0,302,${price},${ns(monday, minute)},${size}`),
  ]);
const stockTape = (price: number, minutes: readonly number[] = halfHours) =>
  file([
    'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    ...minutes.map((minute, i) => `SPY,,12,${i},${price},${i},${ns(monday, minute)},100,2,0`),
  ]);
const dayBars = (close: number) =>
  file([
    'ticker,volume,open,close,high,low,window_start,transactions',
    `SPY,100,600,${close},${Math.max(600, close)},600,${ns(tuesday, 0)},1`,
  ]);
const page = (volatility: number) =>
  file([
    delayedPage({
      date: 'November 16, 2026 at 10:00 AM EST',
      root: 'SPXW',
      forward: 6000,
      volatility,
      expiries: { '2026-12-18': 32 / 365 },
      strikes: Array.from({ length: 11 }, (_, i) => 5950 + 10 * i),
    }),
  ]);
const splits = (ratio: number) => file(['symbol,ex_date,ratio', `SPY,${tuesday},${ratio}`]);

const ingest = async (store: TestStore, dataset: Dataset, path: string) => {
  const report = await ingestFiles(store, dataset, [path], { now });
  expect(report.files[0]).toMatchObject({ status: 'stored' });
};

/** The rows of every table whose replaced rows are kept, as text. */
async function rowsOf({ query }: Pick<Reader, 'query'>): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const model of keptModels) {
    const { table, fields } = tableOf(model);
    const columns = fields.map(({ column }) => `t.${column}`).join(', ');
    const { rows } = await query<{ row: string }>(`SELECT ROW(${columns})::text AS row FROM ${table} AS t`);
    if (rows.length > 0) tables[table] = rows.map(({ row }) => row).sort();
  }
  return tables;
}

/** The rows as they were known at an instant. */
async function knownRows(store: TestStore, atMs: number): Promise<Record<string, string[]>> {
  const knowledge = await readKnowledge(store, atMs);
  const snapshot = store.snapshots.lease();
  try {
    return await rowsOf(snapshot.rewritten((text) => knownText(store.schema, text, knowledge)));
  } finally {
    await snapshot.end();
  }
}
const current = (store: TestStore) => rowsOf({ query: store.pool.query.bind(store.pool) as Reader['query'] });

const live = '2026-11-18';

/** Follows a tape of prints of a stock and an option, each minute in a commit of its own. */
function followed(store: TestStore, source: string, price: number): Promise<unknown> {
  const line = (print: object, minute: number, id: number) =>
    JSON.stringify({ ...print, sip_timestamp: ns(live, minute), sequence_number: id, price, size: 900 });
  const pieces = [600, 601, 602, 605, 615, 660].map((minute, i) => {
    const stock = line({ type: 'stock_print', symbol: 'SPY', exchange: 4, id: String(i) }, minute, 2 * i);
    const option = line({ type: 'option_print', contract: call, exchange: 302, conditions: [209] }, minute, 2 * i + 1);
    return Buffer.from(`${stock}\n${option}\n`);
  });
  return follow(store, Readable.from(pieces), {
    source,
    everyMs: 0,
    now,
    stop: new AbortController().signal,
    gammaSource: 'solve',
    rate: 0.04,
    fromStart: false,
    onBadLine() {},
  });
}

/** Every kind of replacement, one after the other. */
const replacements: readonly [string, (store: TestStore) => Promise<unknown>][] = [
  ['a stock tape', (store) => ingest(store, 'stock-trades', stockTape(600))],
  ['an option tape', (store) => ingest(store, 'option-trades', optionTape(50, 10_000))],
  ['a chain', (store) => ingest(store, 'chain', page(0.2))],
  ['day bars', (store) => ingest(store, 'stock-day-bars', dayBars(601))],
  ['splits', (store) => ingest(store, 'splits', splits(2))],
  ['a corrected stock tape', (store) => ingest(store, 'stock-trades', stockTape(610, [...halfHours, 700]))],
  ['a corrected option tape', (store) => ingest(store, 'option-trades', optionTape(60, 9000, [...halfHours, 700]))],
  ['a corrected chain', (store) => ingest(store, 'chain', page(0.3))],
  ['corrected day bars', (store) => ingest(store, 'stock-day-bars', dayBars(605))],
  ['corrected splits', (store) => ingest(store, 'splits', splits(3))],
  [
    'a reconciliation',
    async (store) => {
      const given = { trades: [optionTape(70, 8000, [...halfHours, 701])], quotes: [], dayAggregates: [] };
      const report = await reconcile(store, given, { session: monday, maxErrors: 0, now });
      expect(report.status).toBe('reconciled');
    },
  ],
  [
    'a recompute',
    async (store) => {
      const how = { now, rate: 0.02, delayMs: 1_200_000, all: true };
      const [report] = await recompute(store, 'chain', { symbol: null, from: null, to: null }, how);
      expect(report).toMatchObject({ status: 'recomputed' });
    },
  ],
  ['a live tape', (store) => followed(store, 'feed', 640)],
  // After its first commit, none of its commits has rows of an earlier generation to keep.
  ['a live tape of the same session, from another feed', (store) => followed(store, 'other feed', 650)],
];

test('after any replacement, every row of before is read as it was known at each instant before', async () => {
  const store = await storeForThisTest();
  const known: { after: string; atMs: number; rows: Record<string, string[]> }[] = [];
  const remember = async (after: string) => void known.push({ after, atMs: nowMs++, rows: await current(store) });
  await remember('nothing');
  for (const [name, replace] of replacements) {
    await replace(store);
    await remember(name);
    for (const { after, atMs, rows } of known)
      expect(await knownRows(store, atMs), `as known after ${after}, once there was ${name}`).toEqual(rows);
  }
  expect(known[0]!.rows).toEqual({});
  const tables = Object.keys(known.at(-1)!.rows);
  expect(tables).toEqual(expect.arrayContaining(['bar_blocks', 'flow_legs', 'option_bar_blocks', 'gex_captures']));
});

test('a generation that was being written was not known yet', async () => {
  const store = await storeForThisTest();
  await ingest(store, 'stock-day-bars', dayBars(601));
  const before = await current(store);
  const begunMs = nowMs;
  await ingest(store, 'stock-day-bars', dayBars(602));
  for (let atMs = begunMs; atMs < nowMs; atMs++) {
    const rows = await knownRows(store, atMs);
    expect([before, await current(store)], `${atMs - begunMs} of ${nowMs - begunMs} ms`).toContainEqual(rows);
  }
  // It is written while the clock advances.
  expect(await knownRows(store, begunMs + 1)).toEqual(before);
});

test('superseded data is measured, expires after its time, and is removed on demand', async () => {
  const store = await storeForThisTest();
  await ingest(store, 'stock-day-bars', dayBars(601));
  const firstMs = nowMs++;
  await ingest(store, 'stock-day-bars', dayBars(602));
  const sized = async () => (await readStoreSize(store)).tables.find(({ table }) => table === 'bar_blocks')!.superseded;
  expect(await sized()).toMatchObject({ rows: 1 });
  // Time passes, and another command runs the upkeep.
  expect(await pruneExpired(store, nowMs + 90 * 86_400_000 - 1000)).toEqual({ rows: 0, knownFromMs: null });
  expect(await readKnownFrom(store)).toBe(null);
  const pruned = await pruneExpired(store, nowMs + 90 * 86_400_000);
  expect(pruned.rows).toBe(1);
  expect(pruned.knownFromMs).toBeGreaterThan(firstMs);
  expect(await readKnownFrom(store)).toBe(pruned.knownFromMs);
  expect(await sized()).toMatchObject({ rows: 0 });
  await ingest(store, 'stock-day-bars', dayBars(603));
  expect(await pruneSuperseded(store, nowMs)).toMatchObject({ rows: 1 });
});

test('a store that keeps nothing knows only what is in force', async () => {
  const store = await storeForThisTest();
  const keepless = Object.assign(store, { keepSupersededMs: 0 });
  await ingest(keepless, 'stock-day-bars', dayBars(601));
  expect(await readKnownFrom(store)).toBe(null);
  const beforeMs = nowMs++;
  await ingest(keepless, 'stock-day-bars', dayBars(602));
  expect(await readKnownFrom(store)).toBeGreaterThan(beforeMs);
  const { rows } = await store.pool.query(`SELECT FROM ${supersededTable('BarBlock')}`);
  expect(rows).toEqual([]);
});
