import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { volatilityDaysOf } from '../../../../src/store/chain/volatility-days.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const now = () => Date.parse('2026-11-20T17:00Z');
const header = 'symbol,date,iv30';

test('volatilities by session are stored one a day, read from a date on, and exported as they came', async () => {
  const store = await storeForThisTest();
  const ingest = async (...lines: string[]) => {
    const path = join(folder(), 'volatility-days.csv');
    writeFileSync(path, `${[header, ...lines].join('\n')}\n`);
    return (await ingestFiles(store, 'volatility-days', [path], { now })).files[0]!;
  };
  const first = await ingest('SPY,2026-11-18,0.15', 'SPY,2026-11-17,0.16', 'BRK/B,2026-11-18,0.2');
  expect(first).toMatchObject({ rows: 3, changed: 3, badLines: [] });
  expect((await ingest('SPY,2026-11-18,0.151')).changed).toBe(1);
  const found = await volatilityDaysOf(store, ['SPY', 'BRK.B', 'AAPL'], '2026-11-18');
  expect([...found]).toEqual([
    ['SPY', [{ symbol: 'SPY', date: '2026-11-18', iv30: 0.151 }]],
    ['BRK.B', [{ symbol: 'BRK.B', date: '2026-11-18', iv30: 0.2 }]],
  ]);
  const bad = await ingest('SPY,2026-11-15,0.15', 'SPY,2026-11-16,0', 'SPY,2026-11-17,11', 'SPY,2026-11-18,x');
  expect(bad.badLines.map(({ reason }) => reason.replace(/:.*/, ''))).toEqual(['date', 'iv30', 'iv30', 'iv30']);
  expect(bad.changed).toBe(0);
  const { stdout } = await tapegraph(['export', 'volatility-days', '--symbol', 'SPY'], {
    DATABASE_URL: store.databaseUrl,
  });
  expect(stdout.trim().split('\n')).toEqual([header, 'SPY,2026-11-17,0.16', 'SPY,2026-11-18,0.151']);
});
