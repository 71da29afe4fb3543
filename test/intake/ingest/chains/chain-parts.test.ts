// The files of a session make the same captures in whatever order they arrive; a capture that lacks contracts of the
// largest one is stored and served at its own time alone.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isIncomplete } from '../../../../src/core/domain/chain/chain.ts';
import type { OptionRight } from '../../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant, type SessionDate } from '../../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../../src/intake/ingest/chains/chain.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { chainCaptureOf, chainCapturesAt } from '../../../../src/store/chain/chain-captures.ts';
import { saveSeals } from '../../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { chainCapture, chainRow } from '../../../support/option-market.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { worth } from '../../../support/tapes/quoted-tape.ts';

const session = '2026-11-16';
const expiries = ['2026-11-18', '2026-11-20', '2026-12-18', '2027-01-15'];
const strikes = [5900, 5950, 6000, 6050, 6100];
const settings = { gammaSource: 'solve', rate: 0.045 } as const;

interface Page {
  minute: number;
  /** Indexes of the expiries that it lists. */
  of: readonly number[];
  date?: SessionDate;
  spot?: number;
  /** The price that the quotes imply; that of the page if absent. */
  quotedAt?: number;
  isPriced?: boolean;
  openInterest?: number | null;
  strikes?: readonly number[];
  rights?: readonly OptionRight[];
}

const both = ['call', 'put'] as const;

function pageOf({ minute, of, date = session, spot = 6000, quotedAt = spot, isPriced = true, ...page }: Page) {
  const { openInterest = 100, strikes: listed = strikes, rights = both } = page;
  const tsMs = exchangeInstant(date, minute);
  const rows = of.flatMap((index) =>
    listed.flatMap((strike) =>
      rights.map((right) => {
        const contract = { root: 'SPXW', expiry: expiries[index]!, right, strike: strike * 1000 };
        const fair = worth(contract, quotedAt, tsMs);
        return chainRow({ ...contract, openInterest, bid: Math.max(0.01, fair - 0.02), ask: fair + 0.02 });
      }),
    ),
  );
  return chainCapture(
    'SPX',
    tsMs,
    rows,
    isPriced ? { spot, priorCloseSpot: 6000 } : { spot: null, priorCloseSpot: null },
  );
}

const all = [0, 1, 2, 3];
const at = (minute: number, date = session) => exchangeInstant(date, minute);

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());
beforeEach(() => store.pool.query('TRUNCATE chain_captures, gex_captures, session_seals'));

const write = (page: Page) => inTransaction(store, (tx) => storeChain(tx, pageOf(page), settings));

async function writeAll(pages: readonly Page[]) {
  const notes: (string | null)[] = [];
  for (const page of pages) notes.push((await write(page)).note);
  return notes;
}

async function everything(): Promise<unknown[]> {
  const chains = await store.pool.query(
    `SELECT ${modelColumns('chain_captures')} FROM chain_captures ORDER BY captured_at`,
  );
  const gex = await store.pool.query(`SELECT ${modelColumns('gex_captures')} FROM gex_captures ORDER BY captured_at`);
  return [chains.rows, gex.rows];
}

/** Minutes of the session at which a chain and a GEX capture are published, with their expiries. */
async function published() {
  const { rows } = await store.pool.query(
    `SELECT c.captured_at, c.expirations, g.subset AS gex_subset FROM chain_captures c
     JOIN gex_captures g USING (underlying, captured_at) WHERE c.subset IS NOT TRUE ORDER BY captured_at`,
  );
  for (const row of rows) expect(row.gex_subset).not.toBe(true);
  return rows.map((row) => [(Number(row.captured_at) - at(0)) / 60_000, row.expirations.length]);
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
}

describe('a capture with less than 70 % of an expiry and right of the largest one', () => {
  test('is stored, reported and not published', async () => {
    const notes = await writeAll([
      { minute: 600, of: all },
      { minute: 605, of: [0, 1] },
    ]);
    expect(notes[0]).toBeNull();
    expect(notes[1]).toBe(
      'partial: it lacks 4 of 8 expiries and rights of the chain of 2026-11-16T15:00:00.000Z; stored, served at its own time alone',
    );
    expect(await published()).toEqual([[600, 4]]);
    expect((await inTransaction(store, (tx) => chainCaptureOf(tx, 'SPX', at(605))))!.rows).toHaveLength(20);
  });

  test.each([
    ['calls alone', { rights: ['call'] }, false],
    ['three of five strikes', { strikes: strikes.slice(0, 3) }, false],
    ['four of five strikes', { strikes: strikes.slice(0, 4) }, true],
    ['all contracts with less open interest', { openInterest: 1 }, true],
  ] as const)('%s', async (_, page, isWhole) => {
    await writeAll([
      { minute: 600, of: all },
      { minute: 605, of: all, ...page },
    ]);
    expect(await published()).toHaveLength(isWhole ? 2 : 1);
  });

  test('is partial too if the larger one of its session comes after it', async () => {
    await writeAll([
      { minute: 600, of: [0] },
      { minute: 620, of: all },
    ]);
    expect(await published()).toEqual([[620, 4]]);
  });

  test('is whole without an earlier one, which is told', async () => {
    const aloneAt = async () => {
      const { rows } = await store.pool.query('SELECT captured_at FROM chain_captures WHERE alone ORDER BY 1');
      return rows.map((row) => (Number(row.captured_at) - at(0)) / 60_000);
    };
    await write({ minute: 620, of: [0, 1] });
    expect(await aloneAt()).toEqual([620]);
    await write({ minute: 640, of: [0, 1] });
    expect(await aloneAt()).toEqual([620]);
    await write({ minute: 600, of: [0, 1] });
    expect(await aloneAt()).toEqual([600]);
    expect(await published()).toHaveLength(3);
  });

  test('is published where nothing whole is known of the session or the five before', async () => {
    await writeAll([
      { minute: 600, of: all, date: '2026-11-06' },
      { minute: 605, of: [0] },
    ]);
    expect((await published()).at(-1)).toEqual([605, 1]);
    await write({ minute: 600, of: all, date: '2026-11-09' });
    expect((await published()).at(-1)![0]).not.toBe(605);
  });

  test('is measured by what has not expired since', async () => {
    await writeAll([
      { minute: 600, of: all },
      { minute: 600, of: [2, 3], date: '2026-11-23' },
    ]);
    expect(await published()).toHaveLength(2);
  });

  test('is served only for an `at` that is exactly its time, as partial', async () => {
    await writeAll([
      { minute: 600, of: all },
      { minute: 605, of: [0] },
      { minute: 610, of: all },
    ]);
    const asked = [at(605) + 1, at(605), at(605) - 1, at(605), at(610), at(610) - 1];
    for (const atMs of asked) {
      const [capture] = await chainCapturesAt(store, [{ underlying: 'SPX', atMs }]);
      const isExact = atMs === at(605);
      expect(capture!.capturedAt, String(atMs)).toBe(isExact ? at(605) : atMs < at(610) ? at(600) : at(610));
      expect(isIncomplete(capture!)).toBe(isExact);
    }
  });

  test('of the same instant never replaces a whole one, whichever comes first', async () => {
    const pages = [
      { minute: 600, of: all },
      { minute: 600, of: [1] },
      { minute: 600, of: all, strikes: [6000] },
    ];
    await write(pages[0]!);
    const whole = await everything();
    for (const order of permutations(pages)) {
      await store.pool.query('TRUNCATE chain_captures, gex_captures');
      const notes = await writeAll(order);
      if (order[0] === pages[0]) expect(notes[1]).toMatch(/^not stored/);
      expect(await everything()).toEqual(whole);
    }
  });
});

describe('a capture of a stored instant that knows less', () => {
  const whole = pageOf({ minute: 600, of: all });
  test.each([
    ['no price of the underlying', { ...whole, spot: null }],
    [
      'quotes for fewer than 70 % of the contracts',
      {
        ...whole,
        rows: whole.rows.map((row, index) => (index % 3 === 0 ? row : { ...row, bid: null, ask: null })),
      },
    ],
  ])('does not replace it, whichever comes first: %s', async (_, less) => {
    const stored: unknown[][] = [];
    for (const captures of [
      [whole, less],
      [less, whole],
    ]) {
      await store.pool.query('TRUNCATE chain_captures, gex_captures');
      const notes: (string | null)[] = [];
      for (const each of captures)
        notes.push((await inTransaction(store, (tx) => storeChain(tx, each, settings))).note);
      expect(notes).toEqual(
        captures[1] === less ? [null, expect.stringMatching(/^not stored: the capture of this instant/)] : [null, null],
      );
      expect(await published()).toEqual([[600, 4]]);
      stored.push(await everything());
    }
    expect(stored[0]).toEqual(stored[1]);
  });
});

describe('files within 15 minutes', () => {
  test('of other contracts at one price are one chain at the later time', async () => {
    const notes = await writeAll([
      { minute: 600, of: all },
      { minute: 605, of: [0, 1] },
      { minute: 610, of: [2, 3], spot: 6002 },
    ]);
    expect(notes[2]).toBe('one chain with 1 other file of its session');
    expect(await published()).toEqual([
      [600, 4],
      [610, 4],
    ]);
    const [joined] = await chainCapturesAt(store, [{ underlying: 'SPX', atMs: at(611) }]);
    expect(joined).toMatchObject({ capturedAt: at(610), spot: 6002 });
    expect(isIncomplete(joined!)).toBe(false);
  });

  test.each([
    ['too late', { minute: 621, of: [2, 3] }],
    ['at another price', { minute: 610, of: [2, 3], spot: 6016, quotedAt: 6000 }],
    ['with an expiry of both', { minute: 610, of: [1, 2] }],
    ['of too few strikes', { minute: 610, of: [2, 3], strikes: [6000, 6050] }],
  ])('are not published: %s', async (_, page) => {
    await writeAll([{ minute: 600, of: all }, { minute: 605, of: [0, 1] }, page]);
    expect(await published()).toEqual([[600, 4]]);
  });

  test('are one chain if the market moved as their own quotes say', async () => {
    await writeAll([
      { minute: 605, of: [0] },
      { minute: 610, of: [1], spot: 6020 },
      { minute: 625, of: [0, 1], spot: 6020 },
    ]);
    expect(await published()).toEqual([
      [610, 2],
      [625, 2],
    ]);
  });

  test('have the price of the latest that knows one', async () => {
    await writeAll([
      { minute: 600, of: [0], isPriced: false },
      { minute: 601, of: [1], spot: 6001 },
      { minute: 602, of: [2, 3], isPriced: false },
    ]);
    const { rows } = await store.pool.query('SELECT captured_at, spot FROM chain_captures');
    expect(rows).toEqual([{ captured_at: at(602), spot: 6001 }]);
  });

  test('of one minute do not replace one another', async () => {
    await writeAll([
      { minute: 600, of: all },
      { minute: 605, of: [0] },
      { minute: 605, of: [1, 2] },
      { minute: 605, of: [3] },
      { minute: 605, of: [0] },
    ]);
    expect(await published()).toEqual([
      [600, 4],
      [605, 4],
    ]);
  });
});

describe('a chain of the instant of another that lacks contracts of it', () => {
  const part = { minute: 605, of: [0, 1] };
  const other = { minute: 605, of: [1, 2] };

  test('is refused, with the contracts that it lacks', async () => {
    await write(part);
    const before = await everything();
    const { rejection, changed } = await write(other);
    expect(rejection).toMatch(/^not stored: .*it lacks O:SPXW261118C05900000, .* and 7 more; --replace stores it/);
    expect(changed).toBe(0);
    expect(await everything()).toEqual(before);
  });

  test('replaces it by `--replace`, which names them', async () => {
    await write(part);
    const { note } = await inTransaction(store, (tx) => storeChain(tx, pageOf(other), { ...settings, replace: true }));
    expect(note).toMatch(
      /^replaced: the chain of its instant had O:SPXW261118C05900000, .* and 7 more, which it lacks/,
    );
    expect((await inTransaction(store, (tx) => chainCaptureOf(tx, 'SPX', at(605))))!.rows).toHaveLength(20);
    const { rows } = (await inTransaction(store, (tx) => chainCaptureOf(tx, 'SPX', at(605))))!;
    expect(new Set(rows.map(({ expiry }) => expiry))).toEqual(new Set([expiries[1], expiries[2]]));
  });
});

describe('the order of arrival', () => {
  const inAllOrders = async (pages: readonly Page[], expected: readonly (readonly [number, number])[]) => {
    await writeAll(pages);
    const stored = await everything();
    expect(await published()).toEqual(expected);
    for (const order of permutations(pages)) {
      await store.pool.query('TRUNCATE chain_captures, gex_captures');
      await writeAll(order);
      expect(await everything(), order.map(({ minute, rights }) => `${minute} ${rights}`).join(' | ')).toEqual(stored);
    }
  };

  test('never changes what calls and puts of two times are: two chains, in all 24 orders', async () => {
    const cut = (minute: number, right: OptionRight): Page => ({ minute, of: all, rights: [right] });
    const pages = [cut(600, 'call'), cut(600.5, 'put'), cut(605, 'call'), cut(605.5, 'put')];
    await inAllOrders(pages, [
      [600.5, 4],
      [605.5, 4],
    ]);
  }, 300_000);

  test('never changes what they are without a price', async () => {
    const cut = (minute: number, right: OptionRight): Page => ({ minute, of: all, rights: [right], isPriced: false });
    const pages = [cut(600, 'call'), cut(600.5, 'put'), cut(605, 'call'), cut(605.5, 'put')];
    await writeAll(pages);
    const stored = await everything();
    const { rows } = await store.pool.query(
      'SELECT captured_at, row_count FROM chain_captures WHERE subset IS NOT TRUE ORDER BY 1',
    );
    expect(rows.map((row) => [(Number(row.captured_at) - at(0)) / 60_000, row.row_count])).toEqual([
      [600.5, 40],
      [605.5, 40],
    ]);
    for (const order of permutations(pages)) {
      await store.pool.query('TRUNCATE chain_captures, gex_captures');
      await writeAll(order);
      expect(await everything()).toEqual(stored);
    }
  }, 300_000);

  const pages: Page[] = [
    { minute: 600, of: all, date: '2026-11-13' },
    { minute: 600, of: [0, 1] },
    { minute: 605, of: [2] },
    { minute: 605, of: [3] },
    { minute: 610, of: all, spot: 6010 },
  ];

  test('never changes what is stored: all orders of five captures', async () => {
    await writeAll(pages);
    const expected = await everything();
    expect(await published()).toEqual([
      [600 - 3 * 24 * 60, 4],
      [605, 4],
      [610, 4],
    ]);
    for (const order of permutations(pages).filter((_, i) => i % 3 === 0)) {
      await store.pool.query('TRUNCATE chain_captures, gex_captures');
      await writeAll(order);
      expect(await everything(), order.map(({ minute, of }) => `${minute} ${of}`).join(' | ')).toEqual(expected);
    }
  }, 300_000);

  test('never changes what is stored: random captures at other times each', async () => {
    const page = fc.record({
      date: fc.constantFrom('2026-11-13', session),
      of: fc.subarray(all, { minLength: 1 }),
      rights: fc.constantFrom<OptionRight[]>(['call'], ['put'], ['call', 'put']),
      isPriced: fc.boolean(),
      spot: fc.constantFrom(6000, 6002, 6020),
    });
    const minutes = [600, 604, 611, 618, 640];
    const pagesOf = fc
      .array(page, { minLength: 4, maxLength: minutes.length })
      .map((list) => list.map((each, i) => ({ ...each, minute: minutes[i]! })));
    const orders = fc.array(fc.nat(), { minLength: minutes.length, maxLength: minutes.length });
    await fc.assert(
      fc.asyncProperty(pagesOf, orders, async (list, ranks) => {
        await store.pool.query('TRUNCATE chain_captures, gex_captures');
        await writeAll(list);
        const expected = await everything();
        await store.pool.query('TRUNCATE chain_captures, gex_captures');
        await writeAll(
          list
            .map((each, i) => [ranks[i]!, each] as const)
            .sort((a, b) => a[0] - b[0])
            .map(([, each]) => each),
        );
        expect(await everything()).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  }, 300_000);

  test('leaves sealed sessions as they are', async () => {
    await writeAll(pages.slice(1, 2));
    await inTransaction(store, (tx) => saveSeals(tx, session, ['SPX'], at(2000)));
    const [before] = await published();
    await writeAll(pages.slice(0, 1));
    expect(await published()).toContainEqual(before);
  });

  test('computing captures again leaves them where they are', async () => {
    await writeAll(pages);
    const expected = await everything();
    await store.pool.query(`UPDATE gex_captures SET methodology_version = '1', net_gex = 1, version = 'of 1'`);
    await recompute(store, 'chain', { symbol: null, from: null, to: null }, { now: Date.now, rate: 0.045 });
    expect(await everything()).toEqual(expected);
  });
});

describe.runIf(hasSharedData)('the exchange’s pages of SPX, cut by expiry', () => {
  test('a filtered page is not published, and its three parts are the whole', async () => {
    const { capture } = await readChain(sharedData('chains_cboe/spx_20240107.csv.gz'), () => {});
    const later = (ms: number) => ({ ...capture, capturedAt: capture.capturedAt + ms });
    const dates = [...new Set(capture.rows.map(({ expiry }) => expiry))].sort();
    const cut = (ms: number, from: number, to: number) => ({
      ...later(ms),
      rows: capture.rows.filter(({ expiry }) => dates.indexOf(expiry) >= from && dates.indexOf(expiry) < to),
    });
    const put = (chain: typeof capture) =>
      inTransaction(store, (tx) => storeChain(tx, { ...chain, rows: chain.rows.map((row) => ({ ...row })) }, settings));
    const whole = await put(capture);
    const cuts = [cut(60_000, 0, 10), cut(120_000, 10, 31), cut(180_000, 31, dates.length)];
    const nets: number[] = [];
    for (const part of cuts) nets.push((await put(part)).gex!.netGex);
    expect(nets[0]).not.toBeCloseTo(whole.gex!.netGex, -6);
    const { rows } = await store.pool.query(
      'SELECT captured_at, net_gex FROM gex_captures WHERE subset IS NOT TRUE ORDER BY captured_at',
    );
    expect(rows.map((row) => Number(row.captured_at) - capture.capturedAt)).toEqual([0, 180_000]);
    expect(rows[1].net_gex / whole.gex!.netGex).toBeCloseTo(1, 3);
    const { rows: joined } = await store.pool.query('SELECT files FROM chain_captures ORDER BY captured_at DESC');
    expect(joined[0].files).toHaveLength(3);
  }, 120_000);
});
