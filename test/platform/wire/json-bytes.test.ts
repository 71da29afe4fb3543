import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonBytes, stringified, WrittenJson } from '../../../src/platform/wire/json-chunks.ts';

/** The same value, with parts of it written before. */
const partsWritten = fc.letrec<{ value: { plain: unknown; written: unknown } }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }).map((plain) => ({ plain, written: plain })),
    fc.jsonValue({ maxDepth: 1 }).map((plain) => {
      const parts = stringified(plain);
      return { plain, written: new WrittenJson(parts.map((part) => Buffer.from(part as string))) };
    }),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => ({
      plain: items.map(({ plain }) => plain),
      written: new WrittenJson(stringified(items.map(({ written }) => written))),
    })),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }).map((fields) => ({
      plain: Object.fromEntries(Object.entries(fields).map(([key, { plain }]) => [key, plain])),
      written: Object.fromEntries(Object.entries(fields).map(([key, { written }]) => [key, written])),
    })),
  ),
})).value;

test('what was written before stands in a value as it is', async () => {
  let nested = 0;
  await fc.assert(
    fc.asyncProperty(partsWritten, async ({ plain, written }) => {
      expect((await jsonBytes(written)).toString()).toBe(JSON.stringify(plain));
      let characters = 0;
      const parts = stringified(written, (count) => {
        characters += count;
      });
      if (parts.length > 1) nested++;
      else expect(characters).toBe(JSON.stringify(plain).length);
    }),
    { numRuns: 500 },
  );
  expect(nested).toBeGreaterThan(50);
});

test('only what is written now is counted', () => {
  const before = new WrittenJson(['[1,2,3]']);
  let characters = 0;
  const parts = stringified({ a: before, b: [before] }, (count) => {
    characters += count;
  });
  expect(parts.join('')).toBe('{"a":[1,2,3],"b":[[1,2,3]]}');
  expect(characters).toBe('{"a":,"b":[]}'.length);
});
