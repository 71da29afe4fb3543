import { type GreeksSolve, type MarkSource, markSources } from '../../core/domain/chain/greeks.ts';
import { solveColumns } from '../../core/domain/chain/greeks-columns.ts';
import { type Column, namesOf } from '../../core/domain/columns.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { areOfSession, ascends, blockAssertions } from '../series/assertions.ts';
import { known } from '../series/codec.ts';

const numberNames = namesOf(solveColumns);
const isNeverNull = (name: keyof typeof solveColumns) => (solveColumns[name] as Column).nullable === false;
/** A record of an older layout has fewer numbers, but every one that is never null. */
const leastBytes = 8 * (numberNames.findLastIndex(isNeverNull) + 1) + 1;

/**
 * Bytes of one solve: its numbers (little-endian doubles, NaN = unknown) and, last, the source of its mark; 0 there =
 * no solve. All records of a minute have one length, which says how many numbers they have.
 */
export const recordBytes = 8 * numberNames.length + 1;

/** Minutes of a session with solves: those of an underlying to write, or those of a contract as read. */
interface SolvedSeries {
  /** Underlying, or contract. */
  of: string;
  sessionDate: SessionDate;
  /** Epoch ms. */
  tsMs: readonly number[];
}

/** Asserts what holds of the minutes of a session with solves. */
export const assertSolves = blockAssertions<SolvedSeries>('solves', ({ of, sessionDate }) => `${of} ${sessionDate}`, {
  'its minutes ascend': ({ tsMs }) => ascends(tsMs),
  'its minutes are in its session': ({ sessionDate, tsMs }) => areOfSession(tsMs, (session) => session === sessionDate),
});

/** Records by slot; those without a solve are empty. */
export function encodeSolves(solves: ReadonlyMap<number, GreeksSolve>): Buffer<ArrayBuffer> {
  let count = 0;
  for (const slot of solves.keys()) if (slot >= count) count = slot + 1;
  const bytes = Buffer.alloc(count * recordBytes);
  for (const [slot, solve] of solves) {
    const offset = slot * recordBytes;
    numberNames.forEach((name, i) => {
      bytes.writeDoubleLE(solve[name] ?? Number.NaN, offset + 8 * i);
    });
    bytes[offset + recordBytes - 1] = 1 + markSources.indexOf(solve.markSource);
  }
  return bytes;
}

/**
 * The solve of `tsMs` that a record holds; null for an empty one. A number that an older record lacks is unknown.
 * Throws on bytes that are none.
 */
export function decodeSolve(record: Buffer, tsMs: number): GreeksSolve | null {
  const sourceAt = record.length - 1;
  if (sourceAt % 8 !== 0 || record.length < leastBytes) throw new RangeError('a record of a solve is cut short');
  const source = record[sourceAt]!;
  if (source === 0) return null;
  const markSource: MarkSource | undefined = markSources[source - 1];
  if (!markSource) throw new RangeError(`a record of a solve has mark source ${source}`);
  const solve: Record<string, unknown> = { tsMs, markSource };
  numberNames.forEach((name, i) => {
    solve[name] = 8 * i < sourceAt ? known(record.readDoubleLE(8 * i)) : null;
  });
  return solve as unknown as GreeksSolve;
}
