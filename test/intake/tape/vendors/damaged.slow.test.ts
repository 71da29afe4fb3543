import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TapeFileError } from '../../../../src/intake/tape/csv/tape-file.ts';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { vendorReading } from '../../../support/tapes/vendor-reading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { vendorSamples } from './samples.ts';
import '../../../support/property-seed.ts';

const read = vendorReading(temporaryFolder());
const readers = {
  ...read,
  write: null,
  chain: async (path: string) => ({ records: (await readChain(path, () => {})).capture.rows }),
};

/** Numbers of records that the readers of all datasets find in a file; those that reject it are absent. */
async function found(name: string, content: Uint8Array): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const path = read.write(name, content);
  for (const [dataset, reader] of Object.entries(readers)) {
    if (reader === null) continue;
    try {
      counts[dataset] = (await reader(path)).records.length;
    } catch (error) {
      expect(error, dataset).toBeInstanceOf(TapeFileError);
      // The error of a mistake in a reader has the words of the engine.
      expect((error as Error).message).not.toMatch(/undefined|is not a function|Cannot |BigInt|offset/);
    }
  }
  return counts;
}

const fromOneFile = { maxLength: 40 };
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.integer({ min: 0, max: 30 }),
  put: fc.oneof(fc.uint8Array(fromOneFile), fc.constantFrom('null', '{}', '[]', '""', '-1', '1e999', '"', ',', '\n')),
});

describe('a damaged file of a vendor', () => {
  test.each(vendorSamples)('$name: is read or rejected with a reason, by every dataset', async ({ name, content }) => {
    const whole = Buffer.from(content);
    expect(Object.values(await found(name, whole)).some((count) => count > 0)).toBe(true);
    await fc.assert(
      fc.asyncProperty(damage, async ({ at, cut, put }) => {
        const from = Math.floor(at * whole.length);
        await found(name, Buffer.concat([whole.subarray(0, from), Buffer.from(put), whole.subarray(from + cut)]));
      }),
      // Each is read by every reader: fewer than of other properties will do.
      { numRuns: Math.ceil(fc.readConfigureGlobal()!.numRuns! / 2.5) },
    );
  });
});
