import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { RecordSorter, recordsInRun } from '../../../../src/intake/ingest/files/record-sorter.ts';
import { randomOf } from '../../../support/random.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
let sorter: RecordSorter;
afterEach(() => sorter.close());

/** Pushes records of (group, instant, number), and takes them out again. */
async function sort(records: Iterable<readonly [group: number, tsMs: number]>): Promise<number[][]> {
  sorter = new RecordSorter({ width: 3, keys: [0, 1] }, folder());
  let number = 0;
  for (const [group, tsMs] of records) await sorter.push([group, tsMs, number++]);
  const out: number[][] = [];
  for await (const batch of sorter.sorted())
    for (let i = 0; i < batch.length; i += 3) out.push([...batch.subarray(i, i + 3)]);
  return out;
}

const temporaryFiles = () => readdirSync(folder());

describe('the record sorter', () => {
  test('gives nothing of nothing', async () => {
    expect(await sort([])).toEqual([]);
  });

  test('orders by group, then instant, and of equals the first that came', async () => {
    const day = 1_700_000_000_000;
    const sorted = await sort([
      [1, day + 5],
      [0, day + 9],
      [1, day + 5],
      [0, day],
      [1, day - 86_400_000 * 30],
    ]);
    expect(sorted.map(([, , number]) => number)).toEqual([3, 1, 4, 0, 2]);
  });

  test('of more than one run goes through a file, loses nothing, and leaves no file', async () => {
    const random = randomOf(7);
    const count = 2 * recordsInRun + 1234;
    const records = Array.from(
      { length: count },
      () => [random.below(3), 1_700_000_000_000 + random.below(50_000)] as const,
    );
    const sorted = await sort(records);
    expect(temporaryFiles().length).toBe(1);
    await sorter.close();
    expect(temporaryFiles().length).toBe(0);
    const expected = records
      .map(([group, tsMs], number) => [group, tsMs, number] as const)
      .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    expect(sorted.length).toBe(count);
    expect(sorted.findIndex((record, i) => record[2] !== expected[i]![2])).toBe(-1);
  });

  test('orders instants however far apart', async () => {
    const instants = [2 ** 52, 0, 2 ** 36 + 1, 2 ** 11, 2 ** 36, 1];
    const sorted = await sort(instants.map((tsMs) => [0, tsMs] as const));
    expect(sorted.map(([, tsMs]) => tsMs)).toEqual(instants.toSorted((a, b) => a - b));
  });
});
