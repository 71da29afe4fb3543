import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../../src/intake/ingest/options/reconcile.ts';
import {
  listQuotes,
  lockOptionQuotes,
  type QuoteColumns,
  quotePart,
  saveQuoteParts,
} from '../../../../src/store/chain/option-quotes.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { randomOf } from '../../../support/random.ts';
import { storeForThisTest, type TestStore, testStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
const nowMs = exchangeInstant(session, 1200);
const start = exchangeInstant(session, 600);
const call = 'O:SPY261218C00600000';
const put = 'O:SPY261218P00580000';
const aapl = 'O:AAPL261218C00250000';
const tradeHeader = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
const quoteHeader =
  'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp';
const stamp = (ms: number, nanos = 0) => `${start + ms}${String(nanos).padStart(6, '0')}`;
const trade = (ticker: string, ms: number, price: number, size: number, exchange = 302) =>
  `${ticker},209,0,${exchange},${price},${stamp(ms)},${size}`;
const quote = (ticker: string, ms: number, bid: number | '', ask: number | '', sequence = 1, nanos = 0) =>
  `${ticker},302,${ask},10,302,${bid},10,${sequence},${stamp(ms, nanos)}`;

const trades = [trade(call, 1000, 5, 400), trade(put, 2000, 2, 700), trade(aapl, 3000, 4, 500)];
const quotes = [
  quote(call, 0, 4.8, 5),
  quote(put, 1500, 2, 2.2),
  quote(aapl, 2500, 3.5, 4.5),
  quote('O:MSFT261218C00400000', 0, 1, 2),
];
const sides = { [call]: 'buy_inferred', [put]: 'sell_inferred', [aapl]: 'neutral' };
const unknown = { [call]: 'unknown', [put]: 'unknown', [aapl]: 'unknown' };

const folder = temporaryFolder();
function file(name: string, header: string, lines: readonly string[]): string {
  const path = join(folder(), name);
  const text = [header, ...lines].join('\n');
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}
const now = () => nowMs;

function ingesting(store: () => TestStore) {
  const ingest = async (
    dataset: 'option-quotes' | 'option-trades',
    path: string,
    options: Partial<IngestOptions> = {},
  ) => (await ingestFiles(store(), dataset, [path], { now, ...options })).files[0]!;
  const blocks = async () =>
    (await store().pool.query('SELECT * FROM option_quote_blocks ORDER BY contract, session_date, part')).rows;
  const sidesStored = async () => {
    const { rows } = await store().pool.query('SELECT contract, side FROM flow_legs');
    return Object.fromEntries(rows.map((row) => [row.contract, row.side]));
  };
  return { ingest, blocks, sidesStored };
}

describe('stored option quotes', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await storeForThisTest();
  });
  const { ingest, blocks, sidesStored } = ingesting(() => store);

  test('give sides to the tape that is read after them, as the same quotes beside it do', async () => {
    const report = await ingest('option-quotes', file('quotes.csv.gz', quoteHeader, quotes));
    expect(report).toMatchObject({ status: 'stored', rows: 4, changed: 4, badLineCount: 0 });
    expect(report.notes).toEqual([expect.stringMatching(/^4 quotes of 4 contracts, [\d.]+ bytes each as stored$/)]);
    const tape = await ingest('option-trades', file('trades.csv', tradeHeader, trades));
    expect(tape.notes).toEqual(['sides from 3 stored quotes of its contracts']);
    expect(await sidesStored()).toEqual(sides);
    const events = async () =>
      (await store.pool.query(`SELECT ${modelColumns('flow_events')} FROM flow_events ORDER BY event_id`)).rows;
    const before = await events();
    await ingest('option-trades', join(folder(), 'trades.csv'), { quoteFiles: [join(folder(), 'quotes.csv.gz')] });
    expect(await events()).toEqual(before);
  });

  test('serve a reconciliation of their session, and quotes that are given win over them', async () => {
    await ingest('option-quotes', file('quotes.csv', quoteHeader, quotes));
    const files = { trades: [file('trades.csv', tradeHeader, trades)], quotes: [] as string[], dayAggregates: [] };
    const stored = await reconcile(store, files, { session, maxErrors: 0, now });
    expect(stored.notes).toEqual(['sides from 3 stored quotes of its contracts']);
    expect(await sidesStored()).toEqual(sides);
    const others = file('others.csv', quoteHeader, [quote(put, 1500, 1.8, 2)]);
    const given = await reconcile(store, { ...files, quotes: [others] }, { session, maxErrors: 0, now });
    expect(given.notes).toEqual([]);
    expect(await sidesStored()).toEqual({ ...unknown, [put]: 'buy_inferred' });
  });

  test('that come after the tape say so, and the same tape read again has its sides', async () => {
    const tape = file('trades.csv', tradeHeader, trades);
    await ingest('option-trades', tape);
    expect((await ingest('option-trades', tape)).status).toBe('unchanged');
    expect(await sidesStored()).toEqual(unknown);
    const report = await ingest('option-quotes', file('quotes.csv', quoteHeader, quotes));
    expect(report.notes[1]).toBe(
      `${session}: the tape of AAPL, SPY was read before these quotes: ingest it again to get its sides`,
    );
    expect(await sidesStored()).toEqual(unknown);
    expect((await ingest('option-trades', tape)).status).toBe('stored');
    expect(await sidesStored()).toEqual(sides);
    expect((await ingest('option-trades', tape)).status).toBe('unchanged');
  });

  test('of another session change nothing of a tape, nor what is remembered of it', async () => {
    const tape = file('trades.csv', tradeHeader, trades);
    await ingest('option-trades', tape);
    // The session is a Monday, which the weekend before belongs to.
    const dayBefore = quotes.map((line) =>
      line.replace(/\d{19}$/, (nanos) => String(BigInt(nanos) - 3n * 86_400_000_000_000n)),
    );
    const report = await ingest('option-quotes', file('before.csv', quoteHeader, dayBefore));
    expect(report.notes).toHaveLength(1);
    expect((await ingest('option-trades', tape)).status).toBe('unchanged');
  });

  test('are the same whatever the order of the lines, and the second time change nothing', async () => {
    const random = randomOf(3);
    const lines = Array.from({ length: 5000 }, (_, i) =>
      quote([call, put, aapl][i % 3]!, random.below(4000), 1 + random.below(50) / 100, 2, i, random.below(3)),
    );
    // A repeated line is stored once.
    lines.push(...lines.slice(0, 500));
    await ingest('option-quotes', file('order.csv', quoteHeader, lines));
    const before = await blocks();
    expect(before).toHaveLength(3);
    expect((await ingest('option-quotes', join(folder(), 'order.csv'))).status).toBe('unchanged');
    const shuffled = lines.map((line) => [random.below(1e9), line] as const).sort(([a], [b]) => a - b);
    const again = await ingest(
      'option-quotes',
      file(
        'shuffled.csv',
        quoteHeader,
        shuffled.map(([, line]) => line),
      ),
    );
    expect(again).toMatchObject({ status: 'unchanged', rows: 5500, changed: 0 });
    expect(await blocks()).toEqual(before);
  });

  test('take the place of those stored of their contracts, and leave others alone', async () => {
    const many = Array.from({ length: 70_000 }, (_, i) => quote(call, i, 1 + (i % 7) / 10, 2, i));
    await ingest('option-quotes', file('many.csv.gz', quoteHeader, [...many, ...quotes.slice(1)]));
    expect((await blocks()).filter((block) => block.contract === call).map((block) => block.count)).toEqual([
      65_536, 4464,
    ]);
    const first = file('first.csv.gz', quoteHeader, many.slice(0, 65_536));
    const report = await ingest('option-quotes', first, { replace: true });
    // Only that there are no further ones is new.
    expect(report).toMatchObject({ status: 'stored', changed: 1 });
    expect(await listQuotes(store)).toEqual([
      { session, underlying: 'AAPL', contracts: 1, quotes: 1, bytes: expect.any(Number) },
      { session, underlying: 'MSFT', contracts: 1, quotes: 1, bytes: expect.any(Number) },
      { session, underlying: 'SPY', contracts: 2, quotes: 65_537, bytes: expect.any(Number) },
    ]);
  });

  test('of one session in two files are joined if their minutes differ, in either order, as if they were one file', async () => {
    const minute = 60_000;
    // A gap of a minute; the first is of more than one part, and a third file has minutes of both.
    const lines = Array.from({ length: 70_000 }, (_, i) => quote(call, i, 1 + (i % 7) / 10, 2, i));
    const later = Array.from({ length: 300 }, (_, i) => quote(call, 3 * minute + 100 * i, 3, 4, i, i));
    const [early, late, all] = [lines, [...later, ...quotes.slice(1)], [...lines, ...later, ...quotes.slice(1)]].map(
      (some, i) => file(`${i}.csv.gz`, quoteHeader, some.toSorted()),
    );
    await ingest('option-quotes', all!);
    const whole = await blocks();
    for (const order of [
      [early!, late!],
      [late!, early!],
    ]) {
      await store.pool.query('DELETE FROM option_quote_blocks');
      for (const path of order)
        expect(await ingest('option-quotes', path, { force: true })).toMatchObject({ status: 'stored', left: [] });
      expect(await blocks()).toEqual(whole);
      expect(await ingest('option-quotes', order[0]!, { force: true })).toMatchObject({ status: 'unchanged' });
    }
    const other = file('other.csv', quoteHeader, [quote(call, minute, 1, 2), quote(call, 9 * minute, 1, 2)]);
    const report = await ingest('option-quotes', other);
    expect(report).toMatchObject({ status: 'refused', left: [{ reason: 'fewer', count: 2, stored: 70_300 }] });
    expect(await blocks()).toEqual(whole);
  });

  test('with bad lines are refused whole, and with --max-errors stored without them', async () => {
    const path = file('bad.csv', quoteHeader, [
      ...quotes,
      'O:NOPE,1,1,1,1,1,1,1,1',
      quote('O:QQQ261218C00400000', 0, 1, 2, -1),
    ]);
    const refused = await ingest('option-quotes', path);
    expect(refused).toMatchObject({ status: 'refused', badLineCount: 2, changed: 0 });
    expect(refused.badLines.map(({ line, reason }) => `${line} ${reason.split(':')[0]}`)).toEqual([
      '6 ticker',
      '7 sequence_number',
    ]);
    expect(await blocks()).toEqual([]);
    expect(await ingest('option-quotes', path, { maxErrors: 2 })).toMatchObject({
      status: 'stored',
      rows: 4,
      changed: 4,
    });
  });

  test('a tape waits for quotes that are being written, and has its sides from them', async () => {
    const tape = file('trades.csv', tradeHeader, trades);
    const unpacked = { tsMs: [start], tsNanos: [0], bid: [48_000], ask: [50_000] };
    const columns = Object.fromEntries(
      Object.entries(unpacked).map(([name, values]) => [name, Float64Array.from(values)]),
    );
    const key = { underlying: 'SPY', sessionDate: session, contract: call, part: 0, last: true };
    let reading: Promise<unknown> = Promise.resolve();
    await inTransaction(store, async (tx) => {
      await lockOptionQuotes(tx);
      reading = ingest('option-trades', tape);
      await pause(300);
      await saveQuoteParts(tx, [quotePart(key, columns as unknown as QuoteColumns)]);
    });
    await reading;
    expect(await sidesStored()).toEqual({ ...unknown, [call]: 'buy_inferred' });
  });
});

describe('quotes beside a tape', () => {
  test('of a session without prints leave nothing in the store', async () => {
    const store = await storeForThisTest();
    const { ingest } = ingesting(() => store);
    // The session is a Monday, which the weekend before belongs to.
    const dayBefore = quotes.map((line) =>
      line.replace(/\d{19}$/, (nanos) => String(BigInt(nanos) - 3n * 86_400_000_000_000n)),
    );
    const quoteFiles = [file('quotes.csv', quoteHeader, [...dayBefore, ...quotes])];
    await ingest('option-trades', file('trades.csv', tradeHeader, trades), { quoteFiles });
    for (const table of ['ranked_sessions', 'flow_coverage'])
      expect((await store.pool.query(`SELECT DISTINCT session_date FROM ${table}`)).rows).toEqual([
        { session_date: session },
      ]);
  });

  test('are read all the same when a contract has bad lines alone', async () => {
    const store = await storeForThisTest();
    const { ingest, sidesStored } = ingesting(() => store);
    const tape = file('bad.csv', tradeHeader, [trade('O:QQQ261218C00400000', 0, 1, 0), ...trades]);
    const quoteFiles = [file('quotes.csv', quoteHeader, quotes)];
    expect(await ingest('option-trades', tape, { maxErrors: 1, quoteFiles })).toMatchObject({
      status: 'stored',
      rows: 3,
    });
    expect(await sidesStored()).toEqual(sides);
  });
});

describe('tapegraph quotes', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  test('lists what is stored, and drops what is needed no more', async () => {
    const env = { DATABASE_URL: store.databaseUrl };
    expect((await tapegraph(['quotes', 'list'], env)).stdout).toBe('No quotes.\n');
    const told = await tapegraph(['ingest', 'option-quotes', file('quotes.csv', quoteHeader, quotes)], env);
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toMatch(/note: 4 quotes of 4 contracts, [\d.]+ bytes each as stored\n/);
    const listed = JSON.parse((await tapegraph(['quotes', 'list', '--json'], env)).stdout).quotes;
    expect(listed).toHaveLength(3);
    expect(listed[2]).toEqual({ session, underlying: 'SPY', contracts: 2, quotes: 2, bytes: expect.any(Number) });
    expect((await tapegraph(['quotes', 'list'], env)).stdout).toMatch(/^SESSION .*\n2026-11-16 {2}AAPL /);
    expect((await tapegraph(['quotes', 'drop', '--before', session], env)).stdout).toMatch(/^0 quotes/);
    expect((await tapegraph(['quotes', 'drop', '--before', '2026-11-17'], env)).stdout).toBe(
      '4 quotes of sessions before 2026-11-17 deleted\n',
    );
    expect(await listQuotes(store)).toEqual([]);
    expect((await tapegraph(['quotes', 'drop'], env)).code).toBe(2);
  });
});
