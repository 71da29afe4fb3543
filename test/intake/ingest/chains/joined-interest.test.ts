// A chain whose source does not know the open interest has that of the session's file, whichever comes first.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contractId } from '../../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../../src/intake/ingest/chains/chain.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { reproduce } from '../../../../src/intake/ingest/recompute/reproduce.ts';
import { chainCaptureOf } from '../../../../src/store/chain/chain-captures.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { chainCapture, chainRow } from '../../../support/option-market.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { worth } from '../../../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
const capturedAt = exchangeInstant(session, 600);
const now = () => exchangeInstant('2026-11-17', 600);
const settings = { gammaSource: 'solve', rate: 0.045 } as const;
const folder = temporaryFolder();

const rows = [5900, 5950, 6000, 6050, 6100].flatMap((strike, i) =>
  (['call', 'put'] as const).map((right) => {
    const contract = { root: 'SPXW', expiry: '2026-11-20', right, strike: strike * 1000 };
    const fair = worth(contract, 6000, capturedAt);
    // The source knows one of ten.
    const openInterest = i === 0 && right === 'call' ? 7 : null;
    return chainRow({ ...contract, openInterest, bid: fair - 0.02, ask: fair + 0.02 });
  }),
);
const chain = () => chainCapture('SPX', capturedAt, rows, { spot: 6000 });

async function everything(store: TestStore) {
  const read = async (table: 'chain_captures' | 'gex_captures') =>
    (await store.pool.query(`SELECT ${modelColumns(table)} FROM ${table} ORDER BY captured_at`)).rows;
  return { chains: await read('chain_captures'), gex: await read('gex_captures') };
}

async function storeInterest(store: TestStore, name: string, perContract: number) {
  const lines = rows.map((row) => `${contractId(row)},${perContract},${session}`);
  writeFileSync(join(folder(), name), ['ticker,open_interest,session_date', ...lines].join('\n'));
  const { files } = await ingestFiles(store, 'open-interest', [join(folder(), name)], { now });
  expect(files[0]).toMatchObject({ status: 'stored' });
  return files[0]!.notes;
}

const storeIt = (store: TestStore) => inTransaction(store, (tx) => storeChain(tx, chain(), settings));
const interestOf = async (store: TestStore) => {
  const stored = await inTransaction(store, (tx) => chainCaptureOf(tx, 'SPX', capturedAt));
  return stored!.rows.map(({ openInterest }) => openInterest);
};

test('a chain and its open interest give one GEX capture in either order, and a corrected file another', async () => {
  const [before, after] = [await storeForThisTest(), await storeForThisTest()];
  const alone = await storeIt(before);
  expect(alone.gex?.oiCoverage ?? null).toBe(1);
  expect((await everything(before)).gex[0].contract_count).toBe(1);
  expect(await storeInterest(before, 'oi.csv', 100)).toEqual(['the open interest of 1 stored chain is from this file']);
  await storeInterest(after, 'oi.csv', 100);
  await storeIt(after);
  const joined = await everything(before);
  expect(joined).toEqual(await everything(after));
  expect(joined.gex[0].contract_count).toBe(10);
  // A known figure of the source stays.
  expect(await interestOf(before)).toEqual([7, ...Array(9).fill(100)]);

  expect((await reproduce(before, { underlying: 'SPX', capturedAt }, 0.045)).status).toBe('equal');
  await before.pool.query(`UPDATE gex_captures SET methodology_version = '1', net_gex = 1, version = 'of 1'`);
  await recompute(before, 'chain', { symbol: null, from: null, to: null }, { now, rate: 0.045 });
  expect(await everything(before)).toEqual(joined);

  await storeInterest(before, 'corrected.csv', 50);
  expect(await interestOf(before)).toEqual([7, ...Array(9).fill(50)]);
});

test('a chain of which no open interest is known says so', async () => {
  const store = await storeForThisTest();
  const lines = ['5900', '6100'].map((strike) => `SPXW261120C0${strike}000`);
  const options = lines.map((option) => ({ option, bid: 10, ask: 10.2, iv: 0.2, delta: 0.5, gamma: 0.01 }));
  const data = { timestamp: '2026-11-16 15:00:00', symbol: '^SPX', data: { current_price: 6000, options } };
  writeFileSync(join(folder(), 'no-interest.json'), JSON.stringify(data));
  const { files } = await ingestFiles(store, 'chain', [join(folder(), 'no-interest.json')], { now });
  expect(files[0]!.notes).toEqual([
    'no GEX capture: the open interest is unknown; a file of open-interest of the session adds it',
  ]);
});
