// Prints of a live tape whose ids or numbers repeat, prints of ended sessions, and the day's close.
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { type FollowOptions, follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { contractMinutesOf } from '../../../../src/store/flow/contract-minutes.ts';
import { stockBlockKey } from '../../../../src/store/market/bar-blocks.ts';
import { decodeBars } from '../../../../src/store/market/bar-codec.ts';
import { readLiveQuotes } from '../../../../src/store/market/live-quotes.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import type { TestStore } from '../../../support/store.ts';
import { contentsOf } from '../../../support/store-contents.ts';
import { marketForThisTest, open, option, options, piecesOf, session, stock, stored, time } from './followed-tape.ts';

const following = (store: TestStore, lines: readonly string[], change: Partial<FollowOptions> = {}) =>
  follow(store, Readable.from(piecesOf([...lines], 700)), options({ everyMs: 0, ...change }));

/** Prints of a stock and of a contract, all numbered 0; some are equal in all their fields. */
const unnamed = Array.from({ length: 60 }, (_, i) => [
  stock(1000 * i, 0, 600 + (i % 5), { exchange: 11 }),
  ...(i % 9 === 0 ? [stock(1000 * i, 0, 600 + (i % 5), { exchange: 11 })] : []),
  option(1000 * i, 0, 1 + (i % 3), 100),
  ...(i % 7 === 0 ? [option(1000 * i, 0, 1 + (i % 3), 100)] : []),
]).flat();
const [stocks, contracts] = [60 + 7, 60 + 9];

/** The stored day bar of a stock. */
async function dayBar(store: TestStore, symbol: string) {
  const of = `SELECT payload, span_start FROM bar_blocks WHERE timeframe = '1d' AND symbol = $1`;
  const { rows } = await store.pool.query(of, [symbol]);
  return decodeBars(rows[0].payload, stockBlockKey('1d', { symbol, spanStart: rows[0].span_start }));
}

/** Shares of the day bar, and contracts of the minutes. */
async function volumes(store: TestStore): Promise<number[]> {
  const { rows } = await store.pool.query('SELECT contracts, payload FROM contract_minute_blocks');
  const volume = rows.flatMap((row) => [...contractMinutesOf(row).volume]).reduce((sum, each) => sum + each, 0);
  return [(await dayBar(store, 'SPY')).volume[0]!, volume];
}

describe('a live tape whose ids and numbers are all 0', () => {
  test('has all its prints, however it comes in pieces', async () => {
    const [store, other] = [await marketForThisTest(), await marketForThisTest()];
    const report = await following(store, unnamed);
    expect(report).toMatchObject({ duplicates: 0, late: 0 });
    expect(await volumes(store)).toEqual([stocks * 100, contracts * 100]);
    await follow(other, Readable.from(piecesOf(unnamed, 1e9)), options());
    expect(await stored(other)).toEqual(await stored(store));
  });

  test('has them once if it is sent again to the next follower', async () => {
    const store = await marketForThisTest();
    await following(store, unnamed);
    const before = await stored(store);
    const report = await following(store, unnamed);
    expect(report.duplicates).toBe(stocks + contracts);
    expect(await stored(store)).toEqual(before);
    await following(store, unnamed.slice(20));
    expect(await stored(store)).toEqual(before);
  });

  test('loses none where one follower ends and the next continues, also between equal prints', async () => {
    const whole = await marketForThisTest();
    await following(whole, unnamed);
    const store = await marketForThisTest();
    for (let from = 0; from < unnamed.length; from += 5) await following(store, unnamed.slice(from, from + 5));
    expect(await volumes(store)).toEqual(await volumes(whole));
  });
});

describe('a tape that repeats a print exactly where its follower was killed', () => {
  /** Numbers repeat, and each print is on the tape twice: a copy of each print follows after all of them. */
  const lines = [...unnamed, ...unnamed];
  const wholeStore = async () => {
    const store = await marketForThisTest();
    await following(store, lines);
    return store;
  };

  test('counts as often as if it had not been, sent from its start', async () => {
    const [whole, store] = [await wholeStore(), await marketForThisTest()];
    await following(store, unnamed);
    await following(store, lines, { fromStart: true });
    expect(await volumes(store)).toEqual(await volumes(whole));
  });

  test('counts as often as if it had not been, continued by its place', async () => {
    const [whole, store] = [await wholeStore(), await marketForThisTest()];
    const resumed: string[] = [];
    const places = {
      resumeAfter: (place: string) => void resumed.push(place),
      of: (piece: number) => `piece ${piece}`,
    };
    await following(store, unnamed, { places });
    await following(store, unnamed, { places });
    expect(resumed).toEqual([`piece ${piecesOf(unnamed, 700).length}`]);
    expect(await volumes(store)).toEqual(await volumes(whole));
  });
});

test('records of an ended session are counted, and reported once per session', async () => {
  const store = await marketForThisTest();
  const day = 86_400_000;
  const sessions: string[] = [];
  const lines = [
    ...[stock(0, 1, 600), option(0, 1, 2, 100)],
    ...[stock(day, 2, 601), time(day + 60_000)],
    ...[stock(1000, 3, 700), option(1000, 3, 2, 100), stock(day + 61_000, 4, 602)],
  ];
  const report = await following(store, lines, {
    now: () => open + day + 7_200_000,
    onLate: (of) => sessions.push(of),
  });
  expect(report).toMatchObject({ late: 2, badLines: 0 });
  expect(sessions).toEqual([session, session]);
});

describe.skipIf(!hasSharedData)(
  'the day bar of a tape with the listing exchange’s closing print (no shared data)',
  () => {
    const path = hasSharedData ? sharedData('ingest_inputs/official-close-prints.csv') : '';
    const now = () => exchangeInstant('2026-11-14', 720);
    test('closes at it, as a file and followed', async () => {
      const [file, live] = [await marketForThisTest(), await marketForThisTest()];
      await ingestFiles(file, 'stock-trades', [path], { now });
      const [names, ...rows] = readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((row) => row.split(','));
      const lines = rows.map((row) => {
        const field = (name: string) => row[names!.indexOf(name)]!;
        const conditions = field('conditions') === '' ? [] : [Number(field('conditions'))];
        return `${JSON.stringify({
          type: 'stock_print',
          symbol: field('ticker'),
          exchange: +field('exchange'),
          id: field('id'),
          price: +field('price'),
          size: +field('size'),
          conditions,
          sip_timestamp: field('sip_timestamp'),
          sequence_number: +field('sequence_number'),
          tape: +field('tape'),
        })}\n`;
      });
      // In two runs: a restart keeps it.
      await following(live, lines.slice(0, 2), { now });
      await following(live, lines.slice(2), { now });
      const bars = async (store: TestStore) => (await contentsOf(store)).bar_blocks;
      expect((await dayBar(file, 'ADBE')).close[0]).toBe(50.2);
      expect((await dayBar(live, 'ADBE')).close[0]).toBe(50.2);
      expect((await readLiveQuotes(live, ['ADBE'])).get('ADBE')).toMatchObject({ spot: 50.2 });
      expect(await bars(live)).toEqual(await bars(file));
    });
  },
);
