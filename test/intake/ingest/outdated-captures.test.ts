// Later rates, dividends and terms of roots outdate stored captures: these are reported, and computed again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { recompute } from '../../../src/intake/ingest/recompute/recompute.ts';
import { saveSeals } from '../../../src/store/market/session-seals.ts';
import type { Store } from '../../../src/store/rows/connection.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { tapegraph } from '../../cli/command-line.ts';
import { modelColumns } from '../../support/model-columns.ts';
import { chainCapture, chainRow } from '../../support/option-market.ts';
import { filledStores, storeForThisTest, type TestStore } from '../../support/store.ts';
import { blackPrice } from '../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [monday, tuesday] = ['2026-11-16', '2026-11-17'];
const nowMs = exchangeInstant('2026-11-18', 720);
const now = () => nowMs;
const every = { symbol: null, from: null, to: null };
const usual = { rate: 0.045, now: Date.now };
const folder = temporaryFolder();
const [rates, dividends, roots] = [
  ['date,days,rate', '2026-11-17,30,0.01'],
  ['symbol,ex_date,amount', 'SPY,2026-12-11,1.9'],
  ['root,underlying,style,settlement,multiplier', 'IWM,IWM,american,pm,10'],
].map((lines) => `${lines.join('\n')}\n`);

/** A chain near the money, 600 dollars, that expires in December. */
function chainAt(symbol: string, tsMs: number) {
  const years = (exchangeInstant('2026-12-18', 960) - tsMs) / (365 * 86_400_000);
  const strikes = Array.from({ length: 9 }, (_, i) => 580 + 5 * i);
  const rows = strikes.flatMap((strike) =>
    (['C', 'P'] as const).map((letter) => {
      const contract = readOptionContract(`${symbol}261218${letter}00${strike}000`)!;
      const fair = blackPrice(contract.right, 600, strike, 0.2, years);
      return chainRow({ ...contract, openInterest: 100, bid: fair - 0.02, ask: fair + 0.02 });
    }),
  );
  return chainCapture(symbol, tsMs, rows, { spot: 600, priorCloseSpot: 600 });
}

async function capture(store: Store): Promise<void> {
  for (const symbol of ['IWM', 'SPY'])
    for (const session of [monday, tuesday])
      for (const minute of [600, 605])
        await inTransaction(store, (tx) =>
          storeChain(tx, chainAt(symbol, exchangeInstant(session, minute)), { gammaSource: 'solve', ...usual }),
        );
}

async function published(store: TestStore): Promise<unknown[]> {
  const chains = await store.pool.query(
    `SELECT ${modelColumns('chain_captures')} FROM chain_captures ORDER BY underlying, captured_at`,
  );
  const gex = await store.pool.query(
    `SELECT ${modelColumns('gex_captures')} FROM gex_captures ORDER BY underlying, captured_at`,
  );
  return [chains.rows, gex.rows];
}

async function ingest(store: TestStore, dataset: Dataset, text: string, ...options: string[]): Promise<string> {
  const path = join(folder(), `${dataset}.csv`);
  writeFileSync(path, text);
  const command = ['ingest', dataset, path, ...options];
  return (await tapegraph(command, { DATABASE_URL: store.databaseUrl }, { now })).stdout;
}

const recomputed = async (store: TestStore) =>
  (await recompute(store, 'chain', every, usual)).map(({ underlying, session, status }) => [
    underlying,
    session,
    status,
  ]);

const captured = filledStores(capture);
let store: TestStore;
beforeEach(async () => {
  store = await captured();
}, 120_000);
afterEach(() => store.close());

/** The store in which the data sets were there before the captures. */
async function known(...files: [Dataset, string][]): Promise<unknown[]> {
  const other = await storeForThisTest();
  for (const [dataset, text] of files) await ingest(other, dataset, text);
  await capture(other);
  return published(other);
}

test('captures that were computed with what is stored are not computed again', async () => {
  expect(await recomputed(store)).toEqual([]);
});

test('a curve that comes later is reported with the captures of its sessions, and they alone are computed again', async () => {
  const { files } = JSON.parse(await ingest(store, 'rates', rates!, '--json'));
  const of = { captures: 2, sealed: 0, from: tuesday, to: tuesday };
  expect(files[0]).toMatchObject({
    status: 'stored',
    outdated: [
      { symbol: 'IWM', ...of, command: 'tapegraph recompute chain --symbol IWM' },
      { symbol: 'SPY', ...of, command: 'tapegraph recompute chain --symbol SPY' },
    ],
  });
  expect(await recomputed(store)).toEqual([
    ['IWM', tuesday, 'recomputed'],
    ['SPY', tuesday, 'recomputed'],
  ]);
  expect(await published(store)).toEqual(await known(['rates', rates!]));
  expect(await recomputed(store)).toEqual([]);
}, 120_000);

test('dividends are reported with the captures of their symbol, for people too', async () => {
  expect(await ingest(store, 'dividends', dividends!)).toContain(
    `SPY: 4 captures of ${monday} to ${tuesday} were computed with other inputs: tapegraph recompute chain --symbol SPY`,
  );
  expect(await recomputed(store)).toEqual([
    ['SPY', monday, 'recomputed'],
    ['SPY', tuesday, 'recomputed'],
  ]);
  expect(await published(store)).toEqual(await known(['dividends', dividends!]));
}, 120_000);

test('terms of roots are reported with the captures that list them', async () => {
  expect(await ingest(store, 'roots', roots!)).toContain(
    `IWM: 4 captures of ${monday} to ${tuesday} were computed with other inputs`,
  );
  expect((await recomputed(store)).map(([symbol]) => symbol)).toEqual(['IWM', 'IWM']);
  expect(await published(store)).toEqual(await known(['roots', roots!]));
}, 120_000);

test('a row that says what was known already outdates nothing', async () => {
  const same = roots!.replace(',10', ',100');
  expect(JSON.parse(await ingest(store, 'roots', same, '--json')).files[0]).toMatchObject({
    changed: 1,
    outdated: [],
  });
  const gone = dividends!.replace('2026-12-11', '2026-11-16');
  expect(JSON.parse(await ingest(store, 'dividends', gone, '--json')).files[0]).toMatchObject({
    changed: 1,
    outdated: [],
  });
  expect(await recomputed(store)).toEqual([]);
});

test('captures of sealed sessions are counted, and stay', async () => {
  await inTransaction(store, (tx) => saveSeals(tx, monday, ['SPY'], nowMs));
  expect(await ingest(store, 'dividends', dividends!)).toContain(
    `SPY: 4 captures of ${monday} to ${tuesday}, 2 of them in sealed sessions, which stay, were computed with other inputs`,
  );
  expect(await recomputed(store)).toEqual([
    ['SPY', monday, 'refused'],
    ['SPY', tuesday, 'recomputed'],
  ]);
}, 120_000);

test('captures of which it is not known are computed again once', async () => {
  await store.pool.query(`UPDATE chain_captures SET reference_version = NULL WHERE underlying = 'SPY'`);
  expect(await recomputed(store)).toEqual([
    ['SPY', monday, 'recomputed'],
    ['SPY', tuesday, 'recomputed'],
  ]);
  expect(await recomputed(store)).toEqual([]);
}, 120_000);
