import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { saveSeals } from '../../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const header =
  'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp';
const first = '2026-11-16';
const second = '2026-11-17';
/** One o'clock in the night after the second session, New York. */
const nowMs = exchangeInstant('2026-11-18', 60);

interface Trade {
  symbol?: string;
  date?: string;
  /** Seconds after 09:30. */
  at: number;
  price: number;
  size: number;
  /** 4 is off exchange. */
  exchange?: number;
  conditions?: number[];
  correction?: number;
  /** Its place in the list unless given. */
  id?: number;
}

function linesOf(trades: Trade[]): string[] {
  return trades.map(({ symbol = 'SPY', date = first, exchange = 11, conditions = [], correction = 0, ...trade }, i) => {
    const stamp = `${exchangeInstant(date, 570) + Math.round(trade.at * 1000)}000123`;
    const id = trade.id ?? i + 1;
    const quoted = conditions.length > 1 ? `"${conditions.join(',')}"` : conditions.join('');
    const trf = exchange === 4 ? 202 : '';
    return `${symbol},${quoted},${correction},${exchange},${id},${stamp},${trade.price},${id},${stamp},${trade.size},2,${trf},`;
  });
}

const off = (at: number, price: number, size: number, more: Partial<Trade> = {}): Trade => ({
  at,
  price,
  size,
  exchange: 4,
  ...more,
});
const repeated = (count: number, trade: (i: number) => Trade) => Array.from({ length: count }, (_, i) => trade(i));

/**
 * Nine regular, seven package, two average-price and one derivatively priced print off exchange, with as much again on
 * exchanges.
 */
const session = (date: string, price: number): Trade[] => [
  ...repeated(9, (i) => off(i, price, 100, { date })),
  ...repeated(7, (i) => off(60 + i, price + 1, 10, { date, conditions: [53] })),
  ...repeated(2, (i) => off(70 + i, price + 2, 5, { date, conditions: [2] })),
  off(80, price + 0.5, 50, { date, conditions: [10] }),
  { date, at: 0.25, price, size: 500 },
  { date, at: 90, price: price + 0.25, size: 530 },
  // The closing auction and the listing exchange's official close.
  { date, at: 23_400, price: price + 0.3, size: 10, conditions: [19] },
  { date, at: 23_401, price: price + 0.3, size: 10, conditions: [15] },
];

describe('a stock tape', () => {
  const folder = temporaryFolder();
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs });
  });
  afterAll(() => app.close());

  function file(name: string, trades: Trade[], extra: string[] = []): string {
    const path = join(folder(), name);
    const text = [header, ...linesOf(trades), ...extra].join('\n');
    writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
    return path;
  }
  const ingest = async (path: string, options: Partial<IngestOptions> = {}, on: Json = app) =>
    (await ingestFiles(on.store, 'stock-trades', [path], { now: () => nowMs, ...options })).files[0]!;
  const offExchange = async (table: string, on = app, symbol = 'SPY') =>
    (await on.get(`/v2/offexchange/${symbol}/${table}?from=${first}&to=${second}`)).body;
  const bars = async (timeframe: string, on = app, symbol = 'SPY') =>
    (await on.get(`/v2/stocks/${symbol}/bars?timeframe=${timeframe}&from=${first}&to=2026-11-18`)).body.data;
  /** Everything a stock tape stores, row for row; not when it was computed. */
  async function stored(on: TestApp): Promise<Json> {
    const all: Json = {};
    for (const table of ['bar_blocks', 'off_exchange_composition', 'off_exchange_concentration']) {
      all[table] = (await on.store.pool.query(`SELECT ${modelColumns(table)} FROM ${table} ORDER BY 1, 2, 3`)).rows;
    }
    for (const table of ['off_exchange_profile', 'off_exchange_sessions']) {
      const { rows } = await on.store.pool.query(`SELECT ${modelColumns(table)} FROM ${table} ORDER BY 1, 2, 3`);
      all[table] = rows.map(({ as_of_ms, ...row }) => row);
    }
    return all;
  }

  test('gives activity, and a composition that adds up to it with small kinds in other', async () => {
    const report = await ingest(file('first.csv.gz', session(first, 600)));
    expect(report).toMatchObject({ status: 'stored', rows: 23, badLineCount: 0 });
    const { data, meta } = await offExchange('activity');
    const notional = 9 * 60_000 + 7 * 6010 + 2 * 3010 + 600.5 * 50;
    expect(data).toEqual([
      {
        date: first,
        off_exch_volume: 1030,
        notional,
        trade_count: 19,
        avg_size: 1030 / 19,
        vwap: 600,
        off_exch_pct: 1030 / 2070,
        consolidated_volume: 2070,
        consolidated_notional: notional + 600 * 500 + 600.25 * 530 + 6003,
      },
    ]);
    expect(meta.as_of).toBe(nowMs);
    const composition = await offExchange('composition');
    expect(composition.data.map((row: Json) => [row.category, row.trade_count, row.volume, row.notional])).toEqual([
      ['other', 3, 60, 2 * 3010 + 600.5 * 50],
      ['package_price', 7, 70, 7 * 6010],
      ['regular_way', 9, 900, 540_000],
    ]);
    expect(composition.meta.suppressed_count).toBe(2);
  });

  test('gives bars of every length, whose day closes at the official close', async () => {
    expect(await bars('1d')).toMatchObject([
      { ts_ms: exchangeInstant(first), open: 600, high: 601 - 0.5, low: 600, close: 600.3, volume: 2070 },
    ]);
    const openMs = exchangeInstant(first, 570);
    expect(await bars('1m')).toMatchObject([
      { ts_ms: openMs, open: 600, close: 600, volume: 1400, trade_count: 10, vwap: 600 },
      { ts_ms: openMs + 60_000, open: 600.25, high: 600.5, close: 600.25, volume: 660 },
      { ts_ms: openMs + 390 * 60_000, close: 600.3, volume: 10 },
    ]);
    expect((await bars('1s')).map((bar: Json) => (bar.ts_ms - openMs) / 1000)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 90, 23_400,
    ]);
    for (const timeframe of ['5m', '1h'])
      expect((await bars(timeframe)).reduce((sum: number, bar: Json) => sum + bar.volume, 0)).toBe(2070);
  });

  test('leaves the store as it was when it comes again, packed or not', async () => {
    const before = await stored(app);
    expect(await ingest(join(folder(), 'first.csv.gz'))).toMatchObject({
      status: 'unchanged',
      reason: /stored before/,
    });
    expect(await ingest(file('first-unpacked.csv', session(first, 600)))).toMatchObject({
      status: 'unchanged',
      changed: 0,
    });
    expect(await stored(app)).toEqual(before);
  });

  test('concentrates over the sessions stored, whichever came first', async () => {
    expect((await offExchange('concentration')).data).toEqual([]);
    await ingest(file('second.csv', session(second, 600.2)));
    // The earlier answer is forgotten when the server is notified of the change.
    const rows = await vi.waitFor(async () => {
      const { data } = await offExchange('concentration');
      expect(data).not.toEqual([]);
      return data;
    }, 20_000);
    // 0.05 % of 600.2 is 0.30: buckets of 0.25, so that 600 and 600.2 share one.
    expect(rows).toEqual([
      {
        date: second,
        bucket_midpoint: 600.125,
        bucket_width: 0.25,
        volume: 1800,
        notional: 540_000 + 540_180,
        trade_count: 18,
        distinct_sessions: 2,
        rank_score: (100 * 2) / 20,
        rank: 1,
        bucket_count: 1,
        distance_bps: expect.closeTo((10_000 * (600.125 - 600.2)) / 600.2, 9),
        lookback_sessions: 20,
      },
    ]);
    const profile = (await offExchange('profile')).data;
    expect(profile.map((row: Json) => [row.date, row.price_thousandths, row.trade_count])).toEqual([
      [first, 600_000, 9],
      [second, 600_200, 9],
    ]);
    const other = await testApp({ nowMs });
    await ingest(join(folder(), 'second.csv'), {}, other);
    await ingest(join(folder(), 'first.csv.gz'), {}, other);
    expect((await offExchange('concentration', other)).data).toEqual(rows);
    expect(await stored(other)).toEqual(await stored(app));
    await other.close();
  });

  test('may hold two sessions and several symbols in any order of lines', async () => {
    const other = await testApp({ nowMs });
    const lines = [...linesOf(session(first, 600)), ...linesOf(session(second, 600.2))];
    const aapl = linesOf(session(first, 200).map((trade) => ({ ...trade, symbol: 'AAPL' })));
    const mixed = [...lines, ...aapl].map((line, i) => ({ line, key: (i * 37) % 101 })).sort((a, b) => a.key - b.key);
    const path = join(folder(), 'mixed.csv');
    writeFileSync(path, [header, ...mixed.map(({ line }) => line)].join('\n'));
    expect(await ingest(path, {}, other)).toMatchObject({ status: 'stored', rows: 69 });
    for (const table of ['activity', 'composition', 'concentration', 'profile'])
      expect((await offExchange(table, other)).data).toEqual((await offExchange(table)).data);
    expect(await bars('1s', other)).toEqual(await bars('1s'));
    expect((await bars('1d', other, 'AAPL'))[0]).toMatchObject({ close: 200.3, volume: 2070 });
    await other.close();
  });

  test('that was corrected takes the place of the whole session: what it no longer holds is gone', async () => {
    const other = await testApp({ nowMs });
    await ingest(join(folder(), 'second.csv'), {}, other);
    await ingest(join(folder(), 'first.csv.gz'), {}, other);
    const [keptTrade, gone] = [off(0, 600, 100), off(300, 610, 100)];
    await ingest(
      file(
        'long.csv',
        [keptTrade, keptTrade, keptTrade, gone].map((trade, i) => ({ ...trade, id: i + 1 })),
      ),
      { replace: true },
      other,
    );
    const short = file('short.csv', [off(0, 600, 100), off(0, 600, 100), off(1, 600, 100)]);
    await ingest(short, { replace: true }, other);
    expect((await bars('1m', other)).filter((bar: Json) => bar.ts_ms < exchangeInstant(second))).toMatchObject([
      { volume: 300, high: 600 },
    ]);
    // The session beside it stands, in blocks of its own and in those it shares: its hours and day.
    expect((await bars('1d', other)).map((bar: Json) => bar.volume)).toEqual([300, 2070]);
    expect((await bars('1h', other)).map((bar: Json) => bar.volume)).toEqual([300, 2060, 10]);
    expect((await offExchange('activity', other)).data[0]).toMatchObject({ trade_count: 3, off_exch_pct: 1 });
    // The later session's window has the corrected one in it: 9 of its own, and 3 in place of 9.
    expect((await offExchange('concentration', other)).data).toMatchObject([{ date: second, trade_count: 12 }]);
    await other.close();
  });

  test('has no concentration of an earlier version until it is recomputed, of a sealed session too', async () => {
    const other = await testApp({ nowMs });
    await ingest(file('one.csv', session(first, 600)), {}, other);
    await ingest(file('two.csv', session(second, 600)), {}, other);
    const made = await offExchange('concentration', other);
    expect(made.data.length).toBeGreaterThan(0);
    // As the upgrade leaves a store of an earlier version.
    await other.store.pool.query('DELETE FROM off_exchange_concentration');
    await other.store.pool.query('UPDATE off_exchange_sessions SET suppressed_buckets = NULL');
    await inTransaction(other.store, (tx) => saveSeals(tx, second, ['SPY'], nowMs));
    const missing = await offExchange('concentration', other);
    expect([missing.data, missing.meta.note]).toEqual([[], expect.stringContaining('recompute off-exchange')]);
    const every = { symbol: null, from: null, to: null };
    const report = await recompute(other.store, 'off-exchange', every, { now: () => nowMs, rate: 0.04 });
    expect(report).toMatchObject([
      { underlying: 'SPY', session: first, status: 'recomputed' },
      { underlying: 'SPY', session: second, status: 'recomputed' },
    ]);
    expect((await offExchange('concentration', other)).data).toEqual(made.data);
    expect(await recompute(other.store, 'off-exchange', every, { now: () => nowMs, rate: 0.04 })).toEqual([]);
    await other.close();
  });

  test('counts a print once, leaves out what the tape took back, and takes a correction for the print', async () => {
    const other = await testApp({ nowMs });
    const trades = [
      ...repeated(3, (i) => off(i, 50, 100, { id: i + 1 })),
      // The same print again, one that was cancelled later, and one that was corrected: its record holds what is right.
      off(2, 50, 100, { id: 3 }),
      off(4, 70, 900, { id: 4, correction: 8 }),
      off(5, 51, 40, { id: 5, correction: 1 }),
    ];
    const report = await ingest(file('corrected.csv', trades), {}, other);
    expect(report.notes.join()).toContain('1 duplicate prints count once');
    expect((await offExchange('activity', other)).data).toMatchObject([{ trade_count: 4, off_exch_volume: 340 }]);
    await other.close();
  });

  test('of under three executions off exchange publishes nothing of them, and the bars all the same', async () => {
    const other = await testApp({ nowMs });
    await ingest(file('few.csv', [off(0, 50, 100), off(1, 50, 100), { at: 2, price: 50, size: 100 }]), {}, other);
    for (const table of ['activity', 'composition', 'concentration', 'profile'])
      expect((await offExchange(table, other)).data).toEqual([]);
    expect(await bars('1d', other)).toMatchObject([{ volume: 300 }]);
    await other.close();
  });

  test('that withdraws every price of a stored session leaves no bar of it', async () => {
    const other = await testApp({ nowMs });
    const [only, withdrawn] = [off(0, 600, 100, { id: 1 }), off(0, 600, 100, { id: 1, correction: 8 })];
    expect(await ingest(file('only.csv', [only]), {}, other)).toMatchObject({ status: 'stored' });
    for (const timeframe of ['1s', '1m', '5m', '1h', '1d']) expect(await bars(timeframe, other)).toHaveLength(1);
    expect(await ingest(file('withdrawn.csv', [only, withdrawn]), {}, other)).toMatchObject({ status: 'stored' });
    for (const timeframe of ['1s', '1m', '5m', '1h', '1d']) expect(await bars(timeframe, other)).toEqual([]);
    await other.close();
  });

  test('that is refused, or stopped on the way, stores nothing', async () => {
    const other = await testApp({ nowMs });
    const before = await stored(other);
    const bad = file('bad.csv', session(first, 600), ['SPY,,0,4,9,1,-5,1,1,1,1,,']);
    expect(await ingest(bad, {}, other)).toMatchObject({ status: 'refused', badLineCount: 1 });
    expect(await stored(other)).toEqual(before);
    const stop = new AbortController();
    let told = 0;
    const stopped = ingestFiles(
      other.store,
      'stock-trades',
      [join(folder(), 'mixed.csv')],
      { now: () => nowMs, signal: stop.signal },
      () => {
        // The file is read, and its figures are being written.
        if (++told === 3) stop.abort(new Error('stopped'));
      },
    );
    await expect(stopped).rejects.toThrow('stopped');
    expect(await stored(other)).toEqual(before);
    expect((await other.store.pool.query('SELECT * FROM ingested_files')).rows).toEqual([]);
    expect(await ingest(bad, { maxErrors: 1 }, other)).toMatchObject({ status: 'stored', rows: 23, badLineCount: 1 });
    await other.close();
  });
});
