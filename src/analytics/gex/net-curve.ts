import type { GexColumns } from '../../domain/gex/gex.ts';

/** Sums what is known at each strike; NaN where nothing is. */
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

/** Sums at each strike; NaN where any part is unknown. */
function total(values: Float64Array, strikeIndex: Uint32Array, count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let i = 0; i < values.length; i++) sums[strikeIndex[i]!] = sums[strikeIndex[i]!]! + values[i]!;
  return sums;
}

/**
 * Net rows from rows by expiry, ascending by strike. Delta-adjusted gex is known where all its parts are; open interest
 * and the 0DTE part sum what is known.
 */
export function netCurve(rows: GexColumns): GexColumns {
  const strikeIndex = new Uint32Array(rows.strike.length);
  const strikes: number[] = [];
  for (let i = 0; i < strikeIndex.length; i++) {
    if (rows.strike[i] !== strikes.at(-1)) strikes.push(rows.strike[i]!);
    strikeIndex[i] = strikes.length - 1;
  }
  const sums = (values: Float64Array) => summed(values, strikeIndex, strikes.length);
  return {
    strike: Float64Array.from(strikes),
    expiry: new Float64Array(strikes.length).fill(Number.NaN),
    gex: total(rows.gex, strikeIndex, strikes.length),
    deltaAdj: total(rows.deltaAdj, strikeIndex, strikes.length),
    callOi: sums(rows.callOi),
    putOi: sums(rows.putOi),
    gex0dte: sums(rows.gex0dte),
  };
}

/** The rows whose expiry (epoch day) is selected. */
export function rowsOfExpiries(rows: GexColumns, keeps: (expiryDay: number) => boolean): GexColumns {
  const indexes = Uint32Array.from(rows.strike, (_, index) => index).filter((index) => keeps(rows.expiry[index]!));
  const picked = (values: Float64Array) => Float64Array.from(indexes, (index) => values[index]!);
  return {
    strike: picked(rows.strike),
    expiry: picked(rows.expiry),
    gex: picked(rows.gex),
    deltaAdj: picked(rows.deltaAdj),
    callOi: picked(rows.callOi),
    putOi: picked(rows.putOi),
    gex0dte: picked(rows.gex0dte),
  };
}
