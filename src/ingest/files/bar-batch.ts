import { type BarColumns, barColumns, type GivenBar, setBar } from '../../domain/market/bar.ts';
import { barColumnNames } from '../../domain/market/bar-columns.ts';

/** Bars in any order, by key; in columns: 68 bytes per bar, a quarter of objects' size. */
export interface BarBatch {
  push(key: string, bar: GivenBar): void;
  /** Bars held in all. */
  size(): number;
  /** The bars, ascending by key; each run ascending by tsMs, and of two bars of one instant the later one. */
  runs(): Generator<[key: string, bars: BarColumns]>;
}

function copied(from: BarColumns, indexes: ArrayLike<number>): BarColumns {
  const to = barColumns(indexes.length);
  for (const name of barColumnNames) {
    const [source, target] = [from[name], to[name]];
    for (let i = 0; i < indexes.length; i++) target[i] = source[indexes[i]!]!;
  }
  return to;
}

/** Indexes of one key, given in order of arrival, sorted by time; of one instant the last. */
function ordered(indexes: Uint32Array, tsMs: Float64Array): ArrayLike<number> {
  let ascending = true;
  for (let i = 1; i < indexes.length && ascending; i++) ascending = tsMs[indexes[i - 1]!]! < tsMs[indexes[i]!]!;
  if (ascending) return indexes;
  const byInstant = new Map(Array.from(indexes, (index) => [tsMs[index]!, index]));
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
export function barBatch(capacity = firstCapacity): BarBatch {
  const ids = new Map<string, number>();
  let bars = barColumns(capacity);
  let keyIds = new Uint32Array(capacity);
  let length = 0;
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
      keyIds[length] = id;
      setBar(bars, length, bar);
      length++;
    },
    size: () => length,
    *runs() {
      const { indexes, starts } = grouped(keyIds, length, ids.size);
      for (const key of [...ids.keys()].sort()) {
        const id = ids.get(key)!;
        yield [key, copied(bars, ordered(indexes.subarray(starts[id]!, starts[id + 1]!), bars.tsMs))];
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
