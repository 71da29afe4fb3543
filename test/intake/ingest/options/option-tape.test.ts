import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../../../support/flow.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
/** Eight in the evening of the session, New York. */
const nowMs = exchangeInstant(session, 1200);
/** 10:00 New York of the session. */
const start = exchangeInstant(session, 600);
const call = 'O:SPY261218C00600000';
const put = 'O:SPY261218P00580000';
const aapl = 'O:AAPL261218C00250000';
const spxw = 'O:SPXW261120C06000000';

const tradeHeader = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
const quoteHeader =
  'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp';
const trade = (ticker: string, ms: number, price: number, size: number, exchange = 302, condition = 209) =>
  `${ticker},${condition},0,${exchange},${price},${start + ms}000000,${size}`;
const quote = (ticker: string, ms: number, bid: number, ask: number, sequence = 1) =>
  `${ticker},302,${ask},10,302,${bid},10,${sequence},${start + ms}000000`;

// By contract, then time, as vendors write them.
const trades = [
  // Event time of AAPL is later than that of SPY behind it. A block, and one that was cancelled.
  trade(aapl, 60_000, 1.2, 1000),
  trade(aapl, 61_000, 5, 3000),
  trade(aapl, 62_000, 5, 3000, 302, 201),
  // The index: large.
  trade(spxw, 30_000, 40, 100),
  // A sweep that lifts the offer on two exchanges.
  trade(call, 0, 1.25, 400, 302, 219),
  trade(call, 60, 1.27, 250, 316, 219),
  // Half of a spread, an ordinary small print, a compression trade that is in nothing.
  trade(call, 5000, 3, 600, 303, 232),
  trade(call, 400_000, 3.5, 10),
  trade(call, 401_000, 9, 5000, 302, 247),
  trade(put, 5010, 1.5, 600, 303, 232),
  // In nothing, but the tape reaches the close.
  trade(put, 21_540_000, 9, 5000, 302, 247),
];
const quotes = [quote(call, -100, 1.2, 1.25), quote('O:SPY270115C00700000', 0, 1, 2), quote(aapl, 59_000, 1.2, 1.4)];

describe('an option tape', () => {
  const folder = temporaryFolder();
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs });
  });
  afterAll(() => app.close());

  function file(name: string, header: string, lines: string[]): string {
    const path = join(folder(), name);
    const text = [header, ...lines].join('\n');
    writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
    return path;
  }
  const ingest = async (path: string, options: Partial<IngestOptions> = {}, on = app) =>
    (await ingestFiles(on.store, 'option-trades', [path], { now: () => nowMs, ...options })).files[0]!;
  const largeTrades = async (symbol: string, on = app) =>
    (await on.get(`/v2/flow/large-trades?symbol=${symbol}&session=${session}`)).body.data.events;
  const crossSection = async (symbol: string, on = app) =>
    (await on.get(`/v2/flow/${symbol}/cross-section?session=${session}`)).body.data.snapshot;
  const eod = async (query: string, on = app, credential?: string) =>
    (await on.get(`/v2/flow/eod?session=${session}&${query}`, credential === undefined ? {} : { credential })).body
      .data;
  const bars = async (contract: string, timeframe: string, on = app) =>
    (await on.get(`/v2/options/${encodeURIComponent(contract)}/bars?timeframe=${timeframe}&date=${session}`)).body.data
      .bars;

  test('gives the events planted in it and no other', async () => {
    const report = await ingest(file('tape.csv.gz', tradeHeader, trades), {
      quoteFiles: [file('quotes.csv', quoteHeader, quotes)],
    });
    expect(report).toMatchObject({ status: 'stored', rows: 11, badLineCount: 0 });
    const spy = await largeTrades('SPY');
    expect(spy.map((each: Json) => each.update.event)).toMatchObject([
      { event_kind: 'multi_leg', total_size: 1200, premium_usd: 270_000, side: 'unknown', multi_leg: true },
      {
        event_kind: 'sweep',
        total_size: 650,
        premium_usd: 81_750,
        side: 'buy_inferred',
        price_low: 1.25,
        price_high: 1.27,
      },
    ]);
    expect(spy[0].coverage).toEqual({
      status: 'eod_reconciled',
      complete: true,
      session_date: session,
      observed_from_ms: exchangeInstant(session, 570),
      observed_through_ms: exchangeInstant(session, 960),
      registry_version: expect.any(Number),
      standard_multiplier_assumed: true,
    });
    expect((await largeTrades('AAPL')).map((each: Json) => each.update.event)).toMatchObject([
      {
        event_kind: 'single_block',
        side: 'sell_inferred',
        premium_usd: 120_000,
        event_id: `single_block:${aapl}:${start + 60_000}:1`,
      },
    ]);
    expect((await largeTrades('SPX')).map((each: Json) => each.update.event)).toMatchObject([
      { side: 'unknown', premium_usd: 400_000 },
    ]);
  });

  test('gives a cross-section whose two tables add up to the tape', async () => {
    const { seq, update } = await crossSection('SPY');
    expect(seq).toBe(1);
    const total = (rows: Json[], name: string) => rows.reduce((sum, row) => sum + row.measures[name], 0);
    for (const rows of [update.by_strike, update.by_expiration]) {
      expect(total(rows, 'call_volume')).toBe(400 + 250 + 600 + 10);
      expect(total(rows, 'put_volume')).toBe(600);
      expect(total(rows, 'call_premium_usd')).toBe(50_000 + 31_750 + 180_000 + 3500);
      expect(total(rows, 'call_trade_count')).toBe(4);
    }
    expect(update.by_strike.map((row: Json) => row.strike_thousandths)).toEqual([580_000, 600_000]);
    // The cancelled print is in nothing.
    expect((await crossSection('AAPL')).update.by_strike[0].measures.call_volume).toBe(1000);
  });

  test('ranks the prints of each underlying and of all, index options in the list of the site alone', async () => {
    expect((await eod('symbol=SPY')).prints.map((print: Json) => [print.rank, print.premium_usd])).toEqual([
      [1, 180_000],
      [2, 90_000],
      [3, 50_000],
      [4, 31_750],
      [5, 3500],
    ]);
    const free = await eod('min_premium_usd=0');
    expect(free).toMatchObject({ tier: 'free', coverage_status: 'eod_reconciled', scanned_at_ms: nowMs });
    expect(free.prints.map((print: Json) => print.underlying)).toEqual(['SPY', 'AAPL', 'SPY', 'SPY', 'SPY', 'SPY']);
    const pro = await eod('min_premium_usd=0', app, await app.session());
    expect(pro.tier).toBe('pro');
    expect(pro.prints.slice(0, 2).map((print: Json) => [print.rank, print.underlying])).toEqual([
      [1, 'SPX'],
      [2, 'SPY'],
    ]);
    expect(pro.prints[0]).toMatchObject({
      print_id: `single_block:${spxw}:${start + 30_000}:1#0`,
      size: 100,
      price: 40,
    });
  });

  test('gives bars of its contracts', async () => {
    const minutes = await bars(call, '1m');
    expect(minutes).toMatchObject([
      { ts_ms: start, volume: 1250 },
      { ts_ms: start + 360_000, open: 3.5, close: 3.5, volume: 10 },
    ]);
    expect((await bars(call, '5m')).map((bar: Json) => bar.volume)).toEqual([1250, 10]);
  });

  test('takes the place of what was observed live, and of the tape before it', async () => {
    const other = await testApp({ nowMs });
    const live = coverage(session, 601);
    await storeLargeTrades(other.store, [
      largeTrade([leg(call, start + 1, { sequence: 77 })], 1, live),
      largeTrade([leg('O:MSFT261218C00400000', start + 1)], 1, live),
    ]);
    await ingest(join(folder(), 'tape.csv.gz'), {}, other);
    expect((await largeTrades('SPY', other)).map((each: Json) => each.update.event)).toMatchObject([
      { event_kind: 'multi_leg' },
      // Without quotes nobody's side is known.
      { event_kind: 'sweep', side: 'unknown' },
    ]);
    // An underlying that the tape does not name stays as it was.
    expect(await largeTrades('MSFT', other)).toMatchObject([
      { coverage: { status: 'observed_live', complete: false } },
    ]);
    await ingest(file('later.csv', tradeHeader, [trade(put, 0, 2, 700)]), { replace: true }, other);
    await vi.waitFor(async () => expect((await crossSection('SPY', other)).seq).toBe(2), 20_000);
    expect((await crossSection('SPY', other)).update.by_strike).toHaveLength(1);
    expect(await largeTrades('SPY', other)).toMatchObject([{ update: { event: { premium_usd: 140_000 } } }]);
    expect(await bars(call, '1m', other)).toEqual([]);
    expect((await eod('symbol=SPY', other)).prints).toHaveLength(1);
    // The list over all has the underlyings of both tapes.
    expect((await eod('min_premium_usd=0', other)).prints.map((print: Json) => print.underlying)).toEqual([
      'SPY',
      'AAPL',
    ]);
    await other.close();
  });
});

describe('the quotes and the session of an option tape', () => {
  const folder = temporaryFolder();
  const write = (name: string, lines: string[]) => {
    const path = join(folder(), name);
    writeFileSync(path, lines.join('\n'));
    return path;
  };

  test('the tape with other quotes is stored anew, with the same ones it is unchanged', async () => {
    const app = await testApp({ nowMs });
    const tape = write('tape.csv', [tradeHeader, ...trades]);
    const withQuotes = write('quotes.csv', [quoteHeader, ...quotes]);
    const status = async (quoteFiles: string[]) =>
      (await ingestFiles(app.store, 'option-trades', [tape], { now: () => nowMs, quoteFiles })).files[0]!.status;
    expect([await status([]), await status([withQuotes]), await status([withQuotes])]).toEqual([
      'stored',
      'stored',
      'unchanged',
    ]);
    await app.close();
  });

  test('what is stored does not depend on how the lines of its contracts lie among each other', async () => {
    const tables = [
      'flow_events',
      'flow_legs',
      'flow_coverage',
      'cross_sections',
      'ranked_prints',
      'option_bar_blocks',
    ];
    const byTime = trades.toSorted((a, b) => Number(a.split(',')[5]) - Number(b.split(',')[5]));
    expect(byTime).not.toEqual(trades);
    const stored = [];
    for (const lines of [trades, byTime]) {
      const app = await testApp({ nowMs });
      const tape = write('tape.csv', [tradeHeader, ...lines]);
      await ingestFiles(app.store, 'option-trades', [tape], { now: () => nowMs });
      const rows = [];
      for (const table of tables)
        rows.push((await app.store.pool.query(`SELECT ${modelColumns(table)} FROM ${table} t ORDER BY t::text`)).rows);
      stored.push(rows);
      await app.close();
    }
    expect(stored[1]).toEqual(stored[0]);
    expect(stored[0]!.every((rows) => rows.length > 0)).toBe(true);
  });

  test('lines left out, or a session that is not over, are never complete', async () => {
    for (const [at, status] of [
      [nowMs, 'eod_reconciled'],
      [start + 600_000, 'observed_live'],
    ] as const) {
      const app = await testApp({ nowMs: at });
      const tape = write('bad.csv', [tradeHeader, ...trades.slice(0, -1), trade(call, 0, 1, 0)]);
      const refused = await ingestFiles(app.store, 'option-trades', [tape], { now: () => at });
      expect(refused.files[0]).toMatchObject({ status: 'refused', badLineCount: 1 });
      for (const table of [
        'flow_events',
        'flow_legs',
        'flow_coverage',
        'cross_sections',
        'ranked_prints',
        'option_bar_blocks',
        'ingested_files',
      ])
        expect((await app.store.pool.query(`SELECT ${modelColumns(table)} FROM ${table}`)).rows, table).toEqual([]);
      await ingestFiles(app.store, 'option-trades', [tape], { now: () => at, maxErrors: 1 });
      const { body } = await app.get(`/v2/flow/large-trades?symbol=SPY&session=${session}`);
      expect(body.data.events[0].coverage).toMatchObject({ status, complete: false });
      await app.close();
    }
  });
});
