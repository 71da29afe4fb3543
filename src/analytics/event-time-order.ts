/**
 * The order of prints by instant (epoch ms; prints of one millisecond in the order given), for files that list one ticker after the
 * other. The tape itself puts what is within a millisecond, or a few seconds, in order. Instant and place share a double, so that
 * the sort needs no comparison function: a span of a day leaves room for 67 million prints.
 */
export function orderByInstant(tsMs: Float64Array): Uint32Array {
  let [first, last] = [Infinity, -Infinity];
  for (const ms of tsMs) {
    if (ms < first) first = ms;
    if (ms > last) last = ms;
  }
  const places = 2 ** Math.ceil(Math.log2(Math.max(2, tsMs.length)));
  if ((last - first + 1) * places > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`${tsMs.length} prints over ${last - first} ms are more than one sort can hold`);
  }
  const keys = tsMs.map((ms, i) => (ms - first) * places + i);
  keys.sort();
  return Uint32Array.from(keys, (key) => key % places);
}
