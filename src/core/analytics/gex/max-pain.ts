/** Open contracts at a strike (thousandths), calls and puts; weighted by multiplier if multipliers differ. */
export interface StrikeInterest {
  strike: number;
  calls: number;
  puts: number;
}

/**
 * The listed strike, thousandths, with the smallest payout to holders at expiry; null without open interest. Ties: the
 * lowest. Strikes ascending. The payout is convex in the settlement price and its slope between two strikes is (calls
 * at or below) − (puts above), in whole contracts: the minimum is where that first stops being negative.
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
