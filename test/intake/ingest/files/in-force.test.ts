// `unchanged` means that a file's content is in force now: whatever took its place since makes the file be stored
// again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Dataset, datasetNames } from '../../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { captureChainsOnce } from '../../../../src/intake/ingest/chains/capture-chains.ts';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../../src/intake/ingest/options/reconcile.ts';
import { saveSeals } from '../../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { chainServer, tagged } from '../../../support/chain-server.ts';
import { storeForThisTest, type TestStore, testStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
const next = '2026-11-17';
const now = () => exchangeInstant('2026-11-18', 60);
const folder = temporaryFolder();

const stamp = (date: string, seconds = 0) => `${exchangeInstant(date, 600) + seconds * 1000}000000`;
const call = 'O:SPY261218C00600000';

/** Lines of a dataset's file whose figures depend on `n`. */
const lines: Record<Exclude<Dataset, 'chain'>, (n: number, date: string) => string[]> = {
  symbols: (n) => ['symbol,name,listed', `ABCD,Company ${n},true`],
  roots: (n) => ['root,underlying,style,settlement,multiplier', `ABCDW,ABCD,european,pm,${n}`],
  splits: (n) => ['symbol,ex_date,ratio', `ABCD,2026-11-16,${n + 1}:1`],
  dividends: (n) => ['symbol,ex_date,amount', `ABCD,2026-11-16,${n}`],
  rates: (n) => ['date,days,rate', `2026-11-16,30,0.0${n}`],
  'volatility-days': (n) => ['symbol,date,iv30', `ABCD,2026-11-16,0.${n}`],
  'stock-minute-bars': (n, date) => [
    'ticker,volume,open,close,high,low,window_start,transactions',
    `SPY,${n},100,100,101,99,${stamp(date)},5`,
  ],
  'stock-day-bars': (n, date) => [
    'ticker,volume,open,close,high,low,window_start,transactions',
    `SPY,${n},100,100,101,99,${stamp(date)},5`,
  ],
  'option-minute-bars': (n, date) => [
    'ticker,volume,open,close,high,low,window_start,transactions',
    `${call},${n},5,5,5,5,${stamp(date)},5`,
  ],
  'open-interest': (n, date) => ['ticker,open_interest,session_date', `${call},${n},${date}`],
  'stock-trades': (n, date) => [
    'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp',
    ...[1, 2, 3].map((i) => `SPY,,0,4,${i},${stamp(date, i)},100.5,${i},${stamp(date, i)},${n},2,202,`),
  ],
  'option-trades': (n, date) => [
    'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    `${call},209,0,302,5,${stamp(date, 1)},${1000 + n}`,
  ],
  'option-quotes': (n, date) => [
    'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
    `${call},302,${5 + n / 100},10,302,4.9,10,1,${stamp(date)}`,
  ],
};

/** A chain as its source writes it; the bids depend on `n`. */
function chainText(n: number, date: string): string {
  const options = [95, 100, 105].flatMap((strike) =>
    ['C', 'P'].map((right) => ({
      option: `XYZ261218${right}${String(strike * 1000).padStart(8, '0')}`,
      bid: 5 + n / 1000,
      ask: 5.2,
      iv: 0.2,
      open_interest: 100,
      volume: 3,
      delta: 0.5,
      gamma: 0.01,
      theta: -0.1,
      vega: 0.2,
      theo: 5.1,
      last_trade_price: 5.1,
      last_trade_time: null,
    })),
  );
  const data = { options, current_price: 100, prev_day_close: 99 };
  return JSON.stringify({ timestamp: `${date} 15:00:00`, data });
}

const textOf = (dataset: Dataset, n: number, date: string) =>
  dataset === 'chain' ? chainText(n, date) : lines[dataset](n, date).join('\n');

function file(dataset: Dataset, n: number, date = session): string {
  const path = join(folder(), `${dataset}-${n}-${date}.${dataset === 'chain' ? 'json' : 'csv'}`);
  writeFileSync(path, textOf(dataset, n, date));
  return path;
}

const ingest = async (
  store: TestStore,
  dataset: Dataset,
  path: string,
  more: Partial<IngestOptions> = {},
): Promise<string> => {
  const { files } = await ingestFiles(store, dataset, [path], { now, ...more });
  expect(files[0]!.badLines).toEqual([]);
  return files[0]!.status;
};

/** Datasets whose rows are of no session. */
const withoutSessions = new Set<Dataset>(['symbols', 'roots', 'splits', 'dividends', 'rates', 'volatility-days']);

const tables = [
  ...['bar_blocks', 'option_bar_blocks', 'open_interest_blocks', 'chain_captures', 'gex_captures', 'flow_events'],
  ...['flow_legs', 'cross_sections', 'ranked_prints', 'off_exchange_sessions', 'option_quote_blocks', 'symbols'],
  ...['option_roots', 'splits', 'dividends', 'rates', 'volatility_days', 'contract_minute_blocks'],
];

/** All that is stored; numbers of snapshots and of computations go on. */
async function stored(store: TestStore): Promise<unknown> {
  const all: unknown[] = [];
  for (const table of tables) {
    const { rows } = await store.pool.query(
      `SELECT to_jsonb(t) - '{seq,generation_ms,as_of_ms,scanned_at_ms,registry_version,version_added,updated_version}'::text[] AS row
       FROM ${table} t ORDER BY to_jsonb(t)::text`,
    );
    all.push([table, rows.map(({ row }) => row)]);
  }
  return all;
}

describe.each(datasetNames)('%s', (dataset) => {
  // Each test puts files of its own in force.
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  test('A, then B, then A again restores A; a second time it is unchanged', async () => {
    const [a, b] = [file(dataset, 1), file(dataset, 2)];
    expect(await ingest(store, dataset, a)).toBe('stored');
    const withA = await stored(store);
    expect(await ingest(store, dataset, b)).toBe('stored');
    expect(await stored(store)).not.toEqual(withA);
    expect(await ingest(store, dataset, a)).toBe('stored');
    expect(await stored(store)).toEqual(withA);
    expect(await ingest(store, dataset, a)).toBe('unchanged');
    expect(await ingest(store, dataset, b)).toBe('stored');
  });

  test('the same lines packed otherwise, under another name, are unchanged without being read', async () => {
    expect(await ingest(store, dataset, file(dataset, 3))).toBe('stored');
    for (const level of [1, 9]) {
      const packed = join(folder(), `packed-${level}-${session}-${dataset === 'chain' ? 'c.json.gz' : 'c.csv.gz'}`);
      writeFileSync(packed, gzipSync(textOf(dataset, 3, session), { level }));
      const { files } = await ingestFiles(store, dataset, [packed], { now });
      expect(files[0]).toMatchObject({
        status: 'unchanged',
        reason: expect.stringContaining('the same content is already stored (as '),
      });
    }
  });

  test.skipIf(withoutSessions.has(dataset))('a file of another session supersedes nothing', async () => {
    const [monday, tuesday] = [file(dataset, 4), file(dataset, 5, next)];
    for (const path of [monday, tuesday]) expect(await ingest(store, dataset, path)).toBe('stored');
    for (const path of [monday, tuesday]) {
      const { files } = await ingestFiles(store, dataset, [path], { now });
      expect(files[0]!.reason).toContain('the same content is already stored');
    }
  });
});

test('of two long files that differ in their last line alone both are stored, and each is known again', async () => {
  const store = await storeForThisTest();
  const header = lines['stock-minute-bars'](1, session)[0]!;
  const bars = Array.from(
    { length: 3_000 },
    (_, i) => `T${i % 389},5,100,100,101,99,${stamp(session, 60 * (i % 60))},5`,
  );
  const long = (name: string, last: number): string => {
    const path = join(folder(), `${name}.csv`);
    writeFileSync(path, [header, ...bars, `SPY,${last},100,100,101,99,${stamp(session)},5`].join('\n'));
    return path;
  };
  const statuses: string[] = [];
  for (const [name, last] of [
    ['a', 1],
    ['b', 2],
    ['b-again', 2],
    ['a-again', 1],
  ] as const)
    statuses.push(await ingest(store, 'stock-minute-bars', long(name, last)));
  expect(statuses).toEqual(['stored', 'stored', 'unchanged', 'stored']);
});

test('a file of which an older release did not record the head is known again', async () => {
  const store = await storeForThisTest();
  await ingest(store, 'stock-minute-bars', file('stock-minute-bars', 1));
  await store.pool.query('UPDATE ingested_files SET head = NULL');
  const { files } = await ingestFiles(store, 'stock-minute-bars', [file('stock-minute-bars', 1)], { now });
  expect(files[0]!.reason).toContain('the same content is already stored');
});

test('of one chain file the gammas asked for last are in force', async () => {
  const store = await storeForThisTest();
  const chain = file('chain', 1);
  const sources: string[] = [];
  for (const gammaSource of ['solve', 'vendor', 'solve', 'solve'] as const)
    sources.push(await ingest(store, 'chain', chain, { gammaSource }));
  expect(sources).toEqual(['stored', 'stored', 'stored', 'unchanged']);
  const { rows } = await store.pool.query('SELECT gamma_source FROM gex_captures');
  expect(rows).toEqual([{ gamma_source: 'solve' }]);
});

test.each<[Dataset, Dataset]>([
  ['stock-minute-bars', 'stock-trades'],
  ['stock-day-bars', 'stock-trades'],
  ['option-minute-bars', 'option-trades'],
  ['stock-trades', 'stock-minute-bars'],
  ['stock-trades', 'stock-day-bars'],
  ['option-trades', 'option-minute-bars'],
  ['option-trades', 'option-quotes'],
])('%s that %s took the place of are stored again', async (first, second) => {
  const store = await storeForThisTest();
  const path = file(first, 1);
  await ingest(store, first, path);
  await ingest(store, second, file(second, 7));
  expect(await ingest(store, first, path)).toBe('stored');
});

test('what a capture, or a reconciliation, took the place of is stored again', async () => {
  const store = await storeForThisTest();
  const chain = file('chain', 1);
  await ingest(store, 'chain', chain, { gammaSource: 'vendor' });
  const source = await chainServer();
  const url = source.serve('xyz', tagged(chainText(2, session), '"1"'));
  const settings = { everyMs: 1, delayMs: 0, always: true, timeoutMs: 20_000, maxBytes: 1e6, rate: 0.045, atOnce: 1 };
  const quiet = { info() {}, warn() {}, debug() {} };
  const world = { now, stop: new AbortController().signal, random: () => 0, sleep: async () => {}, log: quiet };
  const report = await captureChainsOnce(
    store,
    [{ symbol: 'XYZ', url }],
    { ...settings, gammaSource: 'vendor' },
    world,
  );
  expect(report.XYZ).toMatchObject({ captured: 1 });
  expect(await ingest(store, 'chain', chain, { gammaSource: 'vendor' })).toBe('stored');

  const [tape, other] = [file('option-trades', 1), file('option-trades', 2)];
  await ingest(store, 'option-trades', tape);
  const files = { trades: [other], quotes: [], dayAggregates: [] };
  expect(await reconcile(store, files, { session, maxErrors: 0, now })).toMatchObject({ status: 'reconciled' });
  expect(await ingest(store, 'option-trades', tape)).toBe('stored');
});

test('--force reads and computes again what is in force, and changes nothing that is the same', async () => {
  const store = await storeForThisTest();
  const chain = file('chain', 1);
  await ingest(store, 'chain', chain);
  const before = await stored(store);
  await store.pool.query('UPDATE gex_captures SET net_gex = 0, version = $1', ['x']);
  expect(await ingest(store, 'chain', chain)).toBe('unchanged');
  expect(await ingest(store, 'chain', chain, { force: true })).toBe('stored');
  expect(await stored(store)).toEqual(before);
  expect(await ingest(store, 'chain', chain, { force: true })).toBe('unchanged');
  await inTransaction(store, (tx) => saveSeals(tx, session, ['*'], now()));
  expect(await ingest(store, 'chain', chain)).toBe('unchanged');
  expect(await ingest(store, 'chain', chain, { force: true })).toBe('refused');
});

test('of a session in progress, whose data may change at any time, nothing is taken to be in force unread', async () => {
  const store = await storeForThisTest();
  const during = () => exchangeInstant(session, 700);
  const bars = file('stock-minute-bars', 1);
  await ingestFiles(store, 'stock-minute-bars', [bars], { now: during });
  const { files } = await ingestFiles(store, 'stock-minute-bars', [bars], { now: during });
  expect(files[0]).toMatchObject({ status: 'unchanged', reason: 'all of it is already stored' });
});
