/** Index of the value nearest to `wanted` in ascending `values`; of two equally near, the lower one. -1 without any. */
export function nearestIndex(values: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  if (low === values.length) return low - 1;
  return low > 0 && wanted - values[low - 1]! <= values[low]! - wanted ? low - 1 : low;
}
