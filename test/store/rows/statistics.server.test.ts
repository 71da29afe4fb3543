import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { analyzeGrown } from '../../../src/store/rows/statistics.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = '2026-11-19';
const nowMs = exchangeInstant('2026-11-20', 600);

/** Rows of a table as PostgreSQL's planner believes; −1: it was never looked at. */
async function believedRows({ pool }: TestStore, table: string): Promise<number> {
  const { rows } = await pool.query('SELECT reltuples FROM pg_class WHERE oid = $1::regclass', [table]);
  return rows[0].reltuples;
}

const enterFeed = ({ pool }: TestStore, first: number, last: number) =>
  pool.query(
    `INSERT INTO flow_feed (underlying, session_date, event_id, event_ts_ms, content)
     SELECT 'SPY', '${session}', repeat('e', 40) || n, n, '' FROM generate_series($1::int, $2::int) AS n`,
    [first, last],
  );

test('a table is analyzed once it has more than doubled, and not before', async () => {
  const store = await storeForThisTest();
  await enterFeed(store, 1, 100);
  await analyzeGrown(store);
  expect(await believedRows(store, 'flow_feed')).toBe(-1);
  await enterFeed(store, 101, 4000);
  await analyzeGrown(store);
  expect(await believedRows(store, 'flow_feed')).toBe(4000);
  await enterFeed(store, 4001, 6000);
  await analyzeGrown(store);
  expect(await believedRows(store, 'flow_feed')).toBe(4000);
  await enterFeed(store, 6001, 9000);
  await analyzeGrown(store);
  expect(await believedRows(store, 'flow_feed')).toBe(9000);
});

test('nobody waits for a table that somebody holds', async () => {
  const store = await storeForThisTest();
  await enterFeed(store, 1, 4000);
  const holder = await store.pool.connect();
  await holder.query('BEGIN; LOCK TABLE flow_legs IN ACCESS EXCLUSIVE MODE');
  await analyzeGrown(store);
  expect(await believedRows(store, 'flow_feed')).toBe(-1);
  await holder.query('ROLLBACK');
  holder.release();
  await analyzeGrown(store);
  expect(await believedRows(store, 'flow_feed')).toBe(4000);
});

test('what a file fills is analyzed when it is stored', async () => {
  const store = await storeForThisTest();
  const path = join(folder(), `${session}.csv`);
  const line = (n: number) => `S${n},100,10,10.5,11,9.5,${exchangeInstant(session)}000000,5`;
  const lines = Array.from({ length: 1000 }, (_, n) => line(n));
  writeFileSync(path, ['ticker,volume,open,close,high,low,window_start,transactions', ...lines, ''].join('\n'));
  const { files } = await ingestFiles(store, 'stock-day-bars', [path], { now: () => nowMs });
  expect(files).toMatchObject([{ status: 'stored', rows: 1000 }]);
  expect(await believedRows(store, 'bar_blocks')).toBe(1000);
});

test('what a live tape fills is analyzed while it is followed', async () => {
  const store = await storeForThisTest();
  const at = exchangeInstant(session, 600);
  const print = (n: number) => ({
    type: 'stock_print',
    symbol: `S${n}`,
    exchange: 11,
    id: `t${n}`,
    price: 10,
    size: 100,
    sip_timestamp: `${at + n}000000`,
    sequence_number: n,
  });
  const lines = Array.from({ length: 1000 }, (_, n) => `${JSON.stringify(print(n))}\n`).join('');
  const { commits } = await follow(store, one(lines), {
    source: 'tape',
    fromStart: false,
    everyMs: 10,
    gammaSource: 'solve',
    rate: 0.045,
    now: () => nowMs,
    stop: new AbortController().signal,
    onBadLine: ({ reason }) => expect.fail(reason),
  });
  expect(commits).toBeGreaterThan(0);
  await expect.poll(() => believedRows(store, 'bar_blocks')).toBeGreaterThan(0);
});

async function* one(lines: string): AsyncGenerator<Buffer> {
  yield Buffer.from(lines);
}
