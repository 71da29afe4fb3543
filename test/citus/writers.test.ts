import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { writeSampleMetadata } from '../../src/intake/ingest/sample-metadata.ts';
import { storeOrigin } from '../../src/store/market/session-origins.ts';
import { marketRows } from '../../src/store/origin.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { type Ran, tapegraph } from '../cli/command-line.ts';
import { knownRoutes } from '../contract/known-routes.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { chainServer, tagged } from '../support/chain-server.ts';
import { singleStore, type TestStore, testStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Both, expectSameAnswers, expectSameGraph, expectSameRows } from './both-stores.ts';
import { fileSessions, filesOverMs, type VendorFiles, writeVendorFiles } from './vendor-files.ts';

const [barred, first, second, live] = fileSessions;
const folder = temporaryFolder();
let files: VendorFiles;
let stores: Both<TestStore>;

beforeAll(async () => {
  files = writeVendorFiles(folder());
  const [single, spread] = [await singleStore(), await testStore()];
  stores = { single, spread };
});
afterAll(() => Promise.all([stores?.single.close(), stores?.spread.close()]));

interface Command {
  /** Words of the command line; what has an extension is the name of a vendor file. */
  line: string;
  /** Text of its stdin. */
  input?: () => string;
  /** SQL for both stores, before it. */
  before?: string;
  /** The exit code; 0 unless given. */
  code?: number;
  /** It commits by the clock, and so its rows are numbered. */
  isLive?: boolean;
}

/** Makes both stores one of the sample market, with data of most tables. */
async function loadSample(): Promise<void> {
  const path = join(folder(), 'sample');
  mkdirSync(path);
  const simulated = writeVendorFiles(path);
  const now = () => filesOverMs;
  const loaded: [Dataset, string][] = [
    ['splits', 'splits.csv'],
    ['rates', 'rates.csv'],
    ['roots', 'roots.csv'],
    ['stock-minute-bars', `minutes-${barred}.csv`],
    ['chain', `chain-SPY-${first}.csv`],
    ['option-quotes', `option-quotes-${first}.csv`],
    ['option-trades', `option-trades-${first}.csv`],
    ['stock-trades', `stock-trades-${first}.csv`],
  ];
  await onBoth(async (store) => {
    await ensureStarterRegistry(store, now);
    await writeSampleMetadata(store, { throughMs: null }, { begins: true });
    for (const [dataset, name] of loaded) {
      const { files: reports } = await ingestFiles(store, dataset, [simulated.path(name)], { now, bundled: 'sample' });
      expect(reports[0]).toMatchObject({ status: 'stored' });
    }
  });
}

/** Every command that writes, in the order of a week; every dataset. */
const writers: Command[] = [
  { line: 'migrate' },
  { line: 'ingest stock-day-bars history.csv' },
  { line: 'ingest symbols symbols.csv' },
  { line: 'ingest roots roots.csv' },
  { line: 'ingest splits splits.csv' },
  { line: 'ingest dividends dividends.csv' },
  { line: 'ingest rates rates.csv' },
  { line: 'ingest volatility-days volatility-days.csv' },
  { line: `ingest stock-day-bars days-${barred}.csv days-${first}.csv` },
  { line: `ingest stock-minute-bars minutes-${barred}.csv minutes-${first}.csv` },
  { line: `ingest option-minute-bars option-minutes-${barred}.csv option-minutes-${first}.csv` },
  { line: `ingest open-interest interest-${first}.csv --session ${first}` },
  { line: `ingest chain chain-SPY-${barred}.csv chain-SPX-${barred}.csv chain-NVDA-${barred}.csv` },
  { line: `ingest chain chain-SPY-${first}.csv chain-TSLA-${first}.csv --gamma-source vendor` },
  { line: `ingest option-quotes option-quotes-${first}.csv` },
  { line: `ingest stock-trades stock-trades-${first}.csv` },
  { line: `ingest option-trades option-trades-${first}.csv --solve-most 3` },
  { line: `ingest option-trades option-trades-${first}.csv --solve-most 3` },
  { line: `ingest option-trades option-trades-${first}.csv --solve-most 2 --force` },
  { line: `ingest option-trades option-trades-${second}.csv --quotes option-quotes-${second}.csv --solve-most 2` },
  { line: `ingest stock-trades stock-trades-${second}.csv` },
  { line: 'ingest stock-trades stock-trades-evening.csv' },
  { line: 'quotes list' },
  {
    line: `reconcile --session ${second} option-trades-${second}.csv --quotes option-quotes-${second}.csv --day-aggregates option-days-${second}.csv --solve-most 2`,
  },
  { line: `ingest option-quotes option-quotes-${second}.csv` },
  { line: 'recompute flow' },
  {
    line: 'recompute chain',
    before: `UPDATE gex_captures SET methodology_version = '1', version = 'before', net_gex = 1`,
  },
  { line: `seal --session ${first}` },
  { line: `ingest stock-trades stock-trades-${first}.csv --force`, code: 1 },
  { line: `seal --session ${second} --symbols SPY,NVDA` },
  { line: `seal --session ${second} --symbols SPY --undo` },
  { line: 'seal --list' },
  { line: `quotes drop --before ${second}` },
  { line: 'account set acme --api-tier pro --site-tier basic' },
  { line: 'account list' },
  { line: 'capture chains --once --symbols NVDA=_NVDA,TSLA --url URL', code: 1 },
  { line: 'follow --source tape --solve-most 2', input: () => files.liveTape, isLive: true },
];

const readers = [
  'export symbols',
  'export roots',
  'export splits',
  'export dividends',
  'export rates',
  ...['1m', '5m', '1h', '1d'].map((timeframe) => `export stock-bars --symbol SPY --timeframe ${timeframe}`),
  'export option-bars --symbol SPY --format arrow',
  'export chain --symbol SPY --format ndjson',
  'export gex --symbol SPX --format arrow',
];

async function run(store: TestStore, { line, input = () => '' }: Command, url = ''): Promise<Ran> {
  const args = line
    .split(' ')
    .map((word) => (/\.csv$/.test(word) ? files.path(word) : word === 'URL' ? `${url}{symbol}` : word));
  const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
  return tapegraph([...args, ...(/^export/.test(line) ? [] : ['--json'])], env, {
    now: () => filesOverMs,
    input: input(),
  });
}

const onBoth = async <T>(work: (store: TestStore) => Promise<T>): Promise<Both<T>> => {
  const [single, spread] = await Promise.all([stores.single, stores.spread].map(work));
  return { single: single!, spread: spread! };
};
/** Output of a command, without times and the number of commits. */
const said = ({ code, stdout, stderr }: Ran) => ({
  code,
  stdout: stdout.replace(/"commits":\d+/, ''),
  stderr: stderr.replaceAll(/"time":"[^"]+"/g, ''),
});

// Each commit of a follower gives its events and snapshots the next numbers, and stores its lines.
const byTheClock = { flow_feed: ['place'], cross_sections: ['seq'], followed_lines: ['payload', 'through_line'] };

describe('every command writes to a distributed store what it writes to the embedded one', () => {
  test('the first of other data in place of a sample market', async () => {
    await loadSample();
    expect((await expectSameRows(stores)).flow_events).toBeGreaterThan(0);
    const { spread } = await onBoth((store) => run(store, { line: 'ingest splits splits.csv' }));
    expect(spread).toMatchObject({ code: 0, stdout: expect.stringContaining('the sample market is deleted') });
    await expectSameRows(stores);
    expect(await storeOrigin(stores.spread)).toBe('own');
    expect(Object.keys(await marketRows(stores.spread.pool))).toEqual(['splits', 'generations']);
  }, 120_000);

  test.each(writers)(
    '$line',
    async (command) => {
      const { before, code = 0, isLive = false } = command;
      if (before) await onBoth((store) => store.pool.query(before));
      const server = await chainServer();
      server.serve('_NVDA', tagged(files.chainJson, '"1"'));
      const { single, spread } = await onBoth((store) => run(store, command, server.url('')));
      expect(single, single.stderr).toMatchObject({ code });
      expect(said(spread)).toEqual(said(single));
      await expectSameRows(stores, isLive ? byTheClock : {});
    },
    120_000,
  );

  test('and no table for which there is a command is empty', async () => {
    const counts = await expectSameRows(stores, byTheClock);
    // Replaced rows of every kind have a test of their own.
    const empty = Object.keys(counts).filter((table) => counts[table] === 0 && !table.startsWith('superseded_'));
    expect(empty).toEqual([
      'api_keys',
      'journal_accounts',
      'journal_imports',
      'journal_sizes',
      'journal_trades',
      'saved_screens',
      'stream_tickets',
      'usage_counts',
      'watchlists',
    ]);
  });

  test.each(readers)('%s', async (line) => {
    const { single, spread } = await onBoth((store) => run(store, { line }));
    expect(single).toMatchObject({ code: 0, stderr: '' });
    expect(single.stdout.length).toBeGreaterThan(100);
    expect(spread).toEqual(single);
  });
});

describe('and is answered byte for byte the same', () => {
  let apps: Both<TestApp>;
  beforeAll(async () => {
    const opened = async ({ databaseUrl }: TestStore) =>
      testApp({
        nowMs: exchangeInstant(live, 720),
        store: { ...(await openStore({ databaseUrl, dataDir: '' })), databaseUrl },
        symbols: [],
      });
    apps = { single: await opened(stores.single), spread: await opened(stores.spread) };
  });
  afterAll(() => Promise.all([apps?.single.close(), apps?.spread.close()]));

  const known = knownRoutes();
  test.each(known.filter(({ route }) => route.method === 'GET'))('to $name, in every media type', (one) =>
    expectSameAnswers(apps, one),
  );
  test.each(known)('to the operation of the graph that is $name', (one) =>
    expectSameGraph(apps, one, ['SPY', 'SPX', 'NVDA']),
  );
});
