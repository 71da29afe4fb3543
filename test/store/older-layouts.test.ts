import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GreeksSolve } from '../../src/core/domain/chain/greeks.ts';
import { solveColumns } from '../../src/core/domain/chain/greeks-columns.ts';
import { namesOf } from '../../src/core/domain/columns.ts';
import { gexRowAt } from '../../src/core/domain/gex/gex.ts';
import { expiryColumns, profileColumns, strikeColumns } from '../../src/core/domain/gex/gex-columns.ts';
import { barAt, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { barColumnNames } from '../../src/core/domain/market/bar-columns.ts';
import { chainCapturesAt, lineColumns } from '../../src/store/chain/chain-captures.ts';
import { contractLines } from '../../src/store/chain/contract-lines.ts';
import { decodeSolve, encodeSolves, readGreeksSeries } from '../../src/store/chain/greeks.ts';
import { lastSolvedMinutes } from '../../src/store/chain/solved-minutes.ts';
import { readCrossSections, saveCrossSections } from '../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../src/store/flow/sessions.ts';
import { gexCapturesOf } from '../../src/store/gex/captures.ts';
import { stockBlockKey } from '../../src/store/market/bar-blocks.ts';
import { decodeBars, encodeBars } from '../../src/store/market/bar-codec.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Columns, decodeBlock, encodeBlock, layoutOf } from '../../src/store/series/codec.ts';
import { rowColumns } from '../../src/store/series/row-columns.ts';
import { coverage, measures } from '../support/flow.ts';
import { saveSolves } from '../support/greeks.ts';
import { chainCapture, chainRow, gexCapture, newYork, saveCaptures } from '../support/option-market.ts';
import { type TestStore, testStore } from '../support/store.ts';

/*
 * A block of an older layout is a block of today's without the columns that came since. Each test stores today's, takes
 * every measure away in turn, and reads what is left.
 */

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const day = '2026-11-18';
const at = newYork(day, '09:35');

const without = (payload: Uint8Array, name: string) =>
  Buffer.from(
    encodeBlock(Object.fromEntries(Object.entries(decodeBlock(payload)).filter(([column]) => column !== name))),
  );

/** Takes a column out of every block of a table, with the version and the layout that its writer would have given. */
async function takeColumn(table: string, column: string, name: string): Promise<void> {
  const { rows } = await store.pool.query<{ id: string; payload: Buffer }>(
    `SELECT ctid::text AS id, ${column} AS payload FROM ${table} WHERE ${column} IS NOT NULL`,
  );
  const hasVersion = ['chain_captures', 'gex_captures'].includes(table);
  for (const { id, payload } of rows) {
    const older = without(payload, name);
    const values: unknown[] = [older, id];
    let change = '';
    if (hasVersion) change = `, version = '${column} without ${name}'`;
    if (table === 'chain_captures') {
      const lines = lineColumns.filter((line) => line !== 'filled' && line !== name);
      values.push(JSON.stringify(layoutOf(older, lines)));
      change += ', layout = $3';
    }
    await store.pool.query(`UPDATE ${table} SET ${column} = $1${change} WHERE ctid = $2::tid`, values);
  }
}

const greeks = { iv: 0.2, delta: 0.5, gamma: 0.01, theta: -0.1, vega: 0.3 };
const rows = [
  chainRow({
    root: 'SPXW',
    expiry: '2026-12-18',
    right: 'call',
    strike: 4_700_000,
    openInterest: 12,
    volume: 3,
    bid: 1,
    ask: 2,
    last: 1.5,
    fmv: 1.6,
    ...greeks,
  }),
];

test.each([
  ...(['openInterest', 'volume', 'bid', 'ask', 'last', 'fmv', 'sharesPerContract'] as const),
  ...(['iv', 'delta', 'gamma', 'theta', 'vega'] as const),
])('a chain stored without %s reads it as unknown, the rest as written', async (name) => {
  const written = chainCapture('SPX', at, rows);
  await saveCaptures(store, { chains: [written] });
  await takeColumn('chain_captures', 'payload', name);
  const [chain] = await chainCapturesAt(store, [{ underlying: 'SPX', atMs: at }]);
  expect(chain).toEqual({ ...written, rows: [{ ...rows[0], [name]: null }] });
  await store.pool.query('DELETE FROM chain_captures');
});

test.each(['volume', 'bid', 'ask', 'last', 'iv', 'delta', 'gamma', 'vega'] as const)(
  "a contract's line of a chain stored without %s reads it as unknown",
  async (name) => {
    await saveCaptures(store, { chains: [chainCapture('NDX', at, [{ ...rows[0]!, root: 'NDX' }])] });
    await takeColumn('chain_captures', 'payload', name);
    const contract = { ...rows[0]!, root: 'NDX' };
    const lines = await contractLines(store, [{ underlying: 'NDX', contract }], { throughMs: at, captures: 1 });
    const [line] = [...lines.values()][0]!;
    expect(line).toMatchObject({ bid: 1, ask: 2, iv: 0.2, delta: 0.5, volume: 3, [name]: null });
    await store.pool.query('DELETE FROM chain_captures');
  },
);

const strikeRow = { strike: 600_000, expiry: day, gex: 5, deltaAdj: 2, callOi: 1, putOi: 2, gex0dte: 5 };
const figures = {
  maxPain: 600_000,
  expectedMoveStraddle: 3,
  expectedMoveSigma: 4,
  atmIv: 0.2,
  moveRatio: 1,
  inconsistent: true,
};

test.each(namesOf(strikeColumns).filter((name) => name !== 'gex'))(
  'a strike curve stored without %s reads it as unknown',
  async (name) => {
    await saveCaptures(store, { gex: [gexCapture('SPY', at, [strikeRow])] });
    await takeColumn('gex_captures', 'by_expiry', name);
    const read = await gexCapturesOf(store, ['SPY'], day, { fromMs: 0, toMs: 4e12, byExpiry: true });
    const [capture] = read.get('SPY')!;
    expect(gexRowAt(capture!.byExpiry!, 0)).toMatchObject({ strike: 600_000, expiry: day, gex: 5, [name]: null });
    await store.pool.query('DELETE FROM gex_captures');
  },
);

test.each([...namesOf(expiryColumns), 'inconsistent'])(
  'the figures of an expiry stored without %s read it as unknown',
  async (name) => {
    const expiries = [{ expiry: day, ...figures }];
    await saveCaptures(store, { gex: [gexCapture('SPY', at, [strikeRow], { expiries })] });
    await takeColumn('gex_captures', 'expiries', name);
    const read = await gexCapturesOf(store, ['SPY'], day, { fromMs: 0, toMs: 4e12, byExpiry: false });
    const unknown = name === 'inconsistent' ? false : null;
    expect(read.get('SPY')![0]!.expiries).toEqual([{ ...expiries[0], [name]: unknown }]);
    await store.pool.query('DELETE FROM gex_captures');
  },
);

test.each([1, 2])('solves stored without their last numbers (%i) read them as unknown', async (fewer) => {
  const [call, put] = ['O:SPY261218C00600000', 'O:SPY261218P00600000'] as const;
  const solve: GreeksSolve = {
    tsMs: at,
    iv: 0.2,
    delta: null,
    gamma: 0.01,
    mark: 3,
    bid: 2.9,
    ask: 3.1,
    markSource: 'mid',
  };
  const save = (tsMs: number) => {
    const solves = { [call]: [{ ...solve, tsMs }], [put]: [{ ...solve, tsMs, iv: 0.3 }] };
    return inTransaction(store, (tx) => saveSolves(tx, 'SPY', solves));
  };
  await save(at);
  const { rows: minutes } = await store.pool.query('SELECT payload, count FROM greeks_minutes');
  const [{ payload, count }] = minutes;
  const record = payload.length / count;
  const shorter = Array.from({ length: count }, (_, i) => [
    payload.subarray(i * record, (i + 1) * record - 8 * fewer - 1),
    payload.subarray((i + 1) * record - 1, (i + 1) * record),
  ]);
  const changed = [Buffer.concat(shorter.flat()), `${fewer} fewer`];
  await store.pool.query('UPDATE greeks_minutes SET payload = $1, version = $2', changed);
  const lost = namesOf(solveColumns).slice(-fewer);
  const older = { ...solve, ...Object.fromEntries(lost.map((name) => [name, null])) };
  const range = { throughMs: at + 60_000, today: day };
  const [minute] = await lastSolvedMinutes(store, [{ underlying: 'SPY', atMs: range.throughMs }]);
  expect([...minute!.solves]).toEqual([
    [call, older],
    [put, { ...older, iv: 0.3 }],
  ]);
  await save(at + 60_000);
  const keys = [{ underlying: 'SPY', contract: put }];
  const series = await readGreeksSeries(store, keys, { ...range, length: 5 });
  expect(series.get(put)).toEqual([
    { ...older, iv: 0.3 },
    { ...solve, iv: 0.3, tsMs: at + 60_000 },
  ]);
  await store.pool.query('DELETE FROM greeks_minutes');
});

test('a solve whose record is cut short is an error', () => {
  const record = encodeSolves(
    new Map([[0, { tsMs: at, iv: 0.2, delta: 0.5, gamma: 0.01, mark: 3, bid: null, ask: null, markSource: 'last' }]]),
  );
  expect(decodeSolve(record, at)).toMatchObject({ mark: 3, markSource: 'last' });
  for (const cut of [0, 1, 25, record.length - 1])
    expect(() => decodeSolve(record.subarray(0, cut), at)).toThrow('cut short');
});

const bars = stockBlockKey('1m', { symbol: 'SPY', spanStart: day });

test.each([...barColumnNames.filter((name) => name !== 'tsMs'), 'pricedVolume'])(
  'bars stored without %s read it as unknown',
  (name) => {
    const bar = { tsMs: at, open: 2, high: 4, low: 1, close: 3, volume: 7, vwap: 2.5, tradeCount: 2 };
    const written = { ...toBarColumns([bar]), pricedVolume: Float64Array.of(6) };
    const read = decodeBars(without(encodeBars(written, bars), name), bars) as unknown as Columns;
    // The priced volume has a column only where it is not the whole volume.
    if (name === 'pricedVolume') expect(read.pricedVolume).toBeUndefined();
    else expect(read).toEqual({ ...written, [name]: Float64Array.of(Number.NaN) });
  },
);

test.each(['callVolume', 'putPremiumUsd', 'putTradeCount'] as const)(
  'a cross-section stored without %s reads it as unknown',
  async (name) => {
    const section = {
      symbol: 'SPY',
      seq: 1,
      coverage: coverage(day, 600),
      byStrike: [{ strikeThousandths: 600_000, measures: measures(10) }],
      byExpiration: [{ expiry: day, measures: measures(10) }],
    };
    await inTransaction(store, async (tx) => {
      await saveCoverages(tx, new Map([['SPY', section.coverage]]));
      await saveCrossSections(tx, [section]);
    });
    for (const column of ['by_strike', 'by_expiration']) await takeColumn('cross_sections', column, name);
    const read = (await readCrossSections(store, ['SPY'], day, 4e12)).get('SPY')!;
    const unknown = ({ measures, ...row }: { measures: object }) => ({
      ...row,
      measures: { ...measures, [name]: null },
    });
    expect(read.byStrike).toEqual(section.byStrike.map(unknown));
    expect(read.byExpiration).toEqual(section.byExpiration.map(unknown));
  },
);

test.each(['vwap', 'tradeCount'] as const)('the row of a bar stored without %s has it as null', (name) => {
  const bar = { tsMs: at, open: 2, high: 4, low: 1, close: 3, volume: 7, vwap: 2.5, tradeCount: 2 };
  const read = decodeBars(without(encodeBars(toBarColumns([bar]), bars), name), bars);
  expect(barAt(read, 0)).toEqual({ ...bar, [name]: null });
});

test('a block that does not say which rows it has is an error, never a wrong row', () => {
  const bar = { tsMs: at, open: 2, high: 4, low: 1, close: 3, volume: 7, vwap: 2.5, tradeCount: 2 };
  expect(() => decodeBars(without(encodeBars(toBarColumns([bar]), bars), 'tsMs'), bars)).toThrow('no numbers tsMs');
  const profile = encodeBlock({ price: Float64Array.of(600), gex: Float64Array.of(5) });
  expect(() => rowColumns(decodeBlock(without(profile, 'gex')), profileColumns)).toThrow('no numbers gex');
});
