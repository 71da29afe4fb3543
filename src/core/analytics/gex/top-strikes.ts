import type { GexColumns } from '../../domain/gex/gex.ts';

/**
 * Indexes, ascending, of the `top` net rows with the largest |gex|; null if there are no more than that. Of equal ones
 * the lower strikes stay. Strikes ascending.
 */
export function topStrikes({ gex }: Pick<GexColumns, 'gex'>, top: number): Uint32Array | null {
  if (gex.length <= top) return null;
  const sizes = gex.map(Math.abs);
  // A heap of the selected rows, with the first to drop on top: the smallest, of equal ones the highest strike.
  const heap = Uint32Array.from({ length: top }, (_, i) => i);
  const goesBefore = (a: number, b: number) => sizes[a]! < sizes[b]! || (sizes[a] === sizes[b] && a > b);
  for (let i = (top >> 1) - 1; i >= 0; i--) sink(heap, i, goesBefore);
  for (let row = top; row < sizes.length; row++) {
    if (sizes[row]! <= sizes[heap[0]!]!) continue;
    heap[0] = row;
    sink(heap, 0, goesBefore);
  }
  return heap.sort();
}

function sink(heap: Uint32Array, from: number, goesBefore: (a: number, b: number) => boolean): void {
  const item = heap[from]!;
  let index = from;
  for (let child = 2 * index + 1; child < heap.length; child = 2 * index + 1) {
    if (child + 1 < heap.length && goesBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!goesBefore(heap[child]!, item)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = item;
}
