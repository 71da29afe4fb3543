/** A queue of entries by number, in the order of `before`, regardless of the order of insertion. */
export interface Reorder {
  push(entry: number): void;
  /** The first entry; −1 if there is none. */
  peek(): number;
  /** Removes the first entry; −1 if there is none. */
  shift(): number;
  readonly size: number;
}

/** A queue of entry numbers that doubles when full. */
export interface EntryQueue {
  push(entry: number): void;
  /** The oldest and the newest entry; −1 if there is none. */
  first(): number;
  last(): number;
  shift(): number;
  readonly size: number;
}

/** First in, first out. */
export function createEntryQueue(): EntryQueue {
  let ring = new Int32Array(256);
  let head = 0;
  let size = 0;
  function grow() {
    const longer = new Int32Array(ring.length * 2);
    for (let i = 0; i < size; i++) longer[i] = ring[(head + i) & (ring.length - 1)]!;
    ring = longer;
    head = 0;
  }
  return {
    push(entry) {
      if (size === ring.length) grow();
      ring[(head + size++) & (ring.length - 1)] = entry;
    },
    first: () => (size === 0 ? -1 : ring[head]!),
    last: () => (size === 0 ? -1 : ring[(head + size - 1) & (ring.length - 1)]!),
    shift() {
      if (size === 0) return -1;
      const entry = ring[head]!;
      head = (head + 1) & (ring.length - 1);
      size--;
      return entry;
    },
    get size() {
      return size;
    },
  };
}

/**
 * A queue for entries in order and a heap for late ones: a tape is nearly in order, so that most entries cost one
 * comparison. `before` must be a total order that distinguishes different entries.
 */
export function createReorder(before: (a: number, b: number) => boolean): Reorder {
  const queue = createEntryQueue();
  const heap: number[] = [];

  function siftUp(entry: number) {
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  function takeTop(): number {
    const top = heap[0]!;
    const entry = heap.pop()!;
    if (heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, entry)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = entry;
    return top;
  }

  const heapFirst = () => heap.length > 0 && (queue.size === 0 || before(heap[0]!, queue.first()));
  return {
    push(entry) {
      if (queue.size === 0 || !before(entry, queue.last())) queue.push(entry);
      else siftUp(entry);
    },
    peek: () => (heapFirst() ? heap[0]! : queue.first()),
    shift: () => (heapFirst() ? takeTop() : queue.shift()),
    get size() {
      return queue.size + heap.length;
    },
  };
}

/** Columns of one length, indexed by slot. */
type RingColumn = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

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
