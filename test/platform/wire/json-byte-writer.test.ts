import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../src/platform/wire/json-byte-writer.ts';

/** The texts that writing gives, one by one. */
function written(write: (writer: ByteWriter) => void): string {
  const writer = new ByteWriter();
  write(writer);
  return Buffer.concat(writer.done()).toString();
}

const number = (value: number) => written((writer) => writer.number(value));
const text = (value: string) => written((writer) => writer.text(value));

const double = fc.double({ noNaN: true, noDefaultInfinity: true });
/** Numbers with few decimals, and their neighbours, which look like them. */
const price = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 12 }), fc.constantFrom(0, 0, 1, -1))
  .map(([units, decimals, off]) => (units / 10 ** decimals) * (1 + off * Number.EPSILON));

describe('JSON written as bytes', () => {
  test('any finite number comes as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(fc.oneof(double, price, fc.maxSafeInteger()), (value) => {
        expect(number(value)).toBe(JSON.stringify(value));
      }),
      { numRuns: 100_000 },
    );
    const edges = [0, -0, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 999_999_999, 1e9, 1e9 + 1, 1e15, 2 ** 53 - 1, 2 ** 53];
    const small = [0.1, 0.0001, 0.00005, 1e-6, 1e-7, 5e-324, 0.1 + 0.2, 1.005, 999_999_999.9999, 1e21, 1e300];
    for (const value of [...edges, ...small]) {
      expect(number(value)).toBe(JSON.stringify(value));
      expect(number(-value)).toBe(JSON.stringify(-value));
    }
  });

  test('any text comes as JSON.stringify writes it', () => {
    const unit = fc.constantFrom('grapheme' as const, 'binary' as const, 'binary-ascii' as const);
    const texts = unit.chain((kind) => fc.string({ unit: kind, maxLength: 2000 }));
    fc.assert(
      fc.property(texts, (value) => void expect(text(value)).toBe(JSON.stringify(value))),
      { numRuns: 5000 },
    );
    for (const value of ['', '"', '\\', '\u007f', '\ud800', 'é', 'x'.repeat(1_000_000)])
      expect(text(value)).toBe(JSON.stringify(value));
  });

  test('what is longer than the scratch comes whole and in order, also of writers that take turns', () => {
    const list = Array.from({ length: 50_000 }, (_, i) => [i / 7, `text ${i} é`] as const);
    const writers = [new ByteWriter(), new ByteWriter()];
    for (let start = 0; start < list.length; start += 9_000) {
      for (const writer of writers) {
        for (const [value, label] of list.slice(start, start + 9_000)) {
          writer.number(value);
          writer.text(label);
          writer.json('[1,"two"]');
        }
        writer.pause();
      }
    }
    const expected = list.map(([value, label]) => `${JSON.stringify(value)}${JSON.stringify(label)}[1,"two"]`).join('');
    for (const writer of writers) expect(Buffer.concat(writer.done()).toString()).toBe(expected);
  });
});
