import { expect, test } from 'vitest';
import { type Columns, emptyColumns, rowReader, rowWriter, unknownColumns } from '../../../src/core/domain/columns.ts';

const columns = {
  at: { type: 'int64', nullable: false, description: 'Time.' },
  size: { type: 'int64', description: 'Shares; null when unknown.' },
} as const satisfies Columns;
const write = rowWriter(columns);
const read: (rows: { at: Float64Array; size: Float64Array }, index: number) => unknown = rowReader(columns);

test('a row that is written is read as it was, what it lacks as null', () => {
  const rows = emptyColumns(columns, 3);
  const written = [
    { at: 5, size: 0 },
    { at: 6, size: null },
    { at: -0.5, size: 7 },
  ];
  for (const [i, row] of written.entries()) write(rows, i, row);
  expect(written.map((_, i) => read(rows, i))).toEqual(written);
  expect(rows.size).toEqual(Float64Array.of(0, Number.NaN, 7));
});

test('what no row lacks is 0 until it is set, the rest unknown in columns that say so', () => {
  expect(read(emptyColumns(columns, 1), 0)).toEqual({ at: 0, size: 0 });
  expect(read(unknownColumns(columns, 1), 0)).toEqual({ at: 0, size: null });
});

test('columns lie in one piece of memory, in their order', () => {
  const { at, size } = emptyColumns(columns, 4);
  expect([at.buffer === size.buffer, at.byteOffset, size.byteOffset]).toEqual([true, 0, 32]);
});

test('a row has the given names, behind those of another object', () => {
  const named: (rows: unknown, index: number, beside: object) => unknown = rowReader(columns, {
    names: ['at_ms', 'size_shares'],
    beside: ['symbol'],
  });
  const rows = unknownColumns(columns, 1);
  const row = named(rows, 0, { symbol: 'SPY', other: 1 });
  expect(Object.entries(row as object)).toEqual([
    ['symbol', 'SPY'],
    ['at_ms', 0],
    ['size_shares', null],
  ]);
});
