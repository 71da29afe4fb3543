/** A strike, integer thousandths, with the gex of its calls and of its puts summed over expiries. */
export interface SidedGex {
  strike: number;
  callGex: number;
  putGex: number;
}

/**
 * Strikes, thousandths, of the largest call gex and the largest |put gex|; null when that side has none. Ties: the
 * lower strike.
 */
export function walls(rows: readonly SidedGex[]): { callWall: number | null; putWall: number | null } {
  let callWall: SidedGex | null = null;
  let putWall: SidedGex | null = null;
  for (const row of rows) {
    if (row.callGex > (callWall?.callGex ?? 0)) callWall = row;
    if (Math.abs(row.putGex) > Math.abs(putWall?.putGex ?? 0)) putWall = row;
  }
  return { callWall: callWall?.strike ?? null, putWall: putWall?.strike ?? null };
}
