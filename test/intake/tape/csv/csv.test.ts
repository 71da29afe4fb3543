import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvFormat, readCsv } from '../../../../src/intake/tape/csv/csv.ts';
import type { BadLine } from '../../../../src/intake/tape/csv/tape-file.ts';
import { readCount, readInstant, readNumber } from '../../../../src/intake/tape/csv/values.ts';
import { splitCsvLine } from '../../../../src/intake/tape/text/csv-rows.ts';
import { readVendorTicker } from '../../../../src/intake/tape/text/vendor-ticker.ts';
import { wideBounds } from '../../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const pairs: CsvFormat<{ a: string; b: string; c: string | null }, 'a' | 'b' | 'c'> = {
  name: 'pairs',
  content: 'pairs of letters',
  datasets: [],
  time: null,
  delayMs: 0,
  symbols: { column: 'a', spelling: 'ticker' },
  required: ['a', 'b'],
  optional: ['c'],
  reader: (at) => (fields) =>
    fields[at.a] === 'bad' ? 'a is bad' : { a: fields[at.a]!, b: fields[at.b]!, c: at.c < 0 ? null : fields[at.c]! },
};

async function read(text: string | Buffer) {
  const path = join(folder(), 'file.csv');
  writeFileSync(path, text);
  const bad: BadLine[] = [];
  const records: { a: string; b: string; c: string | null }[] = [];
  const lines: number[] = [];
  for await (const batch of readCsv(path, [pairs], (one) => bad.push(one))) {
    records.push(...batch.records);
    lines.push(...batch.lineNumbers);
  }
  return { records, lines, bad };
}

describe('CSV lines', () => {
  test('are split as csv-parse splits them', () => {
    const field = fc.string({ unit: fc.constantFrom('a', ',', '"', ' ', 'é', '1', "'") });
    const quoted = field.map((text) => `"${text.replaceAll('"', '""')}"`);
    const plain = field.map((text) => text.replaceAll(/[",]/g, ''));
    fc.assert(
      fc.property(fc.array(fc.oneof(quoted, plain), { minLength: 1, maxLength: 6 }), (fields) => {
        const line = fields.join(',');
        fc.pre(line !== '');
        expect(splitCsvLine(line)).toEqual(parse(line)[0]);
      }),
    );
  });

  test('whose quoted field goes over line ends are one record, at its first line', async () => {
    const { records, lines, bad } = await read('a,b\n1,"x\ny, ""z"""\n\n2,w\n');
    expect(records.map((record) => [record.a, record.b])).toEqual([
      ['1', 'x\ny, "z"'],
      ['2', 'w'],
    ]);
    expect(lines).toEqual([2, 5]);
    expect(bad).toEqual([]);
  });

  test('whose quoted field never ends are told', async () => {
    const { bad } = await read('a,b\n1,"x\n2,y\n');
    expect(bad).toMatchObject([{ line: 2, reason: 'unterminated quoted field' }]);
  });

  test('are found by their header, in any order, beside columns that are not asked for', async () => {
    const { records } = await read('\ufeffX, B ,c,A\r\n9,2,3,1\r\n');
    expect(records).toEqual([{ a: '1', b: '2', c: '3' }]);
  });

  test('that are bad carry their number and the reason, and the rest is read', async () => {
    const { records, bad } = await read('a,b\n1,2\nbad,2\n1\n3,4');
    expect(records.map((record) => record.a)).toEqual(['1', '3']);
    expect(bad).toMatchObject([
      { line: 3, reason: 'a is bad' },
      { line: 4, reason: 'expected 2 columns, found 1' },
    ]);
  });

  test.each([
    ['an empty file', '', 'the file is empty'],
    ['a header without a column', 'a,c\n1,2\n', 'the header has no column b'],
    ['a header with a column twice', 'a,b,a\n1,2,3\n', 'the column a twice'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0x2c, 0x62, 0x0a, 0xff, 0x2c, 0x31, 0x0a]), 'not UTF-8'],
  ])('%s is refused', async (_, text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
  });

  test('keep their numbers and characters over the borders of chunks', async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},é${'x'.repeat(i % 17)}`);
    const { records, lines } = await read(`a,b\n${rows.join('\n')}\n`);
    expect(records.map((record) => `${record.a},${record.b}`)).toEqual(rows);
    expect(lines.at(-1)).toBe(60_001);
  });
});

describe('values', () => {
  test('numbers are decimals and nothing else', () => {
    expect(['1', '-1.5', '.5', '1e3', '3e-05', '0'].map(readNumber)).toEqual([1, -1.5, 0.5, 1000, 0.00003, 0]);
    for (const text of ['', ' ', '1 ', ' 1', '0x10', '0b1', 'Infinity', 'NaN', '1_000', '1,000', '--1', '1e999', 'a']) {
      expect(readNumber(text), text).toBeNaN();
    }
  });

  test('counts are whole numbers that a number holds exactly', () => {
    expect(readCount('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ['9007199254740993', '-1', '1.5', '']) expect(readCount(text), text).toBeNaN();
  });

  test('nanoseconds become milliseconds without passing through an inexact number', () => {
    expect(readInstant('1550068200123456789', 'nanoseconds', wideBounds)).toBe(1_550_068_200_123);
    for (const text of ['', '12', '1550068200', '-55006820012345678', '155006820012345678x', '9'.repeat(22)]) {
      expect(readInstant(text, 'nanoseconds', wideBounds), text).toBeNaN();
    }
  });

  test("the vendor's small letters never make another company's ticker", () => {
    const tickers = ['SPY', 'BRK.B', 'BACpL', 'BACp', 'XYZw', 'XYZr'].map(readVendorTicker);
    expect(tickers).toEqual(['SPY', 'BRK.B', 'BAC.PRL', 'BAC.PR', 'XYZ.WI', 'XYZ.RT']);
    expect(['spy', 'BACpLx', '', '1A'].map(readVendorTicker)).toEqual([null, null, null, null]);
  });
});
