import { fromThousandths } from '../../domain/units.ts';

/** Share of Σ|gex| below which cumulative sums count as zero: the rounding error of doubles that should cancel. */
const zeroShare = 1e-9;

/**
 * The price, dollars, at which the cumulative net curve crosses zero; null if it does not (spec 2.10). Strikes
 * ascending, integer thousandths. Leaving the initial zero is not a crossing. Of several crossings the nearest to
 * `spot`, the lower of two equally near ones.
 */
export function flipPoint(curve: readonly { strike: number; gex: number }[], spot: number): number | null {
  let nearest: number | null = null;
  for (const crossing of crossings(curve)) {
    if (nearest === null || Math.abs(crossing - spot) < Math.abs(nearest - spot)) nearest = crossing;
  }
  return nearest;
}

function* crossings(curve: readonly { strike: number; gex: number }[]): Generator<number> {
  const zero = zeroShare * curve.reduce((sum, row) => sum + Math.abs(row.gex), 0);
  let cumulative = 0;
  // The last non-zero point, and the exact zeros since then.
  let last: { strike: number; sum: number } | null = null;
  let zeros: number[] = [];
  for (const { strike: thousandths, gex } of curve) {
    const strike = fromThousandths(thousandths);
    cumulative += gex;
    if (Math.abs(cumulative) <= zero) {
      zeros.push(strike);
      continue;
    }
    if (last !== null && last.sum > 0 !== cumulative > 0) {
      if (zeros.length > 0) yield* zeros;
      else yield interpolated(last, { strike, sum: cumulative });
    }
    last = { strike, sum: cumulative };
    zeros = [];
  }
}

function interpolated(a: { strike: number; sum: number }, b: { strike: number; sum: number }): number {
  const weight = Math.abs(a.sum) / (Math.abs(a.sum) + Math.abs(b.sum));
  return a.strike + (b.strike - a.strike) * weight;
}
