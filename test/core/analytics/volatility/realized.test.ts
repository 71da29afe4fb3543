import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { realizedVolatility, variancePremium } from '../../../../src/core/analytics/volatility.ts';

interface Day {
  open: number;
  high: number;
  low: number;
  close: number;
}

const columns = (days: readonly Day[]) => ({
  open: Float64Array.from(days, ({ open }) => open),
  high: Float64Array.from(days, ({ high }) => high),
  low: Float64Array.from(days, ({ low }) => low),
  close: Float64Array.from(days, ({ close }) => close),
});

/** The four estimators as their papers write them, term by term. */
function byDefinition(days: readonly Day[]) {
  const n = days.length - 1;
  let [sumC, sumC2, sumP, sumGk, sumO, sumO2, sumB, sumB2, sumRs] = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let i = 1; i <= n; i++) {
    const { open, high, low, close } = days[i]!;
    const last = days[i - 1]!.close;
    const c = Math.log(close / last);
    const o = Math.log(open / last);
    const b = Math.log(close / open);
    [sumC, sumC2] = [sumC + c, sumC2 + c * c];
    [sumO, sumO2] = [sumO + o, sumO2 + o * o];
    [sumB, sumB2] = [sumB + b, sumB2 + b * b];
    sumP += Math.log(high / low) ** 2;
    sumGk += 0.5 * Math.log(high / low) ** 2 - (2 * Math.log(2) - 1) * b ** 2;
    sumRs += Math.log(high / close) * Math.log(high / open) + Math.log(low / close) * Math.log(low / open);
  }
  const spread = (sum: number, squares: number) => (squares - sum ** 2 / n) / (n - 1);
  const k = 0.34 / (1.34 + (n + 1) / (n - 1));
  const annual = (variance: number) => Math.sqrt(252 * variance);
  return {
    closeToClose: annual(spread(sumC, sumC2)),
    parkinson: annual(sumP / (4 * n * Math.log(2))),
    garmanKlass: annual(sumGk / n),
    yangZhang: annual(spread(sumO, sumO2) + k * spread(sumB, sumB2) + ((1 - k) * sumRs) / n),
  };
}

const day = fc
  .tuple(fc.double({ min: 50, max: 200, noNaN: true }), fc.double({ min: 50, max: 200, noNaN: true }))
  .chain(([open, close]) =>
    fc
      .tuple(fc.double({ min: 0, max: 0.1, noNaN: true }), fc.double({ min: 0, max: 0.1, noNaN: true }))
      .map(([up, down]) => ({
        open,
        close,
        high: Math.max(open, close) * (1 + up),
        low: Math.min(open, close) * (1 - down),
      })),
  );

describe('realized volatility', () => {
  test('of 20 sessions that alternately rise and fall by 1 % is 16.2 %, worked by hand', () => {
    // Returns ±ln 1.01, ten each: mean 0, Σx² = 20·ln²1.01, so σ² = 252·20/19·ln²1.01.
    const days: Day[] = [{ open: 100, high: 100, low: 100, close: 100 }];
    for (let i = 0; i < 20; i++) {
      const open = days.at(-1)!.close;
      const close = i % 2 === 0 ? open * 1.01 : open / 1.01;
      days.push({ open, close, high: Math.max(open, close), low: Math.min(open, close) });
    }
    const { closeToClose, parkinson, garmanKlass } = realizedVolatility(columns(days));
    expect(closeToClose).toBeCloseTo(0.1620601, 6);
    expect(parkinson).toBeCloseTo(Math.sqrt(252 / (4 * Math.LN2)) * Math.log(1.01), 12);
    // Half the squared range less 0.386 of the squared body, which is the range here.
    expect(garmanKlass).toBeCloseTo(Math.sqrt(252 * (1.5 - 2 * Math.LN2)) * Math.log(1.01), 12);
  });

  test('is what the definitions give term by term, and does not depend on the unit of prices', () => {
    fc.assert(
      fc.property(
        fc.array(day, { minLength: 3, maxLength: 30 }),
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        (days, unit) => {
          const scaled = days.map(({ open, high, low, close }) => ({
            open: unit * open,
            high: unit * high,
            low: unit * low,
            close: unit * close,
          }));
          const expected = byDefinition(days);
          for (const realized of [realizedVolatility(columns(days)), realizedVolatility(columns(scaled))])
            for (const name of ['closeToClose', 'parkinson', 'garmanKlass', 'yangZhang'] as const)
              expect(realized[name], name).toBeCloseTo(expected[name], 9);
        },
      ),
    );
  });

  test('the premium is a difference of variances, and of volatilities, under names of their own', () => {
    expect(variancePremium(0.2, 0.15)).toEqual({
      variance: expect.closeTo(0.0175, 12),
      volatility: expect.closeTo(0.05, 12),
    });
    expect(variancePremium(null, 0.15)).toBeNull();
    expect(variancePremium(0.2, null)).toBeNull();
  });
});
