import fc from 'fast-check';
import { expect, test } from 'vitest';
import { orderByInstant } from '../../src/analytics/event-time-order.ts';

const day = 1_710_475_200_000;

test('prints come by instant, those of one millisecond as they stood', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(5), fc.nat(86_399_999)).map((ms) => day + ms)), (list) => {
      const wanted = list.map((ms, i) => ({ ms, i })).sort((a, b) => a.ms - b.ms || a.i - b.i);
      expect([...orderByInstant(Float64Array.from(list))]).toEqual(wanted.map(({ i }) => i));
    }),
  );
});

test('what does not fit one sort is refused', () => {
  expect(() => orderByInstant(Float64Array.from([0, 2 ** 52]))).toThrow(RangeError);
});
