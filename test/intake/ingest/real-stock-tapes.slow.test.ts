import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';

const sessions = ['2013-10-07', '2013-10-08', '2013-10-09', '2013-10-10', '2013-10-11'];

/** Shares of a file added up line by line, by nothing of the project: all of them, and those of exchange 4. */
function volumes(symbol: string, session: string) {
  const text = gunzipSync(readFileSync(sharedData(`stocks_trades/${symbol}/${session}.csv.gz`))).toString();
  const [header, ...lines] = text.trim().split('\n');
  const columns = header!.split(',');
  let all = 0;
  let off = 0;
  const minutes = new Map<number, number>();
  for (const line of lines) {
    // Only the list of conditions is quoted.
    const fields = line.replace(/"([^"]*)"/, (_, list: string) => list.replaceAll(',', ' ')).split(',');
    const field = (name: string) => fields[columns.indexOf(name)]!;
    const size = Number(field('size'));
    all += size;
    if (field('exchange') === '4') off += size;
    const minute = Math.floor(Number(field('sip_timestamp').slice(0, -6)) / 60_000) * 60_000;
    minutes.set(minute, (minutes.get(minute) ?? 0) + size);
  }
  return { all, off, minutes };
}

describe.skipIf(!hasSharedData)('real stock tapes, BAC and IBM in the week of 2013-10-07', () => {
  let app: TestApp;
  const read = async (symbol: string, table: string) =>
    (await app.get(`/v2/offexchange/${symbol}/${table}?from=${sessions[0]}&to=${sessions[4]}&limit=5000`)).body.data;
  beforeAll(async () => {
    app = await testApp();
    for (const symbol of ['BAC', 'IBM']) {
      const pattern = sharedData(`stocks_trades/${symbol}/*.csv.gz`);
      const { files } = await ingestFiles(app.store, 'stock-trades', [pattern], { now: () => app.clock.nowMs });
      expect(files).toHaveLength(5);
      for (const report of files) expect(report).toMatchObject({ status: 'stored', badLineCount: 0 });
    }
  });
  afterAll(() => app.close());

  test.each(['BAC', 'IBM'])('%s: the off-exchange share is that of the file added up line by line', async (symbol) => {
    const activity = await read(symbol, 'activity');
    expect(activity.map((row: Json) => row.date)).toEqual(sessions);
    for (const row of activity) {
      const { all, off } = volumes(symbol, row.date);
      // Some lines are official prices, which are no executions.
      expect(row.off_exch_pct).toBeCloseTo(off / all, 2);
      expect(row.off_exch_volume).toBe(off);
      expect(row.off_exch_pct).toBeGreaterThan(0.2);
      expect(row.off_exch_pct).toBeLessThan(0.45);
    }
  });

  test('BAC on 2013-10-10: 0.375 of volume was executed off exchange', async () => {
    const { all, off } = volumes('BAC', '2013-10-10');
    expect(off / all).toBeCloseTo(0.375, 3);
    expect((await read('BAC', 'activity'))[3].off_exch_pct).toBeCloseTo(0.375, 3);
  });

  test.each(['BAC', 'IBM'])('%s: the composition of every session adds up to its activity', async (symbol) => {
    const composition = await read(symbol, 'composition');
    for (const activity of await read(symbol, 'activity')) {
      const rows = composition.filter((row: Json) => row.date === activity.date);
      const sum = (name: string) => rows.reduce((total: number, row: Json) => total + row[name], 0);
      expect(sum('volume')).toBe(activity.off_exch_volume);
      expect(sum('trade_count')).toBe(activity.trade_count);
      expect(sum('notional')).toBeCloseTo(activity.notional, 2);
      expect(sum('share_of_off_exch_notional')).toBeCloseTo(1, 9);
      expect(Math.min(...rows.map((row: Json) => row.trade_count))).toBeGreaterThanOrEqual(3);
    }
  });

  test('concentration and profile stay within the disclosure rules, the scores within a hundred', async () => {
    for (const symbol of ['BAC', 'IBM']) {
      const rows = (await read(symbol, 'concentration')).filter((row: Json) => row.date === sessions[4]);
      expect(rows.map((row: Json) => row.rank)).toEqual(rows.map((_: Json, i: number) => i + 1));
      expect(Math.min(...rows.map((row: Json) => row.distinct_sessions))).toBeGreaterThanOrEqual(2);
      expect(rows.reduce((sum: number, row: Json) => sum + row.rank_score, 0)).toBeLessThan(100);
      const levels = await read(symbol, 'profile');
      expect(Math.min(...levels.map((row: Json) => row.trade_count))).toBeGreaterThanOrEqual(3);
    }
  });

  test('minutes with a price hold the volume of the file, but for official prices; days close as the exchange said', async () => {
    const from = exchangeInstant('2013-10-10', 570);
    const { body } = await app.get(
      `/v2/stocks/BAC/bars?timeframe=1m&from=${from}&to=${from + 390 * 60_000}&limit=1000`,
    );
    expect(body.data).toHaveLength(390);
    const { minutes } = volumes('BAC', '2013-10-10');
    const differing = body.data.filter((bar: Json) => bar.volume !== minutes.get(bar.ts_ms));
    expect(differing.length).toBeLessThanOrEqual(2);
    const closes = async (symbol: string) =>
      (await app.get(`/v2/stocks/${symbol}/bars?timeframe=1d&from=2013-10-07&to=2013-10-12`)).body.data.map(
        (bar: Json) => bar.close,
      );
    expect(await closes('BAC')).toEqual([13.81, 13.69, 13.84, 14.23, 14.19]);
    expect(await closes('IBM')).toEqual([182.01, 178.72, 181.32, 184.77, 186.16]);
  });
});
