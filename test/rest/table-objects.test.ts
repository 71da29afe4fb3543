import { expect, test } from 'vitest';
import { answerTables } from '../../src/rest/contract/table.ts';

const text = { type: 'string' };
const list = (properties: object) => ({ type: 'array', items: { type: 'object', properties, required: [] } });
const inner = { type: ['object', 'null'], properties: { b: list({ y: text }), c: list({ z: text }) }, required: [] };
const schema = { type: 'object', properties: { a: list({ x: text, inner }) }, required: [] };

const data = {
  a: [
    { x: '1', inner: { b: [{ y: '2' }, { y: '3' }], c: [{ z: '4' }] } },
    { x: '5', inner: null },
  ],
};

test('an object of a list inside rows repeats what is around it, but no other list', () => {
  const objects = (table: string) => [
    ...answerTables(schema)
      .tables.find(({ name }) => name === table)!
      .objects(data),
  ];
  expect(objects('a')).toEqual(data.a);
  expect(objects('b')).toEqual([
    { x: '1', inner: { b: { y: '2' } } },
    { x: '1', inner: { b: { y: '3' } } },
  ]);
  expect(objects('c')).toEqual([{ x: '1', inner: { c: { z: '4' } } }]);
});
