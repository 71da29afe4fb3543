import type { GexRow } from '../../domain/gex/gex.ts';

/** A strike, integer thousandths, with the gex of its calls and of its puts summed over expiries. */
export interface SidedGex {
  strike: number;
  callGex: number;
  putGex: number;
}

/** The strike of the largest value above zero, the first of equal ones; null if there is none. */
function strikeOfMost<Row extends { strike: number }>(rows: readonly Row[], value: (row: Row) => number) {
  let most: { strike: number; value: number } | null = null;
  for (const row of rows) if (value(row) > (most?.value ?? 0)) most = { strike: row.strike, value: value(row) };
  return most?.strike ?? null;
}

/**
 * Strikes, thousandths, of the largest positive and the most negative net gex; null if no strike has that sign. Ties:
 * the lower strike. Net rows, ascending by strike.
 */
export function walls(rows: readonly Pick<GexRow, 'strike' | 'gex'>[]): {
  callWall: number | null;
  putWall: number | null;
} {
  return { callWall: strikeOfMost(rows, ({ gex }) => gex), putWall: strikeOfMost(rows, ({ gex }) => -gex) };
}

/**
 * Strikes, thousandths, of the largest call gex and the largest |put gex|; null if that side has none. Ties: the lower
 * strike. Each considers one side only, so the two can be in reverse order: they are not walls.
 */
export function gexPeaks(rows: readonly SidedGex[]): { callGexPeak: number | null; putGexPeak: number | null } {
  return {
    callGexPeak: strikeOfMost(rows, ({ callGex }) => callGex),
    putGexPeak: strikeOfMost(rows, ({ putGex }) => Math.abs(putGex)),
  };
}
