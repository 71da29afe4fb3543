/** Open contracts at a strike (thousandths), calls and puts; weighted by multiplier where multipliers differ. */
export interface StrikeInterest {
  strike: number;
  calls: number;
  puts: number;
}

/**
 * The listed strike, thousandths, at which holders would receive least at expiry; null without open interest. Ties: the
 * lowest. Strikes ascending. What holders receive is convex in the settlement price and its slope between two strikes
 * is (calls at or below) − (puts above), in whole contracts: the least is where that first stops being negative.
 */
export function maxPain(rows: readonly StrikeInterest[]): number | null {
  let putsAbove = rows.reduce((sum, row) => sum + row.puts, 0);
  let callsBelow = 0;
  if (putsAbove === 0 && !rows.some((row) => row.calls > 0)) return null;
  for (const { strike, calls, puts } of rows) {
    callsBelow += calls;
    putsAbove -= puts;
    if (callsBelow >= putsAbove) return strike;
  }
  return null;
}
