import { rowBy } from '../../domain/columns.ts';
import type { GexColumns } from '../../domain/gex/gex.ts';
import { exposureColumns, partColumns } from '../../domain/gex/gex-columns.ts';
import { columnsAt } from '../../domain/rows-in-columns.ts';

/** Sums of the known values at each strike; NaN if none is known. */
function summed(values: Float64Array, strikeIndex: Uint32Array, count: number): Float64Array {
  const sums = new Float64Array(count).fill(Number.NaN);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    const sum = sums[strikeIndex[i]!]!;
    sums[strikeIndex[i]!] = Number.isNaN(sum) ? value : sum + value;
  }
  return sums;
}

/** Sums at each strike; NaN if any value is unknown. */
function total(values: Float64Array, strikeIndex: Uint32Array, count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let i = 0; i < values.length; i++) sums[strikeIndex[i]!] = sums[strikeIndex[i]!]! + values[i]!;
  return sums;
}

/** Net rows from rows by expiry, ascending by strike. */
export function netCurve(rows: GexColumns): GexColumns {
  const strikeIndex = new Uint32Array(rows.strike.length);
  const strikes: number[] = [];
  for (let i = 0; i < strikeIndex.length; i++) {
    if (rows.strike[i] !== strikes.at(-1)) strikes.push(rows.strike[i]!);
    strikeIndex[i] = strikes.length - 1;
  }
  return {
    strike: Float64Array.from(strikes),
    expiry: new Float64Array(strikes.length).fill(Number.NaN),
    ...rowBy(exposureColumns, (name) => total(rows[name], strikeIndex, strikes.length)),
    ...rowBy(partColumns, (name) => summed(rows[name], strikeIndex, strikes.length)),
  };
}

/** The rows whose expiry (epoch day) is selected. */
export function rowsOfExpiries(rows: GexColumns, keeps: (expiryDay: number) => boolean): GexColumns {
  const indexes = Uint32Array.from(rows.strike, (_, index) => index).filter((index) => keeps(rows.expiry[index]!));
  return columnsAt(rows, indexes);
}
