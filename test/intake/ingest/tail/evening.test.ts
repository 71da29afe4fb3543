import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { type FollowOptions, follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { saveSymbols } from '../../../../src/store/market/symbols.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { testSymbols } from '../../../support/app.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { randomOf } from '../../../support/random.ts';
import { type TestStore, testStore } from '../../../support/store.ts';

/*
 * A tape that continues over 20:00 New York, where the session of the next trade date begins. Prints of the ended
 * session come late, behind the first of the new one.
 */
const [monday, tuesday] = ['2026-11-16', '2026-11-17'];
const turnMs = exchangeInstant(monday!, 20 * 60);
const contracts = ['O:SPY261218C00600000', 'O:AAPL261218C00250000'];

/** A line of the tape, and its time after 20:00. */
interface Line {
  ms: number;
  text: string;
}
const line = (ms: number, value: object): Line => ({
  ms,
  text: `${JSON.stringify({ sip_timestamp: `${turnMs + ms}000000`, ...value })}\n`,
});
const stock = (ms: number, id: number) =>
  line(ms, {
    type: 'stock_print',
    symbol: 'SPY',
    exchange: id % 3 === 0 ? 4 : 11,
    id: String(id),
    sequence_number: id,
    price: 600 + (id % 7) / 100,
    size: 100,
  });
const option = (ms: number, id: number) =>
  line(ms, {
    type: 'option_print',
    contract: contracts[id % 2],
    exchange: 302,
    conditions: [209],
    sequence_number: id,
    price: 2 + (id % 5) / 10,
    size: 100 + 100 * (id % 9),
  });
const time = (ms: number) => line(ms, { type: 'time' });

/** Ten seconds on both sides of 20:00, in order of time. */
const inOrder: Line[] = Array.from({ length: 200 }, (_, i) => {
  const ms = (i - 100) * 100;
  return i % 10 === 9 ? time(ms) : i % 2 === 0 ? stock(ms, i + 1) : option(ms, i + 1);
});

/** The same lines, each up to four seconds later than another. */
function shuffled(): Line[] {
  const random = randomOf(5);
  // If event time advances by itself, nothing earlier is late.
  const prints = inOrder.map((each) => ({
    each,
    at: each.ms + (each.text.includes('"time"') ? 0 : random.below(4000)),
  }));
  return prints.sort((a, b) => a.at - b.at).map(({ each }) => each);
}

/** A store that knows the symbols on the tape. */
async function market(): Promise<TestStore> {
  const store = await testStore();
  await inTransaction(store, (tx) => saveSymbols(tx, testSymbols));
  onTestFinished(() => store.close());
  return store;
}

/** A clock that never stands still, from an hour after the tape on. */
function clock(fromMs = turnMs + 3_600_000) {
  let ms = fromMs;
  return () => ms++;
}
const options = (change: Partial<FollowOptions> = {}): FollowOptions => ({
  source: 'stdin',
  fromStart: true,
  everyMs: 0,
  now: clock(),
  stop: new AbortController().signal,
  gammaSource: 'solve',
  rate: 0.045,
  onBadLine: () => {},
  ...change,
});
const piecesOf = (lines: readonly Line[], atOnce = 7): Buffer[] =>
  Array.from({ length: Math.ceil(lines.length / atOnce) }, (_, i) =>
    Buffer.from(
      lines
        .slice(i * atOnce, (i + 1) * atOnce)
        .map(({ text }) => text)
        .join(''),
    ),
  );
const take = (store: TestStore, lines: readonly Line[], change: Partial<FollowOptions> = {}, atOnce?: number) =>
  follow(store, Readable.from(piecesOf(lines, atOnce)), options(change));

/** Stored rows, without the numbers that count commits or arrivals. */
async function stored(store: TestStore): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  const flow = ['flow_events', 'flow_legs', 'flow_coverage', 'cross_sections', 'contract_minute_blocks'];
  for (const table of ['bar_blocks', 'live_quotes', ...flow]) {
    const { rows } = await store.pool.query(`SELECT ${modelColumns(table)} FROM ${table}`);
    all[table] = rows.map(({ seq, registry_version, ...row }) => JSON.stringify(row)).sort();
  }
  const { rows } = await store.pool.query(`SELECT ${modelColumns('option_bar_blocks')} FROM option_bar_blocks`);
  all.option_bar_blocks = rows.map((row) => JSON.stringify(row)).sort();
  return all;
}

const datesOf = async (store: TestStore, table: string, column = 'session_date') =>
  (await store.pool.query(`SELECT DISTINCT ${column} AS date FROM ${table} ORDER BY 1`)).rows.map(({ date }) => date);

describe('a live tape that goes on over 20:00', () => {
  let store: TestStore;
  let expected: Record<string, string[]>;
  beforeAll(async () => {
    store = await testStore();
    await inTransaction(store, (tx) => saveSymbols(tx, testSymbols));
    await take(store, inOrder);
    expected = await stored(store);
  });
  afterAll(() => store.close());

  test('is two sessions, each with its own prints', async () => {
    for (const table of ['flow_coverage', 'flow_events', 'cross_sections', 'option_bar_blocks'])
      expect([table, await datesOf(store, table)]).toEqual([table, [monday, tuesday]]);
    expect(await datesOf(store, `bar_blocks WHERE timeframe = '1m'`, 'span_start')).toEqual([monday, tuesday]);
    const { rows } = await store.pool.query('SELECT session_date, volume FROM live_quotes');
    const after = inOrder.filter(({ ms, text }) => ms >= 0 && text.includes('stock')).length;
    expect(rows).toEqual([{ session_date: tuesday, volume: 100 * after }]);
  });

  test('has the same figures when prints of the session that ended come behind the first of the new one', async () => {
    const late = shuffled();
    const first = late.findIndex(({ ms }) => ms >= 0);
    expect(late.slice(first).filter(({ ms }) => ms < 0).length).toBeGreaterThan(3);
    for (const atOnce of [1, 7, 1000]) {
      const store = await market();
      await take(store, late, {}, atOnce);
      expect(await stored(store)).toEqual(expected);
    }
  });

  test('loses and repeats nothing when its follower is killed before, while and after both sessions are open', async () => {
    const late = shuffled();
    const store = await market();
    const open = new Set<string>();
    const position = async () => {
      const { rows } = await store.pool.query(`SELECT value FROM store_facts WHERE key = 'followed stdin'`);
      return rows[0] ? JSON.parse(rows[0].value) : null;
    };
    // Each clock continues from the one before.
    const now = clock();
    for (let killed = true; killed; ) {
      let commits = 0;
      const onCommit = () => (++commits === 4 ? Promise.reject(new Error('killed')) : Promise.resolve());
      killed = await take(store, late, { onCommit, now }).then(
        () => false,
        ({ message }: Error) => message === 'killed',
      );
      const { session, ended } = await position();
      open.add(`${session} ${ended?.session ?? '-'}`);
    }
    expect([...open]).toEqual([`${monday} -`, `${tuesday} ${monday}`, `${tuesday} -`]);
    expect(await stored(store)).toEqual(expected);
    expect(await datesOf(store, 'followed_lines')).toEqual([tuesday]);
  });

  test('does not switch with time alone', async () => {
    const store = await market();
    await take(store, [stock(-1000, 1), time(1000), time(60_000), time(3_600_000)]);
    const { rows } = await store.pool.query(`SELECT value FROM store_facts WHERE key = 'followed stdin'`);
    expect(JSON.parse(rows[0].value).session).toBe(monday);
  });

  test('goes on with the session in progress after a time that is an hour ahead', async () => {
    const store = await market();
    const now = clock(turnMs - 50 * 60_000);
    const [before, ahead, after] = [stock(-50 * 60_000, 1), stock(5 * 60_000, 2), stock(-45 * 60_000, 3)];
    await take(store, [before, ahead, after, time(-40 * 60_000)], { now }, 1);
    const { rows } = await store.pool.query(
      `SELECT span_start AS date, count FROM bar_blocks WHERE timeframe = '1m' ORDER BY 1`,
    );
    expect(rows).toEqual([
      { date: monday, count: 2 },
      { date: tuesday, count: 1 },
    ]);
  });
});
