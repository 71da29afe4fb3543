import { type GreeksSolve, type MarkSource, markSources } from '../../domain/chain/greeks.ts';

/**
 * Bytes of one solve: six numbers (little-endian doubles, NaN = unknown) and the source of its mark; 0 there = no
 * solve.
 */
export const recordBytes = 49;
const sourceAt = recordBytes - 1;
const numberNames = ['iv', 'delta', 'gamma', 'mark', 'bid', 'ask'] as const;

/** Records by slot, those of no solve empty. */
export function encodeSolves(solves: ReadonlyMap<number, GreeksSolve>): Buffer<ArrayBuffer> {
  let count = 0;
  for (const slot of solves.keys()) if (slot >= count) count = slot + 1;
  const bytes = Buffer.alloc(count * recordBytes);
  for (const [slot, solve] of solves) {
    const offset = slot * recordBytes;
    numberNames.forEach((name, i) => {
      bytes.writeDoubleLE(solve[name] ?? Number.NaN, offset + 8 * i);
    });
    bytes[offset + sourceAt] = 1 + markSources.indexOf(solve.markSource);
  }
  return bytes;
}

/** The solve of `tsMs` that a record holds; null for an empty one. Throws on bytes that are none. */
export function decodeSolve(bytes: Buffer, offset: number, tsMs: number): GreeksSolve | null {
  if (bytes.length < offset + recordBytes) throw new RangeError('a record of a solve is cut short');
  const source = bytes[offset + sourceAt]!;
  if (source === 0) return null;
  const markSource: MarkSource | undefined = markSources[source - 1];
  if (!markSource) throw new RangeError(`a record of a solve has mark source ${source}`);
  const [iv, delta, gamma, mark, bid, ask] = numberNames.map((_, i) => {
    const value = bytes.readDoubleLE(offset + 8 * i);
    return Number.isNaN(value) ? null : value;
  });
  return { tsMs, iv: iv!, delta: delta!, gamma: gamma!, mark: mark!, markSource, bid: bid!, ask: ask! };
}
