// Every writer notes what it left of a session, and from what.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { methodologyVersion } from '../../../src/core/analytics/methodology.ts';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { recompute } from '../../../src/intake/ingest/recompute/recompute.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { productVersion } from '../../../src/platform/runtime/product-version.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { delayedPage } from '../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [monday, tuesday] = ['2026-11-16', '2026-11-17'] as const;
const call = 'O:SPY261218C00600000';
const folder = temporaryFolder();
let nowMs = exchangeInstant('2026-11-18', 720);
const now = () => nowMs++;

function file(name: string, lines: readonly string[]): string {
  const path = join(folder(), name);
  const text = `${lines.join('\n')}\n`;
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}
const ns = (date: string, minute: number) => `${exchangeInstant(date, minute)}000000`;
const optionTape = (name: string, date: string, minutes: readonly number[]) =>
  file(name, [
    'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    ...minutes.map((minute) => `${call},209,0,302,5,${ns(date, minute)},10`),
  ]);
const stockTape = (name: string, minutes: readonly number[]) =>
  file(name, [
    'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    ...minutes.map((minute, i) => `SPY,,4,${i},600,${i},${ns(monday, minute)},100,2,202`),
  ]);
const bars = (name: string, dates: readonly string[], close = 600) =>
  file(name, [
    'ticker,volume,open,close,high,low,window_start,transactions',
    ...dates.map((date) => `SPY,100,600,${close},${Math.max(600, close)},600,${ns(date, 600)},1`),
  ]);
const halfHours = Array.from({ length: 13 }, (_, i) => 570 + 30 * i).concat(959);

const ingest = async (store: TestStore, dataset: Dataset, paths: readonly string[]) => {
  const { files } = await ingestFiles(store, dataset, paths, { now });
  for (const each of files) expect(each).toMatchObject({ status: 'stored' });
};
const generations = async (store: TestStore, where = 'true') =>
  (
    await store.pool.query(
      `SELECT symbol, dataset, session_date AS session, through_date AS through, superseded_ms AS superseded, made, files,
         ingested_ms AS ingested, from_line AS "from", through_line AS "throughLine", live_source AS source, instant_ms AS instant,
         methodology_version AS methodology, product_version AS product
       FROM generations WHERE ${where} ORDER BY ingested_ms, session_date`,
    )
  ).rows;
/** A file as another program measures it. */
function measured(path: string, headerLines = 1) {
  const bytes = readFileSync(path);
  const lines = bytes.toString().split('\n').length - 1 - headerLines;
  return { name: basename(path), sha256: createHash('sha256').update(bytes).digest('hex'), lines };
}
const versions = { methodology: methodologyVersion, product: productVersion };

test('a file of each dataset notes its name, hash and lines for the sessions of its symbols', async () => {
  const store = await storeForThisTest();
  const quotes = file('quotes.csv', [
    'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
    `${call},1,5.1,1,1,4.9,1,1,${ns(monday, 575)}`,
  ]);
  const files: [Dataset, string][] = [
    ['option-quotes', quotes],
    ['option-trades', optionTape('options.csv', monday, halfHours)],
    ['stock-trades', stockTape('stocks.csv', halfHours)],
    ['stock-minute-bars', bars('minutes.csv', [tuesday])],
    ['stock-day-bars', bars('days.csv', ['2026-11-12', '2026-11-13'])],
    ['rates', file('rates.csv', ['date,days,rate', '2026-11-13,30,0.04', '2026-11-16,30,0.041'])],
  ];
  for (const [dataset, path] of files) {
    const before = nowMs;
    await ingest(store, dataset, [path]);
    const [row, ...others] = await generations(store, `dataset = '${dataset}'`);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ made: 'file', superseded: null, files: [measured(path)], source: null, ...versions });
    expect(row.ingested).toBeGreaterThanOrEqual(before);
  }
  const rows = await generations(store);
  expect(rows.map(({ symbol, dataset, session, through }) => [symbol, dataset, session, through])).toEqual([
    ['SPY', 'option-quotes', monday, monday],
    ['SPY', 'option-trades', monday, monday],
    ['SPY', 'stock-trades', monday, monday],
    ['SPY', 'stock-minute-bars', tuesday, tuesday],
    ['SPY', 'stock-day-bars', '2026-11-12', '2026-11-13'],
    ['*', 'rates', '2026-11-13', '2026-11-16'],
  ]);
});

test('a packed file is told by its content', async () => {
  const store = await storeForThisTest();
  const plain = bars('plain.csv', [monday]);
  await ingest(store, 'stock-minute-bars', [bars('packed.csv.gz', [monday])]);
  expect((await generations(store))[0].files).toEqual([{ ...measured(plain), name: 'packed.csv.gz' }]);
});

test('a second file of a session supersedes the first, which stays as a record; other sessions stay in force', async () => {
  const store = await storeForThisTest();
  await ingest(store, 'stock-minute-bars', [bars('both.csv', [monday, tuesday])]);
  const second = bars('second.csv', [monday], 601);
  await ingest(store, 'stock-minute-bars', [second]);
  const rows = await generations(store);
  expect(rows.map(({ session, superseded, files }) => [session, superseded, files[0].name])).toEqual([
    [monday, rows[2].ingested, 'both.csv'],
    [tuesday, null, 'both.csv'],
    [monday, null, 'second.csv'],
  ]);
  // A tape of the session takes the place of its bars.
  await ingest(store, 'stock-trades', [stockTape('tape.csv', halfHours)]);
  const inForce = await generations(store, `superseded_ms IS NULL AND session_date = '${monday}'`);
  expect(inForce.map(({ dataset }) => dataset)).toEqual(['stock-trades']);
});

test('files of one tape are all named; a file that changes nothing is no generation', async () => {
  const store = await storeForThisTest();
  const parts = [optionTape('a.csv', monday, halfHours.slice(0, 5)), optionTape('b.csv', monday, halfHours.slice(5))];
  await ingest(store, 'option-trades', parts);
  const [row] = await generations(store);
  expect(row.files).toEqual(parts.map((path) => measured(path)));
  await ingestFiles(store, 'option-trades', parts, { now });
  expect(await generations(store)).toEqual([row]);
});

test('quotes that are given beside a tape are among its files', async () => {
  const store = await storeForThisTest();
  const quotes = file('beside.csv', [
    'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
    `${call},1,5.1,1,1,4.9,1,1,${ns(monday, 569)}`,
  ]);
  const tape = optionTape('beside-tape.csv', monday, halfHours);
  await ingestFiles(store, 'option-trades', [tape], { now, quoteFiles: [quotes] });
  expect((await generations(store))[0].files).toEqual([measured(tape), measured(quotes)]);
  const again = optionTape('beside-again.csv', monday, [...halfHours, 700]);
  const files = { trades: [again], quotes: [quotes], dayAggregates: [] };
  await reconcile(store, files, { session: monday, maxErrors: 0, now });
  expect((await generations(store)).at(-1).files).toEqual([measured(again), measured(quotes)]);
});

test('a reconciliation takes the place of what was ingested', async () => {
  const store = await storeForThisTest();
  await ingest(store, 'option-trades', [optionTape('first.csv', monday, halfHours)]);
  const path = optionTape('second.csv', monday, [...halfHours, 700]);
  const report = await reconcile(
    store,
    { trades: [path], quotes: [], dayAggregates: [] },
    { session: monday, maxErrors: 0, now },
  );
  expect(report.status).toBe('reconciled');
  const [first, second] = await generations(store);
  expect(first.superseded).toBe(second.ingested);
  expect(second).toMatchObject({ made: 'reconciliation', superseded: null, files: [measured(path)], ...versions });
});

test('each chain is a generation; a recompute makes another of the same file', async () => {
  const store = await storeForThisTest();
  const page = (time: string, volatility: number) =>
    delayedPage({
      date: `November 16, 2026 at ${time} EST`,
      root: 'SPXW',
      forward: 6000,
      volatility,
      expiries: { '2026-12-18': 32 / 365 },
      strikes: Array.from({ length: 11 }, (_, i) => 5950 + 10 * i),
    });
  const paths = [page('10:00 AM', 0.2), page('10:30 AM', 0.2), page('10:30 AM', 0.3)].map((text, i) => {
    const path = join(folder(), `chain-${i}.csv`);
    writeFileSync(path, text);
    return path;
  });
  for (const path of paths) await ingestFiles(store, 'chain', [path], { now });
  const headerLines =
    readFileSync(paths[0]!, 'utf8')
      .split('\n')
      .findIndex((line) => line.includes('Strike')) + 1;
  const rows = await generations(store);
  expect(rows.map(({ files }) => files[0])).toEqual(paths.map((path) => measured(path, headerLines)));
  const instants = [600, 630, 630].map((minute) => exchangeInstant(monday, minute));
  expect(rows.map(({ instant }) => instant)).toEqual(instants);
  expect(rows.map(({ superseded }) => superseded)).toEqual([null, rows[2].ingested, null]);
  await store.pool.query(`UPDATE gex_captures SET version = 'old' WHERE captured_at = ${instants[1]}`);
  await recompute(store, 'chain', { symbol: null, from: null, to: null }, { now, rate: 0.04, all: true });
  expect((await generations(store)).at(-1)).toMatchObject({
    made: 'recompute',
    instant: instants[1],
    files: rows[2].files,
    superseded: null,
  });
});

test('a live session notes the lines it came in, also over a restart; its reconciliation supersedes it', async () => {
  const store = await storeForThisTest();
  const line = (date: string, minute: number, value: object) =>
    `${JSON.stringify({ sip_timestamp: ns(date, minute), ...value })}\n`;
  const option = (date: string, minute: number, id: number) =>
    line(date, minute, {
      type: 'option_print',
      contract: call,
      exchange: 302,
      conditions: [209],
      sequence_number: id,
      price: 5,
      size: 10,
    });
  const stock = (date: string, minute: number, id: number) =>
    line(date, minute, {
      type: 'stock_print',
      symbol: 'SPY',
      exchange: 4,
      id: String(id),
      sequence_number: id,
      price: 600,
      size: 100,
    });
  const first = halfHours.flatMap((minute, i) => [option(monday, minute, i), stock(monday, minute, i)]);
  const next = [stock(tuesday, 600, 1), option(tuesday, 601, 2)];
  const options = {
    source: 'feed',
    everyMs: 0,
    now,
    stop: new AbortController().signal,
    gammaSource: 'solve',
    rate: 0.04,
    onBadLine() {},
  } as const;
  const take = (lines: readonly string[]) =>
    follow(store, Readable.from(lines.map((text) => Buffer.from(text))), { ...options, fromStart: false });
  const told = async () =>
    (await generations(store)).map(({ dataset, session, from, throughLine, source, made }) =>
      [dataset, session, from, throughLine, source, made].join(' '),
    );
  await take(first.slice(0, 10));
  const live = (session: string, lines: string) =>
    ['option-trades', 'stock-trades'].map((dataset) => `${dataset} ${session} ${lines} feed live`);
  expect((await told()).sort()).toEqual(live(monday, '1 10'));
  await take(first.slice(10));
  expect((await told()).sort()).toEqual(live(monday, '1 28'));
  await take(next);
  expect((await told()).filter((each) => each.includes(monday)).sort()).toEqual(live(monday, '1 29'));
  expect((await told()).filter((each) => each.includes(tuesday)).sort()).toEqual(live(tuesday, '29 30'));
  await ingest(store, 'option-trades', [optionTape('tape.csv', monday, halfHours)]);
  const inForce = await generations(store, `superseded_ms IS NULL AND session_date = '${monday}'`);
  expect(inForce.map(({ dataset, made }) => [dataset, made])).toEqual([
    ['stock-trades', 'live'],
    ['option-trades', 'file'],
  ]);
});

test('data of before generations were noted has one: the files in force that name its session', async () => {
  const store = await storeForThisTest();
  await ingest(store, 'stock-trades', [stockTape('stocks.csv', halfHours)]);
  await ingest(store, 'option-trades', [optionTape('options.csv', monday, halfHours)]);
  await ingest(store, 'stock-minute-bars', [bars('minutes.csv', [tuesday])]);
  const before = await generations(store);
  await store.pool.query('TRUNCATE generations');
  const folderOf = '../../../prisma/migrations/20261126080000_generations/migration.sql';
  const sql = readFileSync(new URL(folderOf, import.meta.url), 'utf8');
  await store.pool.query(sql.slice(sql.indexOf('INSERT')));
  const unknown = { methodology: null, product: null };
  expect(await generations(store)).toEqual(
    before.map((row) => ({
      ...row,
      ...unknown,
      ingested: expect.any(Number),
      files: [{ name: row.files[0].name, sha256: null, lines: null }],
    })),
  );
});
