import fc from 'fast-check';
import { expect, test } from 'vitest';
import { growLattice } from '../../../../src/core/analytics/pricing/american.ts';
import { blackScholes, type OptionInputs } from '../../../../src/core/analytics/pricing/black-scholes.ts';

const markets = fc.record({
  right: fc.constantFrom('call', 'put'),
  strike: fc.double({ min: 60, max: 160, noNaN: true }),
  years: fc.double({ min: 0.01, max: 2, noNaN: true }),
  rate: fc.double({ min: -0.03, max: 0.1, noNaN: true }),
  dividendYield: fc.double({ min: -0.03, max: 0.1, noNaN: true }),
  volatility: fc.double({ min: 0.1, max: 0.8, noNaN: true }),
}) as fc.Arbitrary<Omit<OptionInputs, 'spot'>>;

/** The textbook tree: every node of every level compared with exercise. The move sizes are the lattice's own. */
function plainTree(market: Omit<OptionInputs, 'spot'>, nearMove: number, farMove: number, steps: number): number {
  const { right, strike, years, rate, dividendYield } = market;
  const sign = right === 'call' ? 1 : -1;
  const growth = Math.exp(((rate - dividendYield) * years) / steps);
  const far = (growth - nearMove) / (farMove - nearMove);
  const discount = Math.exp((-rate * years) / steps);
  const exercise = (level: number, m: number) => sign * (100 * nearMove ** (level - m) * farMove ** m - strike);
  const values = Array.from({ length: steps + 1 }, (_, m) => Math.max(0, exercise(steps, m)));
  for (let level = steps - 1; level >= 0; level--) {
    for (let m = 0; m <= level; m++) {
      const hold = discount * ((1 - far) * values[m]! + far * values[m + 1]!);
      values[m] = Math.max(hold, exercise(level, m));
    }
  }
  return values[0]!;
}

test('skipping the nodes beyond the exercise boundary changes nothing', () => {
  fc.assert(
    fc.property(markets, fc.constantFrom(51, 101), (market, steps) => {
      const { right, strike, years, rate, dividendYield, volatility } = market;
      const tree = growLattice(right, 100, strike, years, rate, dividendYield, volatility, steps);
      if (tree === null) return;
      const [near, far] = [tree.firstPrices[0] / 100, tree.firstPrices[1] / 100];
      const { root } = tree.american;
      expect(Math.abs(root - plainTree(market, near, far, steps))).toBeLessThan(1e-9);
      const advantage = root - (right === 'call' ? 100 - strike : strike - 100);
      // Where holding and exercising are worth the same, rounding decides.
      if (Math.abs(advantage) > 1e-9) expect(tree.exercised).toBe(advantage < 0);
    }),
    { numRuns: 300 },
  );
});

test('the European value on the tree is the formula’s to a hundred-thousandth of spot', () => {
  fc.assert(
    fc.property(markets, (market) => {
      const { right, strike, years, rate, dividendYield, volatility } = market;
      const tree = growLattice(right, 100, strike, years, rate, dividendYield, volatility);
      if (tree === null) return;
      expect(Math.abs(tree.european.root - blackScholes({ ...market, spot: 100 }).price)).toBeLessThan(3e-3);
    }),
  );
});
