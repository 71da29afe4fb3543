// A file of bars or quotes says what it changes of each session, and takes nothing of what is stored away.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { barColumns, toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { changeLine, leftLine } from '../../../src/intake/ingest/files/tape-report.ts';
import { type IngestOptions, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { lockOptionBars, type OptionBarRun, saveLiveOptionBars } from '../../../src/store/chain/option-bars.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [monday, tuesday] = ['2026-11-16', '2026-11-17'];
const now = () => exchangeInstant('2026-11-18', 720);
const [call, put] = ['O:SPY261218C00600000', 'O:SPY261218P00580000'];
const open = 570;

const folder = temporaryFolder();
let files = 0;
function file(header: string, lines: readonly string[]): string {
  const path = join(folder(), `${++files}.csv`);
  writeFileSync(path, [header, ...lines].join('\n'));
  return path;
}

const bars = (ticker: string, date: string, from: number, to: number, close = 5) =>
  Array.from(
    { length: to - from },
    (_, i) => `${ticker},10,5,${close},9,1,${exchangeInstant(date, open + from + i)}000000,1`,
  );
const barFile = (lines: readonly string[]) =>
  file('ticker,volume,open,close,high,low,window_start,transactions', lines);
const days = (ticker: string, dates: readonly string[], close = 5) =>
  dates.map((date) => `${ticker},10,5,${close},9,1,${exchangeInstant(date)}000000,1`);
const quotes = (ticker: string, from: number, to: number, bid = 4) =>
  Array.from(
    { length: to - from },
    (_, i) => `${ticker},302,5,10,302,${bid + (i % 2) / 10},10,${i},${exchangeInstant(monday, open + from + i)}000000`,
  );
const quoteFile = (lines: readonly string[]) =>
  file('ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp', lines);

let store: TestStore;
beforeEach(async () => {
  store = await storeForThisTest();
});
const ingest = async (
  dataset: 'stock-minute-bars' | 'stock-day-bars' | 'option-minute-bars' | 'option-quotes',
  paths: readonly string[],
  options: Partial<IngestOptions> = {},
) => (await ingestFiles(store, dataset, paths, { now, ...options })).files;
/** Numbers of what is stored, by contract. */
const counts = async (table: string) => {
  const { rows } = await store.pool.query(`SELECT contract, sum(count)::int AS n FROM ${table} GROUP BY 1 ORDER BY 1`);
  return Object.fromEntries(rows.map(({ contract, n }) => [contract, n]));
};

describe('the report on a file of stock bars', () => {
  test('says how many minute bars each changed session had and has', async () => {
    const [first] = await ingest('stock-minute-bars', [
      barFile([...bars('QQQ', monday, 0, 3), ...bars('SPY', monday, 0, 5), ...bars('SPY', tuesday, 0, 2)]),
    ]);
    expect(first!.sessions.map(changeLine)).toEqual([
      `${monday}: 0 → 8 bars of 2 symbols`,
      `${tuesday}: 0 → 2 bars of 1 symbol`,
    ]);
    const [second] = await ingest('stock-minute-bars', [
      barFile([...bars('QQQ', monday, 0, 3), ...bars('SPY', monday, 3, 7), ...bars('SPY', tuesday, 1, 2)]),
    ]);
    // Bars that are stored already are no change, and those that the file lacks stay.
    expect(second!.sessions).toEqual([{ session: monday, unit: 'bars', symbols: 1, before: 5, after: 7 }]);
    const [third] = await ingest('stock-minute-bars', [barFile(bars('SPY', tuesday, 1, 2, 6))]);
    expect(third!.sessions).toEqual([{ session: tuesday, unit: 'bars', symbols: 1, before: 2, after: 2 }]);
  });

  test('says so of day bars', async () => {
    await ingest('stock-day-bars', [barFile(days('SPY', ['2026-11-13', monday]))]);
    const [report] = await ingest('stock-day-bars', [
      barFile([...days('QQQ', [tuesday]), ...days('SPY', ['2026-11-13']), ...days('SPY', [monday, tuesday], 6)]),
    ]);
    expect(report!.sessions).toEqual([
      { session: monday, unit: 'bars', symbols: 1, before: 1, after: 1 },
      { session: tuesday, unit: 'bars', symbols: 2, before: 0, after: 2 },
    ]);
  });
});

describe('a file of option minute bars', () => {
  const live = (contract: string, length: number) =>
    inTransaction(store, async (tx) => {
      await lockOptionBars(tx);
      const fromMs = exchangeInstant(monday, open);
      const bar = { open: 5, high: 9, low: 1, close: 4, volume: 10, vwap: null, tradeCount: 1 };
      const columns = toBarColumns(Array.from({ length }, (_, i) => ({ ...bar, tsMs: fromMs + i * 60_000 })));
      const run: OptionBarRun = { underlying: 'SPY', sessionDate: monday, contract, bars: columns };
      await saveLiveOptionBars(tx, [{ ...run, fromMs, rest: barColumns(0) }]);
    });

  test('leaves live bars of a contract that it has fewer of, counts them, and names the command', async () => {
    await live(call, 20);
    await live(put, 4);
    const path = barFile([...bars(call, monday, 0, 19), ...bars(put, monday, 0, 6)]);
    const [report] = await ingest('option-minute-bars', [path]);
    expect(report).toMatchObject({
      status: 'stored',
      sessions: [{ session: monday, unit: 'bars', symbols: 1, before: 4, after: 6 }],
    });
    expect(report!.left.map(leftLine)).toEqual([
      `${monday}: 19 bars are here; stored with 20. Not changed: ingest option-minute-bars --replace ${path}`,
    ]);
    expect(await counts('option_bar_blocks')).toEqual({ [call]: 20, [put]: 6 });
    // The same file, as the command says.
    const [replaced] = await ingest('option-minute-bars', [path], { replace: true });
    expect(replaced).toMatchObject({ status: 'stored', left: [], sessions: [{ before: 20, after: 19 }] });
    expect(await counts('option_bar_blocks')).toEqual({ [call]: 19, [put]: 6 });
  });

  test('adds to the bars of another file', async () => {
    await ingest('option-minute-bars', [barFile(bars(call, monday, 0, 9))]);
    const [report] = await ingest('option-minute-bars', [barFile(bars(call, monday, 7, 12))]);
    expect(report!.sessions.map(changeLine)).toEqual([`${monday}: 9 → 12 bars of 1 symbol`]);
  });
});

describe('a file of option quotes', () => {
  test('does not replace a contract’s session by a part of it, and names the command that does', async () => {
    const whole = quoteFile([...quotes(call, 0, 30), ...quotes(put, 0, 4)]);
    const [first] = await ingest('option-quotes', [whole]);
    expect(first!.sessions).toEqual([{ session: monday, unit: 'quotes', symbols: 1, before: 0, after: 34 }]);
    const part = quoteFile([...quotes(call, 10, 20, 3), ...quotes(put, 0, 6)]);
    const [second] = await ingest('option-quotes', [part]);
    expect(second).toMatchObject({ status: 'stored', sessions: [{ before: 4, after: 6 }] });
    expect(second!.left).toEqual([
      {
        session: monday,
        unit: 'quotes',
        reason: 'fewer',
        count: 10,
        symbols: 1,
        stored: 30,
        missing: 20,
        storedFrom: [whole],
        command: `ingest option-quotes --replace ${part}`,
      },
    ]);
    expect(await counts('option_quote_blocks')).toEqual({ [call]: 30, [put]: 6 });
    // A second run reports again what is not stored.
    const [again] = await ingest('option-quotes', [part]);
    expect(again).toMatchObject({ status: 'refused', changed: 0, left: [{ count: 10, stored: 30 }] });
    const [replaced] = await ingest('option-quotes', [part], { replace: true });
    expect(replaced).toMatchObject({ status: 'stored', left: [], sessions: [{ before: 30, after: 10 }] });
    expect(await counts('option_quote_blocks')).toEqual({ [call]: 10, [put]: 6 });
  });

  test('without the quotes of an hour that is stored is joined with them', async () => {
    const [morning, afternoon] = [quoteFile(quotes(call, 0, 60)), quoteFile(quotes(call, 60, 390))];
    const reports = await ingest('option-quotes', [morning, afternoon]);
    expect(reports).toMatchObject([
      { status: 'stored', left: [], sessions: [{ before: 0, after: 60 }] },
      { status: 'stored', left: [], sessions: [{ before: 60, after: 390 }] },
    ]);
    expect(await counts('option_quote_blocks')).toEqual({ [call]: 390 });
    const [all] = await ingest('option-quotes', [quoteFile(quotes(call, 0, 390))]);
    expect(all).toMatchObject({ status: 'unchanged' });
  });
});
