import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBlock, encodeBlock, openBlock } from '../../../src/store/series/codec.ts';

const anyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(Number.NaN, -0, Infinity, -Infinity, 0.1 + 0.2, 1e21, 5e-324),
  fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 10_000),
);

describe('column blocks', () => {
  test('give back every number and text to the last bit', () => {
    const block = fc.integer({ min: 0, max: 40 }).chain((length) =>
      fc.record({
        a: fc.array(anyNumber, { minLength: length, maxLength: length }),
        b: fc.array(
          fc.integer({ min: 0, max: 1e9 }).map((n) => n / 100),
          { minLength: length, maxLength: length },
        ),
        t: fc.array(fc.string({ unit: 'binary' }), { minLength: length, maxLength: length }),
      }),
    );
    fc.assert(
      fc.property(block, ({ a, b, t }) => {
        const back = decodeBlock(encodeBlock({ a: Float64Array.from(a), b: Float64Array.from(b), t }));
        const bits = (column: unknown) => {
          const { buffer, byteOffset, byteLength } = column as Float64Array;
          return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
        };
        // NaN has many bit patterns; all mean unknown.
        const plain = (xs: number[]) => bits(Float64Array.from(xs, (x) => (Number.isNaN(x) ? Number.NaN : x)));
        expect(bits(back.a)).toBe(plain(a));
        expect(bits(back.b)).toBe(plain(b));
        expect(back.t).toEqual(t);
        const open = openBlock(encodeBlock({ a: Float64Array.from(a), b: Float64Array.from(b), t }));
        expect(open.length).toBe(t.length);
        for (const i of t.keys()) {
          expect([open.number('a', i), open.number('b', i), open.text('t', i)]).toEqual([a[i], b[i], t[i]]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('are read wherever in a larger buffer they lie', () => {
    const columns = {
      a: Float64Array.of(1.5, 2000, Number.NaN),
      b: Float64Array.of(Math.PI, 0, 1e300),
      t: ['x', 'y', 'x'],
    };
    const block = encodeBlock(columns);
    for (let offset = 0; offset < 9; offset++) {
      const received = Buffer.concat([Buffer.alloc(offset, 7), block, Buffer.alloc(3)]).subarray(
        offset,
        offset + block.length,
      );
      expect(decodeBlock(received)).toEqual(columns);
    }
  });

  test('give back numbers whose distance is beyond the exact integers', () => {
    const far = Float64Array.of(1_770_023_493_050_149, -8_725_724_278_030_300);
    expect(decodeBlock(encodeBlock({ far }))).toEqual({ far });
  });

  test('keep a minute of prices in a few bytes', () => {
    const n = 390;
    const bytes = encodeBlock({
      tsMs: Float64Array.from({ length: n }, (_, i) => 1_549_895_400_000 + i * 60_000),
      open: Float64Array.from({ length: n }, (_, i) => (1_711_400 + i * 7) / 10_000),
    });
    expect(bytes.length).toBeLessThan(n * 4 + 250);
  });

  test('refuse a cut, lengthened or foreign payload', () => {
    const bytes = encodeBlock({ a: Float64Array.of(1, 2, 3), t: ['x', 'y', 'x'] });
    for (let cut = 0; cut < bytes.length; cut++)
      expect(() => decodeBlock(bytes.slice(0, cut)), `cut at ${cut}`).toThrow();
    expect(() => decodeBlock(Uint8Array.from([...bytes, 0]))).toThrow('left over');
    expect(() => decodeBlock(Uint8Array.from([0x54, 0x47, 9, 0, 0, 0, 0, 0]))).toThrow('version 9');
  });

  test('refuse columns of unequal length', () => {
    expect(() => encodeBlock({ a: Float64Array.of(1), b: Float64Array.of(1, 2) })).toThrow('b has 2');
  });
});
