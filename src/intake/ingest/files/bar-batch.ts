import {
  type BarColumns,
  barAt,
  barColumns,
  type GivenBar,
  isSameBar,
  setBar,
} from '../../../core/domain/market/bar.ts';
import { barColumnNames } from '../../../core/domain/market/bar-columns.ts';

/** Bars in any order, by key; in columns: 68 bytes per bar, a quarter of objects' size. */
export interface BarBatch {
  push(key: string, bar: GivenBar): void;
  /** Bars held in all. */
  size(): number;
  /**
   * The bars, ascending by key; each run ascending by tsMs. Of equal bars of one instant one is in the run; throws the
   * error of `differing` for others.
   */
  runs(): Generator<[key: string, bars: BarColumns]>;
  /**
   * The bars of the last line's key and instant, or of its instant if all lines ascend in time: others of these may
   * follow. They are taken out of the batch.
   */
  takeLast(): [key: string, bar: GivenBar][];
}

/** Callbacks for bars with one key and instant. */
export interface EqualBars {
  /** Called for a line that repeats an earlier one. */
  onRepeat(): void;
  /** Creates the error for lines that differ. */
  differing(key: string, tsMs: number): Error;
}

function copied(from: BarColumns, indexes: ArrayLike<number>): BarColumns {
  const to = barColumns(indexes.length);
  for (const name of barColumnNames) {
    const [source, target] = [from[name], to[name]];
    for (let i = 0; i < indexes.length; i++) target[i] = source[indexes[i]!]!;
  }
  return to;
}

function isAscending(indexes: Uint32Array, tsMs: Float64Array): boolean {
  for (let i = 1; i < indexes.length; i++) if (!(tsMs[indexes[i - 1]!]! < tsMs[indexes[i]!]!)) return false;
  return true;
}

/** Indexes of one key, sorted by time; of equal bars of one instant the first. */
function ordered(key: string, indexes: Uint32Array, bars: BarColumns, equal: EqualBars): ArrayLike<number> {
  const { tsMs } = bars;
  if (isAscending(indexes, tsMs)) return indexes;
  const byInstant = new Map<number, number>();
  for (const index of indexes) {
    const known = byInstant.get(tsMs[index]!);
    if (known === undefined) byInstant.set(tsMs[index]!, index);
    else if (isSameBar(bars, known, bars, index)) equal.onRepeat();
    else throw equal.differing(key, tsMs[index]!);
  }
  return [...byInstant].sort(([a], [b]) => a - b).map(([, index]) => index);
}

/** The bars' indexes by key, each key's in order of arrival, and the start of each key's. */
function grouped(keyIds: Uint32Array, length: number, keyCount: number): { indexes: Uint32Array; starts: Uint32Array } {
  const starts = new Uint32Array(keyCount + 1);
  for (let i = 0; i < length; i++) starts[keyIds[i]! + 1]!++;
  for (let id = 0; id < keyCount; id++) starts[id + 1]! += starts[id]!;
  const next = starts.slice();
  const indexes = new Uint32Array(length);
  for (let i = 0; i < length; i++) indexes[next[keyIds[i]!]!++] = i;
  return { indexes, starts };
}

/** Bars for which a batch has room before it grows: most files have a symbol's session, or one bar a symbol. */
const firstCapacity = 4096;

/** An empty batch. It grows as necessary, to twice its capacity. */
export function barBatch(equal: EqualBars, capacity = firstCapacity): BarBatch {
  const ids = new Map<string, number>();
  let bars = barColumns(capacity);
  let keyIds = new Uint32Array(capacity);
  let length = 0;
  let ascends = true;
  const grow = () => {
    const larger = barColumns(keyIds.length * 2);
    for (const name of barColumnNames) larger[name].set(bars[name]);
    bars = larger;
    const moreIds = new Uint32Array(keyIds.length * 2);
    moreIds.set(keyIds);
    keyIds = moreIds;
  };
  return {
    push(key, bar) {
      let id = ids.get(key);
      if (id === undefined) {
        id = ids.size;
        ids.set(key, id);
      }
      if (length === keyIds.length) grow();
      if (length > 0 && bar.tsMs < bars.tsMs[length - 1]!) ascends = false;
      keyIds[length] = id;
      setBar(bars, length, bar);
      length++;
    },
    size: () => length,
    takeLast() {
      const [lastId, lastMs] = [keyIds[length - 1], bars.tsMs[length - 1]];
      const keys = [...ids.keys()];
      const taken: [string, GivenBar][] = [];
      for (let end = length - 1; end >= 0 && bars.tsMs[end] === lastMs && (ascends || keyIds[end] === lastId); end--) {
        taken.unshift([keys[keyIds[end]!]!, barAt(bars, end)]);
        length = end;
      }
      return taken;
    },
    *runs() {
      const { indexes, starts } = grouped(keyIds, length, ids.size);
      for (const key of [...ids.keys()].sort()) {
        const id = ids.get(key)!;
        const own = indexes.subarray(starts[id]!, starts[id + 1]!);
        if (own.length > 0) yield [key, copied(bars, ordered(key, own, bars, equal))];
      }
    },
  };
}

/** Consecutive items, at most `length` at a time. */
export function* slices<T>(items: Iterable<T>, length: number): Generator<T[]> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < length) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}
