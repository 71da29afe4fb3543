/** Columns of one length, indexed by slot. */
export type RingColumn = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

/**
 * Copies every column into one of twice its length, moving entry `n` from slot `n & (length − 1)` to `n & (2·length −
 * 1)`. Valid entries are `from` … `to` − 1.
 */
export function doubleRing<T extends Record<string, RingColumn>>(columns: T, from: number, to: number): void {
  for (const name of Object.keys(columns) as (keyof T)[]) {
    const old = columns[name]!;
    const longer = new (old.constructor as new (length: number) => RingColumn)(old.length * 2);
    for (let n = from; n < to; ) {
      const [source, target] = [n & (old.length - 1), n & (longer.length - 1)];
      const run = Math.min(to - n, old.length - source, longer.length - target);
      longer.set(old.subarray(source, source + run), target);
      n += run;
    }
    columns[name] = longer as T[keyof T];
  }
}
