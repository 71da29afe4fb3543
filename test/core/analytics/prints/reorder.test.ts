import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPrintLines } from '../../../../src/core/analytics/prints/duplicates.ts';
import { createReorder } from '../../../../src/core/analytics/prints/reorder.ts';

test('entries come out in order, however puts and takes are mixed', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(1000), fc.constant(null)), { maxLength: 300 }), (steps) => {
      const reorder = createReorder((a, b) => a < b);
      const held: number[] = [];
      for (const step of steps) {
        if (step === null) {
          held.sort((a, b) => a - b);
          expect(reorder.peek()).toBe(held[0] ?? -1);
          expect(reorder.shift()).toBe(held.shift() ?? -1);
        } else {
          reorder.push(step);
          held.push(step);
        }
        expect(reorder.size).toBe(held.length);
      }
    }),
  );
});

test('a queue longer than it was made for keeps its order', () => {
  const reorder = createReorder((a, b) => a < b);
  for (let i = 0; i < 5000; i++) reorder.push(i);
  for (let i = 0; i < 3000; i++) expect(reorder.shift()).toBe(i);
  for (let i = 5000; i < 12_000; i++) reorder.push(i);
  for (let i = 3000; i < 12_000; i++) expect(reorder.shift()).toBe(i);
});

test('the highest number of every line is known, of however many lines', () => {
  const lines = createPrintLines();
  const line = (i: number) => [i % 5000, 300 + (i % 17)] as const;
  const all = Array.from({ length: 85_000 }, (_, i) => i);
  expect(all.filter((i) => !lines.ascends(...line(i), i % 1000))).toEqual([]);
  expect(all.filter((i) => lines.ascends(...line(i), i % 1000))).toEqual([]);
  expect(all.filter((i) => !lines.ascends(...line(i), (i % 1000) + 1))).toEqual([]);
});
