import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { methodologyVersion } from '../../src/core/analytics/methodology.ts';
import type { GreeksSolve } from '../../src/core/domain/chain/greeks.ts';
import { readOptionContract } from '../../src/core/domain/chain/option-contract.ts';
import type { GexCapture } from '../../src/core/domain/gex/gex.ts';
import { type BarColumns, type StoredTimeframe, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { saveGreeksMinutes } from '../../src/store/chain/greeks.ts';
import { lockOpenInterest, saveOpenInterest } from '../../src/store/chain/open-interest.ts';
import { lockOptionBars, saveLiveOptionBars } from '../../src/store/chain/option-bars.ts';
import { lockOptionQuotes, quotePart, readQuotes, saveQuoteParts } from '../../src/store/chain/option-quotes.ts';
import { lockFlow } from '../../src/store/flow/sessions.ts';
import { saveGexCapture } from '../../src/store/gex/captures.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction, type Transaction } from '../../src/store/rows/transaction.ts';
import { BlockAssertionError, failedAssertions, isSumOf } from '../../src/store/series/assertions.ts';
import { type Columns, decodeBlock, encodeBlock } from '../../src/store/series/codec.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { gexCapture, newYork } from '../support/option-market.ts';

/*
 * Each kind of block is written, spoiled in the store as no writer would, and read; and each writer is given a record
 * of which no reader may see anything.
 */

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-20';
const at = newYork(session, '10:00');
const contract = 'O:SPY261218C00600000';
const day = 86_400_000;
const logLines: string[] = [];
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs, env: { LOG_LEVEL: 'error' }, logLines });
});
beforeEach(async () => {
  logLines.length = 0;
  await empty();
});
afterAll(() => app.close());

const interest = 'open_interest_blocks';
const tables = [
  ...['bar_blocks', 'option_bar_blocks', 'gex_captures', 'greeks_minutes', interest, 'option_quote_blocks'],
];
const sql = (text: string, values: unknown[] = []) => app.store.pool.query(text, values);
async function empty(): Promise<void> {
  for (const table of tables) await sql(`DELETE FROM ${table}`);
}

const failuresRead = () =>
  failedAssertions()
    .filter(({ when }) => when === 'read')
    .reduce((sum, { count }) => sum + count, 0);

const write = <T>(work: (tx: Transaction) => Promise<T>) => inTransaction(app.store, work);

const bar = (tsMs: number, vwap = 2.1) => ({
  tsMs,
  open: 2,
  high: 2.5,
  low: 1.5,
  close: 2.25,
  volume: 10,
  vwap,
  tradeCount: 3,
});
const bars = (...vwaps: number[]) =>
  toBarColumns((vwaps.length ? vwaps : [2.1, 2.2]).map((v, i) => bar(at + i * 60_000, v)));
const reversed = (columns: BarColumns) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [name, values.toReversed()]),
  ) as unknown as BarColumns;

const saveBars =
  (timeframe: StoredTimeframe, columns: BarColumns, ofTape = false) =>
  (tx: Transaction) =>
    writeBars(tx, timeframe, [
      { symbol: 'SPY', bars: columns, ...(ofTape && { whole: { fromMs: at, toMs: at + 3_600_000 } }) },
    ]);
const saveOptions = (columns: BarColumns) => async (tx: Transaction) => {
  await lockOptionBars(tx);
  const run = { underlying: 'SPY', sessionDate: session, contract, fromMs: at };
  await saveLiveOptionBars(tx, [{ ...run, bars: columns, rest: toBarColumns([]) }]);
};
const rows = [
  { strike: 600_000, expiry: session, gex: 1e9 },
  { strike: 600_000, expiry: '2026-12-18', gex: -1e9 + 0.25 },
  { strike: 610_000, expiry: session, gex: 0.1 },
];
const capture = (change: Partial<GexCapture> = {}) => gexCapture('SPY', at, rows, change);
const saveGex = (change?: Partial<GexCapture>) => (tx: Transaction) => saveGexCapture(tx, capture(change));
const solve: GreeksSolve = {
  tsMs: at,
  iv: 0.2,
  delta: 0.5,
  gamma: 0.01,
  mark: 3,
  bid: 2.9,
  ask: 3.1,
  markSource: 'mid',
};
const saveMinutes =
  (...times: number[]) =>
  async (tx: Transaction) => {
    await lockFlow(tx);
    const minutes = times.map((tsMs) => ({
      underlying: 'SPY',
      tsMs,
      spot: 600,
      rate: 0.04,
      methodologyVersion,
      solves: new Map([[contract, { ...solve, tsMs }]]),
    }));
    await saveGreeksMinutes(tx, session, minutes, new Map());
  };
const saveInterest = async (tx: Transaction) => {
  await lockOpenInterest(tx);
  const two = [600_000, 610_000].map((strike, i) => ({
    ...readOptionContract(contract)!,
    strike,
    openInterest: 5 + i,
  }));
  await saveOpenInterest(tx, [{ underlying: 'SPY', sessionDate: session, rows: two }]);
};
const quotes = (...tsNanos: number[]) => ({
  tsMs: Float64Array.from(tsNanos, () => at),
  tsNanos: Float64Array.from(tsNanos),
  bid: Float64Array.from(tsNanos, () => 1),
  ask: Float64Array.from(tsNanos, () => 2),
});
const saveQuotes =
  (columns: ReturnType<typeof quotes>, sessionDate = session) =>
  async (tx: Transaction) => {
    await lockOptionQuotes(tx);
    await saveQuoteParts(tx, [quotePart({ underlying: 'SPY', sessionDate, contract, part: 0, last: true }, columns)]);
  };

type Change = (columns: Columns) => void;
let versions = 0;

/** Changes the columns of the one stored block, and gives it another version. */
async function spoil(table: string, column: string, change: Change): Promise<void> {
  const found = await sql(`SELECT ${column} AS block FROM ${table}`);
  const columns = decodeBlock(found.rows[0].block);
  change(columns);
  const values = [Buffer.from(encodeBlock(columns)), `spoiled ${versions++}`];
  await sql(`UPDATE ${table} SET ${column} = $1, version = $2`, values);
}
const raiseNet = () => sql(`UPDATE gex_captures SET net_gex = net_gex + 0.01, version = 'spoiled'`);
const moveMinutes = () => sql(`UPDATE greeks_minutes SET ts_ms = ts_ms - ${day}`);
const swap =
  (name: string): Change =>
  (columns) => {
    columns[name] = columns[name]!.toReversed() as Float64Array;
  };
const raise =
  (name: string, by: number): Change =>
  (columns) => {
    (columns[name] as Float64Array)[0]! += by;
  };

const inSymbol = (field: string) => `{ symbol(symbol: "SPY") { ${field} } }`;
const inContract = (field: string) => `{ contract(id: "${contract}") { ${field} } }`;
const stockBars = (timeframe: string) => ({
  path: `/v2/stocks/SPY/bars?timeframe=${timeframe}&from=${session}T09:30&to=${session}T11:00`,
  query: inSymbol(
    `bars(timeframe: "${timeframe}", from: "${session}T09:30", to: "${session}T11:00") { rows { tsMs } }`,
  ),
});
const optionBars = {
  path: `/v2/options/${contract}/bars?session=${session}`,
  query: inContract(`bars(session: "${session}") { rows { tsMs } }`),
};
const grid = { path: '/v2/gex/SPY/grid?by_expiry=true', query: inSymbol('gex { latest(byExpiry: true) { netGex } }') };
const greeks = { path: `/v2/options/${contract}/greeks`, query: inContract('greeks { series { tsMs } }') };
const expirations = { path: '/v2/chain/SPY/expirations', query: inSymbol('expirations { dates }') };

const sorted = 'its bars ascend';
const vwaps = 'low <= vwap <= high';
const sums = 'the gex of each strike is the sum over its expiries';
const inBars = (change: Change) => spoil('bar_blocks', 'payload', change);
const inOptionBars = (change: Change) => spoil('option_bar_blocks', 'payload', change);
const inRows = (change: Change) => spoil('gex_captures', 'by_expiry', change);

/** A kind of block: how it is written and spoiled, where it is read, and the condition that no longer holds. */
type Spoiled = [
  what: string,
  save: (tx: Transaction) => Promise<unknown>,
  change: () => Promise<unknown>,
  asked: { path: string; query: string },
  condition: string,
];
const spoiled: Spoiled[] = [
  ['bars out of order', saveBars('1m', bars()), () => inBars(swap('tsMs')), stockBars('1m'), sorted],
  ['a bar twice', saveBars('1m', bars()), () => inBars(raise('tsMs', 60_000)), stockBars('1m'), sorted],
  ['a bar of another session', saveBars('1m', bars()), () => inBars(raise('tsMs', -day)), stockBars('1m'), 'its span'],
  ['a vwap above the high', saveBars('1s', bars(), true), () => inBars(raise('vwap', 1)), stockBars('1s'), vwaps],
  ["a contract's bars out of order", saveOptions(bars()), () => inOptionBars(swap('tsMs')), optionBars, sorted],
  ['a vwap below the low', saveOptions(bars()), () => inOptionBars(raise('vwap', -1)), optionBars, vwaps],
  ['a wrong net gex', saveGex(), raiseNet, grid, 'over its strikes'],
  ['a wrong gex of a strike', saveGex(), () => inRows(raise('gex', 0.01)), grid, sums],
  ['a row of an unknown strike', saveGex(), () => inRows(raise('strike', 1)), grid, sums],
  ['strikes out of order', saveGex(), () => spoil('gex_captures', 'strikes', swap('strike')), grid, 'strikes ascend'],
  ['solves of another session', saveMinutes(at), moveMinutes, greeks, 'in its session'],
  ['open interest out of order', saveInterest, () => spoil(interest, 'payload', swap('strike')), expirations, 'ascend'],
];

/** The failure of a source: spec 7 has one of its own for option bars. */
const failureOf = (asked: object) => (asked === optionBars ? [503, 'provider_unavailable'] : [502, 'internal']);

test.each(spoiled)('%s in the store: 502, an error in the graph, and the reason in the log', async (...given) => {
  const [, save, change, asked, condition] = given;
  const { path, query } = asked;
  const [failed, code] = failureOf(asked);
  await write(save);
  expect((await app.get(path)).status).toBe(200);
  expect((await app.graphql(query)).errors).toBeUndefined();
  await empty();
  // Its commit drops what is cached of the first.
  await write(save);
  await change();
  const before = failuresRead();
  const { status, body } = await app.get(path);
  expect([status, body]).toMatchObject([failed, { error: { code } }]);
  expect(JSON.stringify(body)).not.toContain('wrong');
  const { data, errors } = await app.graphql(query);
  expect(errors!.map(({ extensions }) => extensions.code)).toEqual([code]);
  expect(JSON.stringify(data)).not.toMatch(/tsMs|netGex|dates/);
  expect(logLines.filter((line) => line.includes('BlockAssertionError') && line.includes(condition))).toHaveLength(2);
  expect(failuresRead()).toBe(before + 2);
});

test('quotes in the store that are out of order are not read', async () => {
  await write(saveQuotes(quotes(1, 2)));
  await sql(`UPDATE option_quote_blocks SET session_date = '2026-11-19'`);
  const wanted = { contracts: [{ id: contract, underlying: { symbol: 'SPY' } }], from: '2026-11-01', to: session };
  const read = write(async (tx) => {
    for await (const { quotes: found } of readQuotes(tx, wanted)) expect(found).toBeUndefined();
  });
  await expect(read).rejects.toThrow(BlockAssertionError);
});

/** A record that no writer may be given. */
type Wrong = [what: string, table: string, save: (tx: Transaction) => Promise<unknown>];
const ten = at + day;
const wrong: Wrong[] = [
  ['bars out of order', 'bar_blocks', saveBars('1m', reversed(bars()))],
  ['a bar twice', 'bar_blocks', saveBars('1m', toBarColumns([bar(at), bar(at)]))],
  ['a vwap of prints above the high', 'bar_blocks', saveBars('1m', bars(2.1, 2.6), true)],
  ["a contract's vwap below the low", 'option_bar_blocks', saveOptions(bars(1.4))],
  ["a contract's bar of another session", 'option_bar_blocks', saveOptions(toBarColumns([bar(ten)]))],
  ['a net gex that is not the sum', 'gex_captures', saveGex({ netGex: 0.36 })],
  [
    'strikes that are not the sums of their expiries',
    'gex_captures',
    saveGex({ byExpiry: capture().byExpiry.slice(1) }),
  ],
  ['strikes out of order', 'gex_captures', saveGex({ strikes: capture().strikes.toReversed() })],
  ['a minute twice', 'greeks_minutes', saveMinutes(at, at)],
  ['a minute of another session', 'greeks_minutes', saveMinutes(ten)],
  ['quotes out of order', 'option_quote_blocks', saveQuotes(quotes(2, 1))],
  ['quotes of another session', 'option_quote_blocks', saveQuotes(quotes(1), '2026-11-19')],
];

test.each(wrong)('a writer that is given %s stores nothing', async (_, table, save) => {
  // Nothing that the transaction wrote before is stored either.
  const both = write(async (tx) => {
    await saveInterest(tx);
    await save(tx);
  });
  await expect(both).rejects.toThrow(BlockAssertionError);
  for (const each of [table, interest]) expect((await sql(`SELECT FROM ${each}`)).rowCount).toBe(0);
});

test('a vendor’s vwap beside its low and high is stored as reported', async () => {
  await write(saveBars('1m', bars(2.6)));
  const { path } = stockBars('1m');
  expect((await app.get(path)).body.data).toMatchObject([{ vwap: 2.6, high: 2.5 }]);
});

test('sums in another order are equal, however much of them cancels; a cent more is not', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1e12, max: 1e12, noNaN: true }), { minLength: 1 }), (terms) => {
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      const of = { total: sum(terms), gross: sum(terms.map(Math.abs)), count: terms.length };
      expect(isSumOf(sum(terms.toReversed()), of)).toBe(true);
      expect(isSumOf(sum(terms.toSorted((a, b) => a - b)), of)).toBe(true);
    }),
  );
  expect(isSumOf(0.25, { total: 0.26, gross: 2e9, count: 2 })).toBe(false);
});
