import { describe, expect, test } from 'vitest';
import { jsonText } from '../../src/pages/reference/json-text.ts';

describe('jsonText', () => {
  test('puts on a line what fits on it, and says of a list how much was left out', () => {
    const value = {
      data: [
        { a: 1, b: null },
        { a: 2, b: 'x' },
      ],
      meta: { count: 9, tags: [], of: {} },
    };
    expect(jsonText(value, { data: 7 }, 40)).toBe(`{
  "data": [
    { "a": 1, "b": null },
    { "a": 2, "b": "x" },
    … 7 more
  ],
  "meta": { "count": 9, "tags": [], "of": {} }
}`);
  });

  test('without omissions it is JSON that reads back the same', () => {
    const value = [{ text: 'é "quoted"\n', list: [1, [2, [3]]], none: null, yes: true, deep: { a: { b: {} } } }];
    for (const width of [10, 40, 200]) expect(JSON.parse(jsonText(value, {}, width))).toEqual(value);
  });
});
