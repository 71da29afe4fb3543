import { type BarColumns, unknownBars } from '../../domain/market/bar.ts';
import { priceUnits, sizeParts } from '../../domain/market/print.ts';
import { stockTraits } from '../../domain/market/stock-trade-conditions.ts';

// Option prints carry the same three bits (domain/flow/option-trade-conditions.ts).
const { volume: countsVolume, highLow: setsHighLow, openClose: setsOpenClose } = stockTraits;

// Offsets of a bucket's numbers in its record. Prices in 1e-4 dollars, sizes in whole units and millionths; money
// (price × size of what sets prices) in 1e-4 dollars and millionths.
const at = {
  startMs: 0,
  open: 1,
  high: 2,
  low: 3,
  close: 4,
  /** Entries of the prints that set open and close; −1: none, so there is no bar. */
  openEntry: 5,
  closeEntry: 6,
  count: 7,
  size: 8,
  sizeMicros: 9,
  pricedSize: 10,
  pricedMicros: 11,
  money: 12,
  moneyMicros: 13,
} as const;
/** Number of values per record. The first is its start. */
export const barStride = 14;
const stride = barStride;

/** Buckets of prints with the sums behind their bars, ascending by start: one array, one record per bucket. */
export interface BarRows {
  values: Float64Array;
  count: number;
}

/** Creates empty rows. */
export function createBarRows(): BarRows {
  return { values: new Float64Array(4 * stride), count: 0 };
}

/** Resets the record at `row`, except its start. */
export function clearRow(values: Float64Array, row: number): void {
  values.fill(0, row + 1, row + stride);
  values[row + at.high] = -Infinity;
  values[row + at.low] = Infinity;
  values[row + at.openEntry] = -1;
  values[row + at.closeEntry] = -1;
}

/**
 * Offset of a bucket's record, or −1 − its insertion offset. Prints are nearly always in order, so it is usually the
 * last.
 */
function findRow({ values, count }: BarRows, startMs: number): number {
  for (let row = (count - 1) * stride; row >= 0; row -= stride) {
    if (values[row] === startMs) return row;
    if (values[row]! < startMs) return -1 - (row + stride);
  }
  return -1;
}

function rowOf(rows: BarRows, startMs: number): number {
  const found = findRow(rows, startMs);
  if (found >= 0) return found;
  const row = -1 - found;
  const used = rows.count++ * stride;
  if (used === rows.values.length) {
    const longer = new Float64Array(2 * used);
    longer.set(rows.values);
    rows.values = longer;
  }
  if (row < used) rows.values.copyWithin(row + stride, row, used);
  rows.values[row] = startMs;
  clearRow(rows.values, row);
  return row;
}

/** The fields of a print that a bar uses. `entry` is its number in a ledger that `before` orders by event time. */
export interface BarPrint {
  entry: number;
  price: number;
  size: number;
  sizeMicros: number;
  traits: number;
}

const counts = countsVolume | setsHighLow | setsOpenClose;

/** True if a print affects bars. */
export function isOfBar({ traits }: BarPrint): boolean {
  return (traits & counts) !== 0;
}

/** Adds a print to the bucket that starts at `startMs`. The result does not depend on the order of prints. */
export function addToBar(
  rows: BarRows,
  startMs: number,
  print: BarPrint,
  before: (a: number, b: number) => boolean,
): void {
  if (!isOfBar(print)) return;
  const row = rowOf(rows, startMs);
  addToRow(rows.values, row, print, before);
}

/** Adds a print to the record that begins at `row`. */
export function addToRow(
  values: Float64Array,
  row: number,
  { entry, price, size, sizeMicros, traits }: BarPrint,
  before: (a: number, b: number) => boolean,
): void {
  if ((traits & countsVolume) !== 0) {
    addSized(values, row + at.size, size, sizeMicros);
    values[row + at.count]!++;
  }
  if ((traits & setsHighLow) !== 0) {
    if (price > values[row + at.high]!) values[row + at.high] = price;
    if (price < values[row + at.low]!) values[row + at.low] = price;
    if ((traits & countsVolume) !== 0) {
      addSized(values, row + at.pricedSize, size, sizeMicros);
      addSized(values, row + at.money, price * size, price * sizeMicros);
    }
  }
  if ((traits & setsOpenClose) === 0) return;
  const opened = values[row + at.openEntry]!;
  if (opened < 0 || before(entry, opened)) {
    values[row + at.open] = price;
    values[row + at.openEntry] = entry;
  }
  const closed = values[row + at.closeEntry]!;
  if (closed < 0 || !before(entry, closed)) {
    values[row + at.close] = price;
    values[row + at.closeEntry] = entry;
  }
}

/** Adds to a sum whose millionths are stored beside its whole part. */
function addSized(values: Float64Array, offset: number, add: number, addMicros: number) {
  values[offset]! += add;
  if (addMicros === 0) return;
  const micros = values[offset + 1]! + addMicros;
  const carry = Math.floor(micros / sizeParts);
  values[offset]! += carry;
  values[offset + 1] = micros - carry * sizeParts;
}

/** Empties a bucket, to refill it from the remaining prints. */
export function emptyBar(rows: BarRows, startMs: number): void {
  const row = findRow(rows, startMs);
  if (row >= 0) clearRow(rows.values, row);
}

/**
 * Folds buckets into longer ones: `startOf` returns the longer bucket's start for a shorter one's. With `barsOnly` a
 * part without a price is omitted with its volume, as in bars folded from bars. Parts before `fromMs`, where a longer
 * bucket begins, are omitted.
 */
export function foldRows(
  rows: BarRows,
  startOf: (startMs: number) => number,
  barsOnly: boolean,
  fromMs: number,
): BarRows {
  const folded = createBarRows();
  const from = rows.values;
  for (let part = 0; part < rows.count * stride; part += stride) {
    if (from[part]! < fromMs || (barsOnly && from[part + at.openEntry]! < 0)) continue;
    const row = rowOf(folded, startOf(from[part]!));
    const to = folded.values;
    to[row + at.high] = Math.max(to[row + at.high]!, from[part + at.high]!);
    to[row + at.low] = Math.min(to[row + at.low]!, from[part + at.low]!);
    to[row + at.count]! += from[part + at.count]!;
    for (const sum of [at.size, at.pricedSize, at.money])
      addSized(to, row + sum, from[part + sum]!, from[part + sum + 1]!);
    if (from[part + at.openEntry]! < 0) continue;
    if (to[row + at.openEntry]! < 0) {
      to[row + at.open] = from[part + at.open]!;
      to[row + at.openEntry] = from[part + at.openEntry]!;
    }
    to[row + at.close] = from[part + at.close]!;
    to[row + at.closeEntry] = from[part + at.closeEntry]!;
  }
  return folded;
}

/** The sums and extremes of buckets, of prices in dollars; a vwap without size is unknown. */
function columnsOfRows({ values }: BarRows, rows: readonly number[]): BarColumns & { pricedVolume: Float64Array } {
  const bars = { ...unknownBars(rows.length), pricedVolume: new Float64Array(rows.length) };
  const sum = (offset: number) => values[offset]! + values[offset + 1]! / sizeParts;
  for (const [i, row] of rows.entries()) {
    const high = values[row + at.high]! / priceUnits;
    const low = values[row + at.low]! / priceUnits;
    const isPriced = values[row + at.openEntry]! >= 0;
    bars.tsMs[i] = values[row]!;
    bars.open[i] = isPriced ? values[row + at.open]! / priceUnits : Number.NaN;
    bars.high[i] = high === -Infinity ? Number.NaN : high;
    bars.low[i] = low === Infinity ? Number.NaN : low;
    bars.close[i] = isPriced ? values[row + at.close]! / priceUnits : Number.NaN;
    bars.volume[i] = sum(row + at.size);
    bars.tradeCount[i] = values[row + at.count]!;
    // Clamped, because rounding may put a mean outside of its values.
    const pricedSize = sum(row + at.pricedSize);
    const vwap = pricedSize > 0 ? sum(row + at.money) / pricedSize / priceUnits : Number.NaN;
    bars.pricedVolume[i] = pricedSize;
    bars.vwap[i] = Math.min(high, Math.max(low, vwap));
  }
  return bars;
}

/**
 * The bars of the buckets from `fromMs` on, ascending: dollars per share, sizes as doubles. A bar whose prints set
 * prices without size has no vwap. `withPriced` adds the priced volume, so that longer bars can be folded from these.
 */
export function barsOfRows(rows: BarRows, fromMs: number, withPriced = false): BarColumns {
  const { values, count } = rows;
  const chosen: number[] = [];
  for (let row = 0; row < count * stride; row += stride)
    if (values[row]! >= fromMs && values[row + at.openEntry]! >= 0) chosen.push(row);
  const { pricedVolume, ...bars } = columnsOfRows(rows, chosen);
  return withPriced ? { ...bars, pricedVolume } : bars;
}

/**
 * The buckets from `fromMs` on that have prints, but no bar in `shown`: volume without a price, and highs and lows of
 * prints that set no open and close.
 */
export function unpricedOfRows(rows: BarRows, shown: BarRows, fromMs: number): BarColumns {
  const { values, count } = rows;
  const chosen: number[] = [];
  for (let row = 0, n = 0; row < count * stride; row += stride) {
    while (n < shown.count * stride && shown.values[n]! < values[row]!) n += stride;
    const hasBar = n < shown.count * stride && shown.values[n] === values[row] && shown.values[n + at.openEntry]! >= 0;
    const hasPrints = values[row + at.count]! > 0 || values[row + at.high]! > -Infinity;
    if (values[row]! >= fromMs && !hasBar && hasPrints) chosen.push(row);
  }
  return columnsOfRows(rows, chosen);
}
