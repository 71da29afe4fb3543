import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { readBytes } from '../../../../src/intake/tape/csv/tape-file.ts';
import { layoutOf } from '../../../support/tapes/parquet-bytes.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();

async function textOf(bytes: Uint8Array, name = 'x.parquet'): Promise<string> {
  const path = join(folder(), name);
  writeFileSync(path, bytes);
  const parts: Buffer[] = [];
  for await (const part of readBytes(path)) parts.push(part);
  return Buffer.concat(parts).toString();
}

const root = (count: number): SchemaElement => ({ name: 'root', num_children: count });

function column(name: string, data: unknown[], element: Omit<SchemaElement, 'name'>) {
  return { source: { name, data }, element: { repetition_type: 'OPTIONAL' as const, ...element, name } };
}

async function oneColumn(data: unknown[], element: Omit<SchemaElement, 'name'>): Promise<string[]> {
  const { source, element: leaf } = column('c', data, element);
  const buffer = parquetWriteBuffer({ columnData: [source], schema: [root(1), leaf] });
  return (await textOf(new Uint8Array(buffer))).split('\n').slice(1, -1);
}

describe('values of Parquet as CSV', () => {
  const utc = true;
  test('timestamps of every unit are nanoseconds since the epoch, none of which are lost', async () => {
    const timestamp = (unit: 'MILLIS' | 'MICROS' | 'NANOS') =>
      ({ type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: utc, unit } }) as const;
    expect(await oneColumn([1_699_632_000_123n, null], timestamp('MILLIS'))).toEqual(['1699632000123000000', '']);
    expect(await oneColumn([1_699_632_000_123_456n], timestamp('MICROS'))).toEqual(['1699632000123456000']);
    expect(await oneColumn([1_699_632_000_123_456_789n], timestamp('NANOS'))).toEqual(['1699632000123456789']);
    expect(await oneColumn([1_699_632_000_123_456_789n], { type: 'INT64' })).toEqual(['1699632000123456789']);
  });

  test('decimals have their exact digits, whatever they are stored in', async () => {
    const decimal = { converted_type: 'DECIMAL', scale: 4 } as const;
    for (const [stored, precision] of [
      [{ type: 'INT32' }, 9],
      [{ type: 'INT64' }, 18],
      [{ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 6 }, 12],
    ] as const)
      expect(await oneColumn([123.4567, -0.0005, 0, null], { ...stored, ...decimal, precision })).toEqual([
        '123.4567',
        '-0.0005',
        '0.0000',
        '',
      ]);
  });

  test('32-bit floats are the shortest number that is the same', async () => {
    expect(await oneColumn([0.1, 189.25, 16_777_216].map(Math.fround), { type: 'FLOAT' })).toEqual([
      '0.1',
      '189.25',
      '16777216',
    ]);
  });

  test('dates, booleans, nulls, strings of a dictionary and such as need quotes', async () => {
    expect(await oneColumn([19_671, null], { type: 'INT32', converted_type: 'DATE' })).toEqual(['2023-11-10', '']);
    const names = Array.from({ length: 1000 }, (_, i) => ['Apple, Inc.', 'say "so"', 'SPY'][i % 3]);
    const text = await oneColumn(names, { type: 'BYTE_ARRAY', converted_type: 'UTF8' });
    expect(text.slice(0, 3)).toEqual(['"Apple, Inc."', '"say ""so"""', 'SPY']);
    expect(text).toHaveLength(1000);
    expect(await oneColumn([true, false], { type: 'BOOLEAN' })).toEqual(['true', 'false']);
  });

  test('a list of conditions is what the CSV has in quotes', async () => {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'ticker', data: ['A', 'B', 'C'] },
        { name: 'conditions', data: [[12, 37], [], [209]] },
      ],
      schema: [
        root(2),
        { name: 'ticker', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        { name: 'conditions', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' },
      ],
    });
    expect(await textOf(new Uint8Array(buffer))).toBe('ticker,conditions\nA,"12,37"\nB,\nC,209\n');
  });

  test('rows over many row groups and pages come in their order', async () => {
    const data = Array.from({ length: 200_000 }, (_, i) => i);
    const buffer = parquetWriteBuffer({
      columnData: [{ name: 'n', data, type: 'INT32' }],
      rowGroupSize: 150_000,
      pageSize: 4096,
    });
    expect(await textOf(new Uint8Array(buffer))).toBe(`n\n${data.join('\n')}\n`);
  });

  test('a row group with an index of its pages is read in parts, and gives the same rows', async () => {
    const count = 140_000;
    const names = Array.from({ length: count }, (_, i) => (i % 11 === 0 ? null : `name ${(i * 7919) % 499}`));
    const numbers = Array.from({ length: count }, (_, i) => (i * 31) % 100_003);
    const write = (offsetIndex: boolean) =>
      new Uint8Array(
        parquetWriteBuffer({
          columnData: [
            { name: 'names', data: names, offsetIndex },
            { name: 'numbers', data: numbers, type: 'INT32', offsetIndex },
          ],
          rowGroupSize: count,
          pageSize: 16_384,
        }),
      );
    const [whole, indexed] = [write(false), write(true)];
    expect(await textOf(indexed)).toBe(await textOf(whole));
    // The last page of the last column: the position read last is reported if reading fails.
    const damage = (bytes: Uint8Array) => {
      const { start, end } = layoutOf(bytes).columns.at(-1)!.bodies.at(-1)!;
      return Uint8Array.from(bytes).fill(0xff, start, end);
    };
    await expect(textOf(damage(whole))).rejects.toThrow('row group 1, column numbers, rows 1 to 140000: ');
    await expect(textOf(damage(indexed))).rejects.toThrow('row group 1, column numbers, rows 131073 to 140000: ');
  });

  test('a cut file is refused as incomplete, a damaged page with row group and column', async () => {
    const data = Array.from({ length: 5000 }, (_, i) => `name ${(i * 7919) % 4999}`);
    const whole = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'names', data }], rowGroupSize: 2500 }));
    await expect(textOf(whole.subarray(0, whole.length - 100))).rejects.toThrow(/x\.parquet: .*the file is incomplete/);
    const damaged = Uint8Array.from(whole).fill(0xff, 40, 400);
    await expect(textOf(damaged)).rejects.toThrow(/^x\.parquet: row group 1, column names, rows 1 to 2500: /);
  });
});
