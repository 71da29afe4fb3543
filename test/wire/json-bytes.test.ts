import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isHeavy, jsonBytes } from '../../src/wire/json-bytes.ts';

const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    strike: i,
    gex: i / 3,
    note: i % 2 ? null : 'é "quoted" \u2028',
    'a:b': true,
  }));

describe('jsonBytes', () => {
  test('large answers come byte for byte as JSON.stringify writes them', async () => {
    const values = [
      {
        data: { captures: Array.from({ length: 9 }, () => ({ at: 1, strikes: rows(2000) })) },
        meta: { plane: 'live' },
      },
      rows(50_000),
      { first: undefined, list: [undefined, ...rows(20_000)], last: undefined },
      Array.from({ length: 30_000 }, () => []),
      [[rows(30_000)], rows(3)],
      { empty: {}, none: [], list: rows(9_000), when: new Date(0) },
    ];
    for (const value of values) {
      expect(isHeavy(value)).toBe(true);
      expect((await jsonBytes(value)).toString()).toBe(JSON.stringify(value));
    }
  });

  test('any JSON comes so, small or many times repeated', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), fc.integer({ min: 1, max: 4000 }), async (value, times) => {
        const many = { value, many: new Array(times).fill([value, { value }]) };
        expect((await jsonBytes(many)).toString()).toBe(JSON.stringify(many));
      }),
      { numRuns: 60 },
    );
  });
});
