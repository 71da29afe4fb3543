import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readBytes, TapeFileError } from '../../../../src/intake/tape/csv/tape-file.ts';
import { checkPages } from '../../../../src/intake/tape/parquet/parquet-pages.ts';
import { type Random, randomOf } from '../../../support/random.ts';
import { type ColumnRange, layoutOf, parquetBars } from '../../../support/tapes/parquet-bytes.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();

/** The rows of a file by its columns; the error if it cannot be read. */
async function read(bytes: Uint8Array): Promise<Map<string, string[]> | Error> {
  const path = join(folder(), 'bars.parquet');
  writeFileSync(path, bytes);
  const parts: Buffer[] = [];
  try {
    for await (const part of readBytes(path)) parts.push(part);
  } catch (error) {
    return error as Error;
  }
  const [header, ...lines] = Buffer.concat(parts).toString().trimEnd().split('\n');
  const cells = lines.map((line) => line.split(','));
  return new Map(header!.split(',').map((name, i) => [name, cells.map((row) => row[i]!)]));
}

/** Offsets that are changed: one to four, anywhere, beside each other, or in the headers of pages alone. */
function damaged(random: Random, bytes: Uint8Array, columns: readonly ColumnRange[]): number[] {
  const count = 1 + random.below(4);
  const anywhere = () => random.below(bytes.length);
  if (random.once(3)) return Array.from({ length: count }, anywhere);
  const { start, bodies } = random.pick(columns);
  const first = random.once(2) ? start + random.below(bodies[0]!.start - start) : anywhere();
  return Array.from({ length: count }, (_, i) => Math.min(bytes.length - 1, first + i));
}

describe('a Parquet file with damaged bytes', () => {
  test.each([
    ['SNAPPY', false],
    ['SNAPPY', true],
    ['ZSTD', false],
    ['UNCOMPRESSED', true],
  ] as const)(
    '%s, page index %s: ends with an error that names it, or has all rows, right where no byte changed',
    async (codec, index) => {
      const whole = parquetBars(codec, index);
      const right = (await read(whole)) as Map<string, string[]>;
      expect(right.get('ticker')).toHaveLength(900);
      const { columns, footer } = layoutOf(whole);
      const random = randomOf(33);
      const ends = { read: 0, refused: 0 };
      for (let run = 0; run < 120; run++) {
        const bytes = Uint8Array.from(whole);
        const changed = damaged(random, whole, columns);
        for (const at of changed) bytes[at] = random.below(256);
        const what = changed.map((at) => `${at}: ${bytes[at]}`).join(', ');
        const found = await read(bytes);
        if (found instanceof Error) {
          ends.refused++;
          expect(found, what).toBeInstanceOf(TapeFileError);
          expect(found.message, what).toMatch(
            /^bars\.parquet: (?!.*(undefined|is not a function|Cannot |BigInt)).{10}/,
          );
          continue;
        }
        ends.read++;
        expect(
          [...found.values()].every((cells) => cells.length === 900),
          what,
        ).toBe(true);
        if (changed.some((at) => at >= footer)) continue;
        for (const [name, cells] of right)
          if (!columns.some((each) => each.name === name && changed.some((at) => at >= each.start && at < each.end)))
            expect(found.get(name), what).toEqual(cells);
      }
      expect(Math.min(ends.read, ends.refused)).toBeGreaterThan(10);
    },
  );
});

test('a page whose bytes do not have the checksum of its header is refused', async () => {
  const body = Buffer.from('the bytes of a page');
  const zigzag = (value: number): number[] => {
    const bytes: number[] = [];
    let rest = value >= 0 ? value * 2 : -value * 2 - 1;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    return [...bytes, rest];
  };
  // A data page of 3 values: its type, lengths and checksum, and its own header.
  const header = (sum: number) => [
    0x15,
    ...zigzag(0),
    0x15,
    ...zigzag(19),
    0x15,
    ...zigzag(19),
    0x15,
    ...zigzag(sum),
    0x1c,
    0x15,
    ...zigzag(3),
    0,
    0,
  ];
  const check = async (sum: number) => {
    const bytes = Uint8Array.from([...header(sum), ...body]);
    const column = { data_page_offset: 0n, total_compressed_size: BigInt(bytes.length), num_values: 3n };
    const limits = { values: 100, bytes: 1000 };
    return checkPages(async (start, end) => bytes.subarray(start, end), column as never, limits, false);
  };
  const sum = crc32(body) | 0;
  expect(await check(sum)).toEqual([{ offset: 0, length: header(sum).length + 19 }]);
  await expect(check(sum ^ 1)).rejects.toThrow('page 1: its bytes do not have the checksum of its header');
});
