import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  charmExposure,
  deltaAdjustedGex,
  deltaExposure,
  gex,
  vannaExposure,
  vegaExposure,
} from '../../../../src/core/analytics/gex/exposure.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';

const market = { spot: 600, strike: 600, years: 30 / 365, rate: 0.045, dividendYield: 0.012, volatility: 0.15 };
const call = { right: 'call', openInterest: 10_000, multiplier: 100, ...greeksOf('call') } as const;
const put = { right: 'put', openInterest: 8000, multiplier: 100, ...greeksOf('put') } as const;

function greeksOf(right: 'call' | 'put') {
  const { delta, gamma, vanna, charm, vega } = blackScholes({ ...market, right });
  return { delta, gamma, vanna, charm, vega: vega / 100 };
}

describe('exposures of a contract', () => {
  test('the worked row: 10,000 calls and 8,000 puts at 600', () => {
    expect(gex(call, 600)).toBeCloseTo(9_234_705.9, 2);
    expect(gex(call, 600) / 600).toBeCloseTo(15_391.176, 3);
    expect(gex(put, 600)).toBeCloseTo(-7_387_764.72, 2);
    expect(gex(call, 600) + gex(put, 600)).toBeCloseTo(1_846_941.18, 2);
    expect(deltaAdjustedGex(call, 600) + deltaAdjustedGex(put, 600)).toBeCloseTo(1_482_183.82, 2);
  });

  test('vanna is dollars of delta a vol point, charm dollars of delta a day, with the sign of gex', () => {
    expect(vannaExposure(call, 600)).toBeCloseTo(-0.1100574538 * 10_000 * 100 * 600 * 0.01, 0);
    expect(charmExposure(put, 600)).toBeCloseTo((0.2099079527 * 8000 * 100 * 600) / 365, 0);
  });

  test('delta exposure has the sign of delta, vega exposure that of gex', () => {
    // Δ .5331737844 and −.4658404004, vega 68.31152306 per 1.00 of volatility.
    expect(deltaExposure(call, 600)).toBeCloseTo(319_904_270.64, 0);
    expect(deltaExposure(put, 600)).toBeCloseTo(-223_603_392.19, 0);
    expect(vegaExposure(call)).toBeCloseTo(683_115.23, 2);
    expect(vegaExposure(put)).toBeCloseTo(-546_492.18, 2);
  });

  test('doubling open interest doubles all', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), (openInterest) => {
        for (const exposure of [gex, deltaAdjustedGex, deltaExposure, vannaExposure, charmExposure, vegaExposure]) {
          const once = exposure({ ...call, openInterest }, 600);
          expect(exposure({ ...call, openInterest: 2 * openInterest }, 600)).toBe(2 * once);
        }
      }),
    );
  });
});
