import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toNumber } from '../../../../src/store/rows/models/row-values.ts';
import { storeForThisTest } from '../../../support/store.ts';

test('a bigint becomes the same number as long as numbers are exact', () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (n) => toNumber(BigInt(n)) === n || Object.is(n, -0)));
});

test('a bigint beyond the exact numbers is refused, never rounded', () => {
  const limit = 2n ** 53n;
  expect(toNumber(limit - 1n)).toBe(Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(fc.bigInt({ min: limit, max: 2n ** 63n - 1n }), (n) => {
      expect(() => toNumber(n)).toThrow(RangeError);
      expect(() => toNumber(-n)).toThrow(RangeError);
    }),
  );
});

test('raw SQL gives a BIGINT as a number, and refuses one beyond', async () => {
  const store = await storeForThisTest();
  const { rows } = await store.pool.query('select 9007199254740991::bigint as n, null::bigint as nothing');
  expect(rows).toEqual([{ n: 9007199254740991, nothing: null }]);
  await expect(store.pool.query('select 9007199254740992::bigint as n')).rejects.toThrow('beyond');
  // The connection is still of use.
  expect((await store.pool.query('select 1::bigint as n')).rows).toEqual([{ n: 1 }]);
});
