// Vendors' day files name warrants and when-issued classes that the contract's tickers cannot name.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const now = () => exchangeInstant('2024-12-05', 600);
const folder = temporaryFolder();
const file = (lines: string[]) => {
  const path = join(folder(), 'file.csv');
  writeFileSync(path, lines.join('\n'));
  return path;
};
const directory = async (store: TestStore) => {
  const { rows } = await store.pool.query('SELECT DISTINCT symbol FROM bar_blocks ORDER BY 1');
  return rows.map(({ symbol }) => symbol);
};

const bars = 'ticker,volume,open,close,high,low,window_start,transactions';
const trades = 'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape';

describe('real tickers that no parameter can name', () => {
  test.each([
    ['stock-day-bars', bars, (ticker: string) => `${ticker},100,10,10.5,11,9,1733149800000000000,5`],
    ['stock-minute-bars', bars, (ticker: string) => `${ticker},100,10,10.5,11,9,1733149800000000000,5`],
    ['stock-trades', trades, (ticker: string) => `${ticker},,11,1,10,1,1733149800000000000,100,2`],
  ] as const)('are counted in a note of %s, and the others of the file are stored', async (dataset, header, line) => {
    const store = await storeForThisTest();
    const tickers = ['SPY', 'VST.WS.A', 'BAC/WS/A', 'BAC-WS-A', 'AAFpJ/CL', 'ABC.RTWI'];
    const { files } = await ingestFiles(store, dataset, [file([header, ...tickers.map(line)])], { now });
    expect(files[0]).toMatchObject({ status: 'stored', badLineCount: 0, rows: 1 });
    expect(files[0]!.notes).toContain(
      'not servable: 5 lines of 5 tickers with a suffix of another form: VST.WS.A, BAC/WS/A, BAC-WS-A, AAFpJ/CL, ABC.RTWI',
    );
    expect(await directory(store)).toEqual(['SPY']);
  });

  test.each(['spy', 'not a ticker', '600.5', 'BaC?', '', 'ABCDEFGH'])('%j is a bad line', async (ticker) => {
    const store = await storeForThisTest();
    const lines = [bars, `${ticker},100,10,10.5,11,9,1733149800000000000,5`];
    const { files } = await ingestFiles(store, 'stock-day-bars', [file(lines)], { now });
    expect(files[0]).toMatchObject({ status: 'refused', badLineCount: 1 });
  });

  test.skipIf(!hasSharedData)('do not refuse a day of a vendor’s suffixes (passed over without it)', async () => {
    const store = await storeForThisTest();
    const path = sharedData('ingest_inputs/tape-suffixes.csv');
    const { files } = await ingestFiles(store, 'stock-day-bars', [path], { now });
    expect(files[0]).toMatchObject({ status: 'stored', badLineCount: 0, rows: 6 });
    expect(files[0]!.notes[0]).toMatch(/^not servable: 4 lines of 4 tickers .*: AAB.WS.A, AAC.WS.B, AAFpJ\/CL, AAG/);
    expect(await directory(store)).toEqual(['AAD.U', 'AAE.RT', 'AAH.WI', 'BAC.PRL', 'BRK.B', 'SPY']);
  });
});
