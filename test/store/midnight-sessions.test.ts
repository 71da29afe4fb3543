import { afterAll, beforeAll, expect, test } from 'vitest';
import { tradeSpan } from '../../src/core/domain/calendar.ts';
import { readOptionContract } from '../../src/core/domain/chain/option-contract.ts';
import { type Bar, barAt, barColumns, type Timeframe, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeDate, exchangeInstant } from '../../src/core/domain/market-time.ts';
import {
  lockOptionBars,
  optionBlockKey,
  readOptionBars,
  saveLiveOptionBars,
} from '../../src/store/chain/option-bars.ts';
import { lastBarStarts, readBars, stockBlockKey, writeBars } from '../../src/store/market/bar-blocks.ts';
import { encodeBars, spanStart } from '../../src/store/market/bar-codec.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { flatBar } from '../support/market.ts';
import { storeForThisTest, type TestStore } from '../support/store.ts';

/*
 * Earlier releases cut sessions at midnight New York: what traded from 20:00 on, and on days without trading, is stored
 * under its own date. 2026-11-20 is a Friday.
 */
const [friday, saturday, monday] = ['2026-11-20', '2026-11-21', '2026-11-23'];
const at = (date: string, hour: number, minute = 0) => exchangeInstant(date, hour * 60 + minute);

/** Stores bars as an earlier release did. */
async function storeAtMidnight(store: TestStore, timeframe: Timeframe, bars: readonly Bar[]): Promise<void> {
  const blocks = Map.groupBy(bars, ({ tsMs }) => spanStart(timeframe, exchangeDate(tsMs)));
  for (const [start, own] of blocks) {
    const key = stockBlockKey(timeframe, { symbol: 'SPY', spanStart: start });
    const payload = Buffer.from(encodeBars(toBarColumns([...own]), key));
    await store.pool.query(
      `INSERT INTO bar_blocks (symbol, timeframe, span_start, first_ts_ms, last_ts_ms, count, version, payload)
       VALUES ('SPY', $1, $2, $3, $4, $5, 'of a release before', $6)`,
      [timeframe, start, own[0]!.tsMs, own.at(-1)!.tsMs, own.length, payload],
    );
  }
}

const read = async (store: TestStore, timeframe: Timeframe, fromMs: number, toMs: number, limit = Infinity) => {
  const { bars, more } = (await readBars(store, ['SPY'], timeframe, { fromMs, toMs, limit })).get('SPY')!;
  return { more, bars: Array.from(bars.tsMs, (_, i) => [bars.tsMs[i], bars.close[i]]) };
};
const rowsOf = (bars: readonly Bar[]) => bars.map(({ tsMs, close }) => [tsMs, close]);

const old = [
  ...[flatBar(at(friday!, 10), 1), flatBar(at(friday!, 19, 59), 2), flatBar(at(friday!, 20), 3)],
  ...[flatBar(at(friday!, 23, 59), 4), flatBar(at(saturday!, 11), 5), flatBar(at(monday!, 10), 6)],
];

test.each(['1s', '1m', '5m'] as const)('evening bars of %s stored under their own date are read', async (timeframe) => {
  const store = await storeForThisTest();
  await storeAtMidnight(store, timeframe, old);
  expect(await read(store, timeframe, at(friday!, 0), at(monday!, 24))).toEqual({ more: false, bars: rowsOf(old) });
  for (const [i, bar] of old.entries()) {
    expect((await read(store, timeframe, bar.tsMs, bar.tsMs + 1)).bars).toEqual(rowsOf([bar]));
    const before = await lastBarStarts(store, ['SPY'], timeframe, at(friday!, 0), bar.tsMs + 1);
    expect(before.get('SPY')).toBe(bar.tsMs);
    expect(await read(store, timeframe, at(friday!, 0), at(monday!, 24), i + 1)).toEqual({
      more: i + 1 < old.length,
      bars: rowsOf(old.slice(0, i + 1)),
    });
  }
});

test.each(['1s', '1m', '5m'] as const)(
  'bars of %s written since stand between them, and count where both have one',
  async (timeframe) => {
    const store = await storeForThisTest();
    await storeAtMidnight(store, timeframe, old);
    const written = [
      ...[flatBar(at(friday!, 20), 30), flatBar(at(friday!, 21), 31), flatBar(at(saturday!, 11), 50)],
      ...[flatBar(at('2026-11-22', 20, 15), 60)],
    ];
    await inTransaction(store, (tx) => writeBars(tx, timeframe, [{ symbol: 'SPY', bars: toBarColumns(written) }]));
    const replaced = new Map([...old, ...written].map((bar) => [bar.tsMs, bar]));
    const all = [...replaced.values()].sort((a, b) => a.tsMs - b.tsMs);
    expect(await read(store, timeframe, at(friday!, 0), at(monday!, 24))).toEqual({ more: false, bars: rowsOf(all) });
    for (const [i, bar] of all.entries()) {
      expect(await read(store, timeframe, at(friday!, 0), at(monday!, 24), i + 1)).toEqual({
        more: i + 1 < all.length,
        bars: rowsOf(all.slice(0, i + 1)),
      });
      const before = await lastBarStarts(store, ['SPY'], timeframe, at(friday!, 0), bar.tsMs + 1);
      expect(before.get('SPY')).toBe(bar.tsMs);
    }
  },
);

test('hours of the last evening of a month, stored in its block, are read', async () => {
  const store = await storeForThisTest();
  const hours = [at('2026-11-30', 19), at('2026-11-30', 21), at('2026-12-01', 4)].map((tsMs, i) =>
    flatBar(tsMs, i + 1),
  );
  await storeAtMidnight(store, '1h', hours);
  expect((await read(store, '1h', at('2026-11-30', 20), at('2026-11-30', 24))).bars).toEqual(rowsOf([hours[1]!]));
  await inTransaction(store, (tx) =>
    writeBars(tx, '1h', [{ symbol: 'SPY', bars: toBarColumns([flatBar(at('2026-11-30', 20), 9)]) }]),
  );
  expect((await read(store, '1h', at('2026-11-30', 0), at('2026-12-02', 0))).bars).toEqual(
    rowsOf([hours[0]!, flatBar(at('2026-11-30', 20), 9), hours[1]!, hours[2]!]),
  );
});

test('the whole tape of a session takes the place of what was stored of its evening under the date before', async () => {
  const store = await storeForThisTest();
  await storeAtMidnight(store, '1m', old);
  const whole = tradeSpan(monday!);
  const bars = toBarColumns([flatBar(at(friday!, 22), 7), flatBar(at(monday!, 10), 8)]);
  await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars, whole }]));
  expect((await read(store, '1m', at(friday!, 0), at(monday!, 24))).bars).toEqual([
    ...rowsOf(old.slice(0, 2)),
    [at(friday!, 22), 7],
    [at(monday!, 10), 8],
  ]);
  const { rows } = await store.pool.query('SELECT span_start AS date, count FROM bar_blocks ORDER BY 1');
  expect(rows).toEqual([
    { date: friday, count: 2 },
    { date: monday, count: 2 },
  ]);
});

test('minutes of an option contract before midnight are parts of their session in order, and leave a whole one alone', async () => {
  const store = await storeForThisTest();
  const id = 'O:SPXW261218C06000000';
  const contract = { underlying: 'SPX', contract: readOptionContract(id)! };
  const run = { underlying: 'SPX', sessionDate: monday!, contract: id, rest: barColumns(0) };
  const minutes = [at('2026-11-22', 20, 15), at('2026-11-22', 23, 59), at(monday!, 0), at(monday!, 9, 30)];
  const bars = minutes.map((tsMs, i) => flatBar(tsMs, i + 1));
  const write = (from: number) =>
    inTransaction(store, async (tx) => {
      await lockOptionBars(tx);
      await saveLiveOptionBars(tx, [{ ...run, fromMs: minutes[from]!, bars: toBarColumns(bars.slice(from)) }]);
    });
  const stored = async () => {
    const { bars, status } = await readOptionBars(store, contract, monday!, '1m');
    return { status, bars: Array.from(bars.tsMs, (_, i) => barAt(bars, i)) };
  };
  await write(2);
  await write(0);
  expect(await stored()).toEqual({ status: 'observed_live', bars });
  const { rows } = await store.pool.query('SELECT part FROM option_bar_blocks ORDER BY part');
  // As they were numbered before: from 1 at midnight on.
  expect(rows.map(({ part }) => part)).toEqual([-15, -1, 1, 39]);
  const whole = optionBlockKey({ contract: id, sessionDate: monday! }, '1m', 'eod_reconciled');
  await store.pool.query(
    `INSERT INTO option_bar_blocks (underlying, session_date, contract, timeframe, part, status, count, version, payload)
     VALUES ('SPX', $1, $2, '1m', 0, 'eod_reconciled', 1, 'whole', $3)`,
    [monday, id, Buffer.from(encodeBars(toBarColumns([bars[3]!]), whole))],
  );
  await write(0);
  expect(await stored()).toEqual({ status: 'eod_reconciled', bars: [bars[3]] });
});

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: at(monday!, 12) });
});
afterAll(() => app.close());

test.each([
  ['its own date', friday!],
  ['its trade date', monday!],
])('an evening event that is stored under %s is in that session and found by its id', async (_, session) => {
  const tsMs = at(friday!, 21) + (session === monday ? 1 : 0);
  const trade = largeTrade([leg('O:SPY261218C00600000', tsMs)], 1, coverage(session, 600));
  await storeLargeTrades(app.store, [trade]);
  const { body } = await app.get(`/v2/flow/large-trades?symbol=SPY&session=${session}`);
  const ids = body.data.events.map(({ update }: { update: { event: { event_id: string } } }) => update.event.event_id);
  expect(ids).toEqual([trade.event.eventId]);
  const credential = await app.session();
  const asked = `{ largeTrades(symbol: "SPY", session: "${session}") { events { update { event { id } } } } }`;
  const found = await app.graphql(asked, {}, { credential });
  const { id } = found.data.largeTrades.events[0].update.event;
  const node = await app.graphql(
    'query($id: ID!) { node(id: $id) { ... on FlowEvent { eventId } } }',
    { id },
    { credential },
  );
  expect(node.data.node).toEqual({ eventId: trade.event.eventId });
});
