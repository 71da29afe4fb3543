import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { tapegraph } from '../cli/command-line.ts';
import type { Json, TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';
import { newYork } from '../support/option-market.ts';
import { testStore } from '../support/store.ts';
import { generatedFolder, installPackages, runProgram } from './own-packages.ts';

let app: TestApp;
const folder = generatedFolder('parquet');

// The packages may have to be downloaded.
beforeAll(async () => {
  [app] = await Promise.all([filledApp(), installPackages()]);
}, 600_000);
afterAll(() => app.close());

const read = async (reader: 'duckdb' | 'polars', what: string): Promise<Json> =>
  JSON.parse(await runProgram('read-parquet.mjs', reader, what));

/** The answer to a request as a Parquet file. */
async function fileOf(path: string): Promise<string> {
  const { status, bytes } = await app.get(path, { headers: { accept: 'application/vnd.apache.parquet' } });
  expect(status).toBe(200);
  const file = join(folder, `${path.replaceAll(/\W+/g, '-')}.parquet`);
  writeFileSync(file, bytes);
  return file;
}

describe('DuckDB and Polars read an answer as Parquet: the rows of JSON, typed', () => {
  test('bars', { timeout: 120_000 }, async () => {
    const path = '/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01';
    const { data, meta } = (await app.get(path)).body;
    const file = await fileOf(path);
    expect(data.length).toBeGreaterThan(100);
    expect(await read('duckdb', `SELECT * FROM '${file}'`)).toEqual(data);
    const types = await read('duckdb', `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${file}')`);
    expect(Object.fromEntries(types.map((each: Json) => Object.values(each)))).toMatchObject({
      symbol: 'VARCHAR',
      ts_ms: 'BIGINT',
      open: 'DOUBLE',
      volume: 'BIGINT',
    });
    const stored = await read('duckdb', `SELECT decode(value) AS meta FROM parquet_kv_metadata('${file}')`);
    expect(JSON.parse(stored[0].meta)).toEqual(meta);
    const frame = await read('polars', file);
    expect(frame.rows).toEqual(data);
    expect(frame.columns).toMatchObject({ symbol: 'String', ts_ms: 'Int64', open: 'Float64', volume: 'Int64' });
  });

  test('rows within rows, with unknown values and lists', { timeout: 120_000 }, async () => {
    const path = '/v2/flow/large-trades?symbol=SPY';
    const legs = (await app.get(path)).body.data.events.flatMap((item: Json) => item.update.event.legs);
    const file = await fileOf(`${path}&table=legs`);
    const strikes = legs.map(({ contract }: Json) => contract.strike);
    expect(strikes.length).toBeGreaterThan(1);
    const byDuckDb = await read('duckdb', `SELECT "update.event.legs.contract.strike" AS strike FROM '${file}'`);
    expect(byDuckDb.map(({ strike }: Json) => strike)).toEqual(strikes);
    const { rows } = await read('polars', file);
    expect(rows.map((row: Json) => row['update.event.legs.contract.strike'])).toEqual(strikes);
  });

  test('no rows', { timeout: 120_000 }, async () => {
    const file = await fileOf('/v2/stocks/SPY/bars?from=2020-01-01&to=2020-01-02');
    expect(await read('duckdb', `SELECT * FROM '${file}'`)).toEqual([]);
    expect((await read('polars', file)).rows).toEqual([]);
  });
});

test('DuckDB reads a folder of exports as the documentation says', { timeout: 120_000 }, async () => {
  const store = await testStore();
  onTestFinished(() => store.close());
  const env = { DATABASE_URL: store.databaseUrl };
  const prices = { open: 1, low: 1, close: 1, volume: 1, vwap: null, tradeCount: null };
  const bars = ['2026-11-17', '2026-11-18', '2026-11-19'].flatMap((date, day) =>
    [0, 1].map((minute) => ({ tsMs: newYork(date, `09:3${minute}`), high: 100 + 10 * day + minute, ...prices })),
  );
  await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(bars) }]));
  const archive = join(folder, 'archive');
  expect((await tapegraph(['export', 'all', '--output', archive], env)).code).toBe(0);
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const sql = /```sql\n([^`]*stock-minute-bars[^`]*)```/.exec(text)![1]!.replace('/archive', archive);
  const rows = await read('duckdb', `SELECT date::VARCHAR AS date, symbol, bars, high FROM (${sql})`);
  expect(rows).toEqual([
    { date: '2026-11-18', symbol: 'SPY', bars: 2, high: 111 },
    { date: '2026-11-19', symbol: 'SPY', bars: 2, high: 121 },
  ]);
});
