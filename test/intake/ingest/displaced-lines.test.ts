import { expect, test } from 'vitest';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { storeForThisTest } from '../../support/store.ts';
import { vendorFile } from '../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const nowMs = exchangeInstant('2025-01-03', 17 * 60);
const ns = (ms: number) => `${ms}000000`;
const at = exchangeInstant('2024-12-03', 600);

/** Lines of which two displace earlier ones and one repeats another; the note of those displaced. */
const files: readonly [Dataset, string[], string][] = [
  [
    'symbols',
    ['symbol,name', 'SPY,Old', 'QQQ,Nasdaq', 'SPY,Older', 'QQQ,Nasdaq', 'SPY,S&P'],
    'with the same ticker: the last counts',
  ],
  [
    'open-interest',
    [
      'ticker,open_interest,session_date',
      ...['O:SPY270115C00600000,10', 'O:SPY270115P00600000,7', 'O:SPY270115C00600000,11'],
      ...['O:SPY270115P00600000,7', 'O:SPY270115C00600000,12'],
    ].map((line, i) => (i === 0 ? line : `${line},2024-12-03`)),
    'with the same contract: the last counts',
  ],
  [
    'option-quotes',
    [
      'ticker,ask_price,bid_price,sequence_number,sip_timestamp',
      ...[1.3, 1.31, 1.32].map((ask, i) => `O:SPY250117C00600000,${ask},1.2,${i},${ns(at)}`),
      ...[1, 2].map((sequence) => `O:SPY250117P00600000,1.3,1.2,${sequence},${ns(at)}`),
      `O:SPY250117P00600000,1.3,1.2,3,${ns(at + 1)}`,
    ],
    'of the same contract and nanosecond: the last is in force',
  ],
];

test.each(files)('%s: lines that others of the file displace are counted, and those that repeat', async (...each) => {
  const [dataset, lines, what] = each;
  const store = await storeForThisTest();
  const ingest = async (name: string, some: readonly string[]) => {
    const { files: reports } = await ingestFiles(store, dataset, [vendorFile(folder(), name, some)], {
      now: () => nowMs,
    });
    return reports[0]!;
  };
  const report = await ingest('all.csv', lines);
  expect(report).toMatchObject({ status: 'stored', badLineCount: 0 });
  expect(report.notes).toEqual(
    expect.arrayContaining([
      '1 lines repeat others of the file and count once',
      `2 lines are displaced by others of the file ${what}`,
    ]),
  );
  // Another file displaces no line of its own.
  const { notes } = await ingest('other.csv', [lines[0]!, lines.at(-1)!]);
  expect(notes.join()).not.toMatch(/displaced|repeat/);
});
