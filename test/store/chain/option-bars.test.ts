import { expect, test } from 'vitest';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { type Bar, barAt, barColumns, toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { latestOpenInterest, saveOpenInterest } from '../../../src/store/chain/open-interest.ts';
import {
  lockOptionBars,
  optionBlockKey,
  readOptionBars,
  saveLiveOptionBars,
  saveOptionBars,
} from '../../../src/store/chain/option-bars.ts';
import { encodeBars } from '../../../src/store/market/bar-codec.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';

const id = 'O:SPXW240308C05100000';
const contract = readOptionContract(id)!;
const session = '2024-03-08';
const bar = (minute: number, close: number): Bar => ({
  tsMs: 1_709_908_200_000 + minute * 60_000,
  open: 1,
  high: 9,
  low: 1,
  close,
  volume: 10,
  vwap: null,
  tradeCount: 3,
});

const save = (store: TestStore, status: 'observed_live' | 'eod_reconciled', bars: Bar[]) =>
  inTransaction(store, async (tx) => {
    await lockOptionBars(tx);
    const run = { underlying: 'SPX', sessionDate: session, contract: id, bars: toBarColumns(bars) };
    return (await saveOptionBars(tx, status, [run])).length;
  });

async function read(store: TestStore) {
  const { bars, status } = await readOptionBars(store, { underlying: 'SPX', contract }, session, '1m');
  return { status, bars: Array.from(bars.tsMs, (_, i) => barAt(bars, i)) };
}

test('option bars are merged, and left alone when nothing differs', async () => {
  const store = await storeForThisTest();
  expect(await read(store)).toEqual({ status: null, bars: [] });
  expect(await save(store, 'observed_live', [bar(0, 2), bar(2, 3)])).toBe(1);
  expect(await save(store, 'observed_live', [bar(1, 5), bar(2, 4)])).toBe(1);
  expect(await read(store)).toEqual({ status: 'observed_live', bars: [bar(0, 2), bar(1, 5), bar(2, 4)] });
  expect(await save(store, 'observed_live', [bar(1, 5)])).toBe(0);
});

test('reconciled bars replace observed ones whole', async () => {
  const store = await storeForThisTest();
  await save(store, 'observed_live', [bar(0, 2), bar(7, 3)]);
  expect(await save(store, 'eod_reconciled', [bar(0, 2)])).toBe(1);
  expect(await read(store)).toEqual({ status: 'eod_reconciled', bars: [bar(0, 2)] });
});

test('live bars are written a part of the session at a time, and read as one; reconciled ones take their place', async () => {
  const store = await storeForThisTest();
  const minutes = (...at: number[]) => at.map((minute) => bar(minute, 2 + minute / 100));
  const write = (fromMinute: number, bars: Bar[]) =>
    inTransaction(store, async (tx) => {
      await lockOptionBars(tx);
      const run = { underlying: 'SPX', sessionDate: session, contract: id, rest: barColumns(0) };
      await saveLiveOptionBars(tx, [{ ...run, fromMs: bar(fromMinute, 0).tsMs, bars: toBarColumns(bars) }]);
    });
  const blocks = async () =>
    (await store.pool.query('SELECT count FROM option_bar_blocks ORDER BY part')).rows.map((row) => row.count);
  // The first minute of the tests is the session's 09:30, where a part begins.
  await write(0, minutes(0, 14, 15, 31));
  expect(await blocks()).toEqual([2, 1, 1]);
  await write(32, minutes(31, 32));
  expect(await read(store)).toEqual({ status: 'observed_live', bars: minutes(0, 14, 15, 31, 32) });
  // All that traded from its quarter of an hour on was taken back.
  await write(16, []);
  expect(await read(store)).toEqual({ status: 'observed_live', bars: minutes(0, 14) });
  expect(await save(store, 'eod_reconciled', minutes(0, 14))).toBe(1);
  await write(32, minutes(32));
  expect(await read(store)).toEqual({ status: 'eod_reconciled', bars: minutes(0, 14) });
});

test('five minutes are made of the minutes, also of a session observed part by part', async () => {
  const store = await storeForThisTest();
  const sized = (minute: number, vwap: number) => ({ ...bar(minute, 2), vwap, volume: 100 });
  const minutes = [sized(0, 2), sized(4, 4), sized(5, 3), sized(15, 5), sized(16, 5)];
  const pricedVolume = Float64Array.of(100, 50, 100, 0, 100);
  await inTransaction(store, async (tx) => {
    await lockOptionBars(tx);
    const run = {
      underlying: 'SPX',
      sessionDate: session,
      contract: id,
      fromMs: minutes[0]!.tsMs,
      rest: barColumns(0),
    };
    await saveLiveOptionBars(tx, [{ ...run, bars: { ...toBarColumns(minutes), pricedVolume } }]);
  });
  const { bars, status } = await readOptionBars(store, { underlying: 'SPX', contract }, session, '5m');
  expect(status).toBe('observed_live');
  expect(
    Array.from(bars.tsMs, (tsMs, i) => [(tsMs - minutes[0]!.tsMs) / 60_000, bars.volume[i], bars.vwap[i]]),
  ).toEqual([
    [0, 200, 4_000_000 / 150 / 10_000],
    [5, 100, 3],
    [15, 200, 5],
  ]);
});

test('five minutes that a release before stored are read until their contract is written again', async () => {
  const store = await storeForThisTest();
  await save(store, 'eod_reconciled', [bar(0, 2), bar(1, 3)]);
  const key = optionBlockKey({ contract: id, sessionDate: session }, '5m', 'eod_reconciled');
  const payload = Buffer.from(encodeBars(toBarColumns([{ ...bar(0, 3), vwap: 7.25 }]), key));
  await store.pool.query(
    `INSERT INTO option_bar_blocks (underlying, session_date, contract, timeframe, part, status, count, version, payload)
     VALUES ('SPX', $1, $2, '5m', 0, 'eod_reconciled', 1, 'of a release before', $3)`,
    [session, id, payload],
  );
  const vwaps = async () =>
    Array.from((await readOptionBars(store, { underlying: 'SPX', contract }, session, '5m')).bars.vwap);
  expect(await vwaps()).toEqual([7.25]);
  expect((await read(store)).bars).toEqual([bar(0, 2), bar(1, 3)]);
  await save(store, 'eod_reconciled', [{ ...bar(1, 3), vwap: 4 }]);
  expect(await vwaps()).toEqual([Number.NaN]);
});

test('open interest is merged by contract, the new figure counting', async () => {
  const store = await storeForThisTest();
  const at = (text: string, openInterest: number) => ({ ...readOptionContract(text)!, openInterest });
  const write = (...rows: ReturnType<typeof at>[]) =>
    inTransaction(store, (tx) => saveOpenInterest(tx, [{ underlying: 'SPX', sessionDate: session, rows }]));
  expect(await write(at('O:SPX240315P05000000', 7), at(id, 0))).toBe(1);
  expect(await write(at(id, 0))).toBe(0);
  expect(await write(at(id, 4))).toBe(1);
  const read = (through: string) => latestOpenInterest(store, ['SPX', 'NDX'], through);
  const published = {
    sessionDate: session,
    byContract: new Map([id.slice(2), 'SPX240315P05000000'].map((one, i) => [one, i ? 7 : 4])),
    listed: { capturedAt: exchangeInstant(session), expirations: ['2024-03-08', '2024-03-15'] },
  };
  expect(await read(session)).toEqual([published, null]);
  expect(await read('2024-03-07')).toEqual([null, null]);
});
