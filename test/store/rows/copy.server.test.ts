import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyInto } from '../../../src/store/rows/copied-rows.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
  await store.pool.query('create table tried (n bigint, f float8, t text, b boolean, y bytea, i int[], m int)');
});
afterAll(() => store.close());

const columns = { n: 'int8', f: 'float8', t: 'text', b: 'bool', y: 'bytea', i: 'int4[]', m: 'int4' } as const;
const names = Object.keys(columns);
// PostgreSQL's text holds every character but NUL.
const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''));
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const row = fc.tuple(
  orNull(fc.maxSafeInteger().map((n) => n + 0)),
  orNull(fc.oneof(fc.double(), fc.constantFrom(-0, Number.NaN, Infinity, 5e-324))),
  orNull(fc.oneof(text, fc.constantFrom('\\N', '\\.', '', '\t\n\r\\', '{}', 'null'))),
  orNull(fc.boolean()),
  orNull(fc.uint8Array()),
  orNull(fc.array(fc.integer())),
  orNull(fc.integer()),
);

describe('COPY', () => {
  test('stores every value as it is', async () => {
    const property = fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      await store.pool.query('truncate tried');
      expect(await inTransaction(store, (tx) => copyInto(tx, 'tried', columns, rows))).toBe(rows.length);
      const found = await store.pool.query('select * from tried');
      const bytes = (value: unknown) => (value === null ? null : [...(value as Uint8Array)]);
      expect(found.rows.map((each) => names.map((name) => (name === 'y' ? bytes(each[name]) : each[name])))).toEqual(
        rows.map((each) => each.map((value, i) => (names[i] === 'y' ? bytes(value) : value))),
      );
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('takes far more rows than fit one message, from a source that gives them one by one', async () => {
    function* many() {
      for (let n = 0; n < 50_000; n++) yield [n, 'x'.repeat(20)];
    }
    const copied = await inTransaction(store, async (tx) => {
      await tx.query('truncate tried');
      return copyInto(tx, 'tried', { n: 'int8', t: 'text' }, many());
    });
    expect(copied).toBe(50_000);
    expect((await store.pool.query('select sum(n)::bigint as sum from tried')).rows[0].sum).toBe((49_999 * 50_000) / 2);
  });

  test('of a source that fails, or of a row the table refuses, leaves nothing and frees the connection', async () => {
    function* failing() {
      yield [1];
      throw new Error('line 2 is bad');
    }
    await store.pool.query('truncate tried');
    await expect(inTransaction(store, (tx) => copyInto(tx, 'tried', { n: 'int8' }, failing()))).rejects.toThrow(
      'line 2 is bad',
    );
    await expect(inTransaction(store, (tx) => copyInto(tx, 'tried', { n: 'text' }, [['no number']]))).rejects.toThrow(
      'binary data',
    );
    await expect(inTransaction(store, (tx) => copyInto(tx, 'tried', { n: 'int8' }, [[1, 2]]))).rejects.toThrow(
      '2 values, expected 1',
    );
    expect((await store.pool.query('select count(*) as n from tried')).rows[0].n).toBe(0);
    expect(store.pool.totalCount).toBe(store.pool.idleCount);
  });
});
