import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Bar, toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { saveOptionBars } from '../../../src/store/chain/option-bars.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { chainCapture, chainRow, gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { start, tapegraph } from '../command-line.ts';

const startMs = Date.parse('2026-11-18T14:30:00Z');
const bars: Bar[] = [0, 1, 2].map((minute) => ({
  tsMs: startMs + minute * 60_000,
  open: 100.25,
  high: 101,
  low: 100,
  close: 100.5 + minute,
  volume: 1000 + minute,
  vwap: minute === 1 ? null : 100.4,
  tradeCount: minute === 1 ? null : 12,
}));

let store: TestStore;
let env: Record<string, string>;
beforeAll(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl };
  await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(bars) }]));
});
afterAll(() => store.close());

const header = 'symbol,timeframe,ts_ms,open,high,low,close,volume,vwap,trade_count';

describe('export stock-bars', () => {
  it('writes CSV with the names of the API, unknown values empty', async () => {
    const { code, stdout, stderr } = await tapegraph(['export', 'stock-bars', '--symbol', 'spy'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `${header}\nSPY,1m,${startMs},100.25,101,100,100.5,1000,100.4,12\nSPY,1m,${startMs + 60_000},100.25,101,100,101.5,1001,,\n` +
        `SPY,1m,${startMs + 120_000},100.25,101,100,102.5,1002,100.4,12\n`,
    );
  });

  it('writes an Arrow stream with typed columns, unknown values null', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'export-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'spy.arrows');
    const args = ['export', 'stock-bars', '--symbol', 'SPY', '--format', 'arrow', '--output', file];
    expect((await tapegraph(args, env)).code).toBe(0);
    const table = tableFromIPC(readFileSync(file));
    expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(
      expect.arrayContaining(['symbol Utf8', 'ts_ms Int64', 'vwap Float64', 'trade_count Int64']),
    );
    expect(table.toArray().map((row) => [row.ts_ms, row.close, row.vwap, row.trade_count])).toEqual([
      [BigInt(startMs), 100.5, 100.4, 12n],
      [BigInt(startMs + 60_000), 101.5, null, null],
      [BigInt(startMs + 120_000), 102.5, 100.4, 12n],
    ]);
  });

  it('writes a Parquet file with typed columns, unknown values null', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'export-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'spy.parquet');
    const args = ['export', 'stock-bars', '--symbol', 'SPY', '--format', 'parquet', '--output', file];
    expect((await tapegraph(args, env)).code).toBe(0);
    const bytes = Uint8Array.from(readFileSync(file)).buffer;
    const rows = await parquetReadObjects({ file: bytes, compressors });
    expect(rows.map((row) => [row.ts_ms, row.close, row.vwap, row.trade_count])).toEqual([
      [BigInt(startMs), 100.5, 100.4, 12n],
      [BigInt(startMs + 60_000), 101.5, null, null],
      [BigInt(startMs + 120_000), 102.5, 100.4, 12n],
    ]);
  });

  it('writes NDJSON, unknown values null, in a half-open range of New York times', async () => {
    const range = ['--from', '2026-11-18T09:31', '--to', '2026-11-18T14:32:00Z'];
    const { stdout } = await tapegraph(
      ['export', 'stock-bars', '--symbol', 'SPY', '--format', 'ndjson', ...range],
      env,
    );
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toEqual([
      {
        symbol: 'SPY',
        timeframe: '1m',
        ts_ms: startMs + 60_000,
        open: 100.25,
        high: 101,
        low: 100,
        close: 101.5,
        volume: 1001,
        vwap: null,
        trade_count: null,
      },
    ]);
  });

  it('is named as ingest names it too, its length then being the name’s', async () => {
    const minutes = await tapegraph(['export', 'stock-minute-bars', '--symbol', 'SPY'], env);
    expect(minutes).toEqual(await tapegraph(['export', 'stock-bars', '--symbol', 'SPY'], env));
    expect((await tapegraph(['export', 'stock-day-bars', '--symbol', 'SPY'], env)).stdout).toBe(`${header}\n`);
    const other = await tapegraph(['export', 'stock-day-bars', '--symbol', 'SPY', '--timeframe', '1m'], env);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('1d')]);
  });

  it('writes the header alone when there is nothing', async () => {
    expect(await tapegraph(['export', 'stock-bars', '--symbol', 'QQQ'], env)).toMatchObject({
      code: 0,
      stdout: `${header}\n`,
    });
  });

  it('writes a file and reports on it with --json', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'export-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'spy.csv');
    const { code, stdout } = await tapegraph(
      ['export', 'stock-bars', '--symbol', 'SPY', '--output', file, '--json'],
      env,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ dataset: 'stock-bars', symbol: 'SPY', format: 'csv', rows: 3, file });
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(5);
    expect(existsSync(`${file}.partial`)).toBe(false);
  });
});

it('export gex writes a row a strike and expiry of every capture in the range, oldest first', async () => {
  const [first, second] = [newYork('2026-11-18', '09:35'), newYork('2026-11-18', '09:40')];
  const rows = [
    { strike: 590_000, expiry: '2026-11-18', gex: -5.5 },
    { strike: 600_000, expiry: '2026-11-20', gex: 7, deltaAdj: null },
  ];
  await saveCaptures(store, { gex: [gexCapture('QQQ', second, rows), gexCapture('QQQ', first, rows)] });
  const { stdout } = await tapegraph(['export', 'gex', '--symbol', 'QQQ', '--to', '2026-11-18T09:40'], env);
  expect(stdout.split('\n')).toEqual([
    'symbol,captured_at,session_date,spot,prior_close_spot,strike,expiry,gex,delta_adj,call_oi,put_oi,gex_0dte,implied_spot,spot_stale,delay_ms,methodology_version',
    `QQQ,${first},2026-11-18,600.5,598.25,590000,2026-11-18,-5.5,-2.75,10,,-5.5,600.5,false,,3`,
    `QQQ,${first},2026-11-18,600.5,598.25,600000,2026-11-20,7,,10,,,600.5,false,,3`,
    '',
  ]);
  const both = await tapegraph(['export', 'gex', '--symbol', 'QQQ', '--format', 'ndjson'], env);
  const times = both.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).captured_at);
  expect(times).toEqual([first, first, second, second]);
});

it('export option-bars writes the bars of every contract, by session, then contract', async () => {
  const runs = ['O:QQQ261120P00600000', 'O:QQQ261120C00600000'].flatMap((contract) =>
    ['2026-11-18', '2026-11-19'].map((sessionDate) => {
      const bar = { ...bars[0]!, tsMs: newYork(sessionDate, '09:31'), volume: contract.includes('C') ? 1 : 2 };
      return { underlying: 'QQQ', contract, sessionDate, bars: toBarColumns([bar]) };
    }),
  );
  await inTransaction(store, (tx) => saveOptionBars(tx, 'observed_live', runs));
  const { stdout } = await tapegraph(['export', 'option-bars', '--symbol', 'QQQ', '--to', '2026-11-19T09:32'], env);
  const cells = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  expect(cells.map((row) => [row[1], row[3], row[8]])).toEqual([
    ['contract', 'ts_ms', 'volume'],
    ['O:QQQ261120C00600000', String(newYork('2026-11-18', '09:31')), '1'],
    ['O:QQQ261120P00600000', String(newYork('2026-11-18', '09:31')), '2'],
    ['O:QQQ261120C00600000', String(newYork('2026-11-19', '09:31')), '1'],
    ['O:QQQ261120P00600000', String(newYork('2026-11-19', '09:31')), '2'],
  ]);
});

it('export chain writes a row a contract', async () => {
  const capturedAt = newYork('2026-11-18', '09:35');
  await saveCaptures(store, {
    chains: [
      chainCapture('QQQ', capturedAt, [
        chainRow({ root: 'QQQ', expiry: '2026-11-20', right: 'put', strike: 600_000, bid: 1.25 }),
      ]),
    ],
  });
  const { stdout } = await tapegraph(['export', 'chain', '--symbol', 'QQQ', '--format', 'ndjson'], env);
  expect(JSON.parse(stdout)).toMatchObject({
    symbol: 'QQQ',
    captured_at: capturedAt,
    strike: 600_000,
    bid: 1.25,
    ask: null,
  });
  expect(JSON.parse(stdout).contract).toBe('O:QQQ261120P00600000');
});

it('export symbols gives back what ingest reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'export-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'symbols.csv');
  const list =
    'symbol,name,class,window_days,tenor_frame,min_tier,requires_attestation,sector,listed,instrument_type\n' +
    'BRK.B,"Berkshire ""Hathaway"", B",equity,60,weekly,free,false,Finance,true,common_equity\n' +
    'SPX,S&P 500,index,30,daily,pro,true,,true,index\n';
  writeFileSync(file, list);
  expect(await tapegraph(['ingest', 'symbols', file], env)).toMatchObject({ code: 0 });
  expect((await tapegraph(['export', 'symbols'], env)).stdout).toBe(list);
  const one = await tapegraph(['export', 'symbols', '--symbol', 'SPX', '--format', 'ndjson'], env);
  expect(JSON.parse(one.stdout)).toMatchObject({
    symbol: 'SPX',
    window_days: 30,
    requires_attestation: true,
    sector: null,
  });
});

it.each([
  ['an unknown dataset', ['export', 'stock-brs', '--symbol', 'SPY'], 'stock-bars'],
  ['no symbol', ['export', 'stock-bars'], '--symbol'],
  ['a symbol that is no ticker', ['export', 'stock-bars', '--symbol', 'not a ticker'], 'ticker'],
  [
    'a bar length that options do not have',
    ['export', 'option-bars', '--symbol', 'SPY', '--timeframe', '1h'],
    '1m or 5m',
  ],
  ['no time', ['export', 'stock-bars', '--symbol', 'SPY', '--from', 'yesterday'], '2026-11-20T14:30:00Z'],
  ['an unknown format', ['export', 'stock-bars', '--symbol', 'SPY', '--format', 'xml'], 'csv, ndjson, arrow, parquet'],
  ['--json without a file for the rows', ['export', 'stock-bars', '--symbol', 'SPY', '--json'], '--output'],
])('export leaves with 2 for %s and says what was expected', async (_, args, expected) => {
  const { code, stderr } = await tapegraph(args, env);
  expect(code).toBe(2);
  expect(stderr).toContain(expected);
});

it('export ends well when its reader has seen enough', async () => {
  const { child, ended } = start(['export', 'stock-bars', '--symbol', 'SPY'], env);
  child.stdout?.destroy();
  expect(await ended).toEqual({ code: 0, stdout: '', stderr: '' });
});
