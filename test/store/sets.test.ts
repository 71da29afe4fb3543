import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Prisma } from '../../generated/store/client.ts';
import { copyRows } from '../../src/store/rows/copied-rows.ts';
import { type Model, tableOf } from '../../src/store/rows/models/model-tables.ts';
import { keyOf, type Row } from '../../src/store/rows/models/row-values.ts';
import { deleteRows, findRows, insertRows, upsertRows } from '../../src/store/rows/models/sets.ts';
import { inTransaction, type Transaction } from '../../src/store/rows/transaction.ts';
import { type TestStore, testStore } from '../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

// PostgreSQL's text holds every character but NUL.
const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '')),
  fc.constantFrom('', 'null', 'NULL', '{}', '{a,"b"}', '\\', '"', "'", '\n\t', ' a ', '$1', ','),
);
const values = {
  text,
  bool: fc.boolean(),
  int4: fc.integer(),
  int8: fc.maxSafeInteger().map((n) => n + 0),
  float8: fc.oneof(
    fc.double().map((n) => n + 0),
    fc.constantFrom(Infinity, -Infinity, Number.NaN, 5e-324),
  ),
  bytea: fc.uint8Array(),
  jsonb: fc
    .jsonValue()
    .map((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '').replace(/-0\b/g, '0'))),
};

/** Rows of a model, each with a key of its own; what else is unique differs from row to row and from `name` to name. */
function rowsOf(model: Model, name: string): fc.Arbitrary<Record<string, unknown>[]> {
  const entries = tableOf(model).fields.map(({ field, type, list, optional }) => {
    const value: fc.Arbitrary<unknown> = list ? fc.array(values[type]) : values[type];
    return [field, optional ? fc.option(value, { nil: null }) : value] as const;
  });
  const key = (row: Record<string, unknown>) => JSON.stringify(keyOf(model).map((name) => row[name]));
  const { fields, indexes } = tableOf(model);
  // The last column of each decides.
  const unique = indexes.flatMap(({ kind, columns }) => {
    const { column: last } = columns.at(-1)!;
    return kind === 'unique' ? fields.filter(({ column }) => column === last) : [];
  });
  const rows = fc.uniqueArray(fc.record(Object.fromEntries(entries)), { selector: key, maxLength: 6 });
  return rows.map((each) =>
    each.map((row, i) => ({ ...row, ...Object.fromEntries(unique.map(({ field }) => [field, `${name}${i}`])) })),
  );
}

/** A row as it can be compared, however it was read. */
function plain(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (value instanceof Uint8Array) return [name, [...value]];
      return [name, typeof value === 'bigint' ? Number(value) : value];
    }),
  );
}
const inOrder = (rows: readonly object[]) =>
  rows.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const delegate = (from: { prisma: Transaction['prisma'] }, model: Model) =>
  from.prisma[(model[0]!.toLowerCase() + model.slice(1)) as 'metadataEntry'];

const models = Object.values(Prisma.ModelName);

describe.each(models)('rows of %s', (model) => {
  const names = tableOf(model).fields.map(({ field }) => field) as never[];
  const by = keyOf(model) as never[];
  const find = (tx: Transaction, keys: readonly object[]) => findRows(tx, model, { by, keys: keys as never[] }, names);

  test('are written and read whole, by Prisma, by sets and by COPY alike', async () => {
    const property = fc.asyncProperty(rowsOf(model, 'a'), async (given) => {
      const rows = given as unknown as Row<typeof model>[];
      const work = inTransaction(store, async (tx) => {
        expect(await insertRows(tx, model, rows)).toBe(rows.length);
        expect(await insertRows(tx, model, rows)).toBe(0);
        expect(inOrder(await delegate(tx, model).findMany())).toEqual(inOrder(rows));
        expect(inOrder(await find(tx, rows))).toEqual(inOrder(rows));
        expect(await deleteRows(tx, model, { by, keys: rows as never[] })).toBe(rows.length);
        expect(await delegate(tx, model).count()).toBe(0);
        if (!tableOf(model).fields.some(({ type, list }) => type === 'jsonb' || (list && type !== 'int4'))) {
          expect(await copyRows(tx, model, rows)).toBe(rows.length);
          expect(inOrder(await find(tx, rows))).toEqual(inOrder(rows));
        }
        throw new Error('undone');
      });
      await expect(work).rejects.toThrow('undone');
    });
    await fc.assert(property, { numRuns: 4 });
  });

  test('take the place of those of their keys', async () => {
    const property = fc.asyncProperty(rowsOf(model, 'a'), rowsOf(model, 'b'), async (first, second) => {
      const keyed = second.slice(0, first.length).map((row, i) => ({
        ...row,
        ...Object.fromEntries(by.map((name) => [name, first[i]![name]])),
      }));
      const work = inTransaction(store, async (tx) => {
        await upsertRows(tx, model, first as never[]);
        expect(await upsertRows(tx, model, keyed as never[])).toBe(keyed.length);
        const standing = first.slice(keyed.length);
        expect(inOrder(await find(tx, first))).toEqual(inOrder([...keyed, ...standing]));
        throw new Error('undone');
      });
      await expect(work).rejects.toThrow('undone');
    });
    await fc.assert(property, { numRuns: 3 });
  });
});

describe('a set of rows', () => {
  beforeEach(() => store.pool.query('truncate usage_counts, live_quotes, symbols'));
  const usage = (count: number) => ({ accountId: 'a', date: '2026-11-20', scopeGroup: 'gex', count });
  const quote = (sessionDate: string, spot: number) => ({
    symbol: 'SPY',
    sessionDate,
    spot,
    eventTsMs: 1,
    volume: 1,
    officialClose: null,
  });

  test('adds numbers to those that are there', async () => {
    await inTransaction(store, async (tx) => {
      for (let i = 0; i < 3; i++) await upsertRows(tx, 'UsageCount', [usage(2 ** 40)], { add: ['count'] });
    });
    expect(await store.prisma.usageCount.findMany()).toEqual([{ ...usage(0), count: 3n * 2n ** 40n }]);
  });

  test('changes nothing where what is compared is alike, and says so', async () => {
    const how = { ifDifferent: ['spot', 'officialClose'] } as const;
    const [first, again, other] = await inTransaction(store, async (tx) => [
      await upsertRows(tx, 'LiveQuote', [quote('2026-11-20', 1)], how),
      await upsertRows(tx, 'LiveQuote', [quote('2026-11-21', 1)], how),
      await upsertRows(tx, 'LiveQuote', [{ ...quote('2026-11-22', 1), officialClose: 2 }], how),
    ]);
    expect([first, again, other]).toEqual([1, 0, 1]);
    expect((await store.prisma.liveQuote.findMany())[0]?.sessionDate).toBe('2026-11-22');
  });

  test('leaves what is newer', async () => {
    const how = { unlessBelow: 'sessionDate' } as const;
    await inTransaction(store, async (tx) => {
      await upsertRows(tx, 'LiveQuote', [quote('2026-11-20', 1)], how);
      await upsertRows(tx, 'LiveQuote', [quote('2026-11-19', 2)], how);
      await upsertRows(tx, 'LiveQuote', [quote('2026-11-20', 3)], how);
    });
    expect((await store.prisma.liveQuote.findMany())[0]?.spot).toBe(3);
  });

  test('is read and deleted by a part of the key too', async () => {
    const rows = ['gex', 'flow', 'vol'].map((scopeGroup) => ({ ...usage(1), scopeGroup }));
    await inTransaction(store, async (tx) => {
      await insertRows(tx, 'UsageCount', rows);
      const keys = [{ accountId: 'a', date: '2026-11-20' }];
      const found = await findRows(tx, 'UsageCount', { by: ['accountId', 'date'], keys }, ['scopeGroup']);
      expect(found.map(({ scopeGroup }) => scopeGroup).sort()).toEqual(['flow', 'gex', 'vol']);
      expect(await deleteRows(tx, 'UsageCount', { by: ['accountId', 'date'], keys })).toBe(3);
    });
  });

  test('of none sends no statement', async () => {
    await inTransaction(store, async (tx) => {
      tx.query = (() => {
        throw new Error('sent');
      }) as never;
      try {
        expect(await insertRows(tx, 'Symbol', [])).toBe(0);
        expect(await upsertRows(tx, 'Symbol', [])).toBe(0);
        expect(await deleteRows(tx, 'Symbol', { by: ['symbol'], keys: [] })).toBe(0);
        expect(await findRows(tx, 'Symbol', { by: ['symbol'], keys: [] }, ['name'])).toEqual([]);
      } finally {
        delete (tx as { query?: unknown }).query;
      }
    });
  });
});

test('two transactions that write new rows of the same keys in different orders wait, and do not end each other', async () => {
  const row = (symbol: string) => ({ symbol, sessionDate: '', origin: 'sample' });
  const holds = async (symbol: string) => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const done = inTransaction(store, async (tx) => {
      await insertRows(tx, 'SessionOrigin', [row(symbol)]);
      begun.resolve();
      await ended.promise;
    });
    await begun.promise;
    return () => {
      ended.resolve();
      return done;
    };
  };
  const writes = (symbols: string[]) =>
    inTransaction(store, (tx) => insertRows(tx, 'SessionOrigin', symbols.map(row)), { once: true });
  const waiting = async (count: number) => {
    for (;;) {
      const { rows } = await store.pool.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (rows[0].n >= count) return;
      await delay(5);
    }
  };
  // Each stops in the middle of its rows at one that another holds.
  const [first, second] = [await holds('ZDX'), await holds('ZDY')];
  const one = writes(['ZDA', 'ZDX', 'ZDB']);
  await waiting(1);
  const other = writes(['ZDB', 'ZDY', 'ZDA']);
  await waiting(2);
  await Promise.all([first(), second()]);
  expect(await Promise.all([one, other])).toEqual([2, 0]);
});
