import { expect, test } from 'vitest';
import { premiumBefore, premiumRatios } from '../../../../src/core/analytics/flow/unusual.ts';

test('premium so far is that of the minutes that began before', () => {
  const minutes = {
    tsMs: Float64Array.of(0, 60_000, 180_000),
    callPremiumUsd: Float64Array.of(5, 7, 11),
    putPremiumUsd: Float64Array.of(1, 2, 4),
  };
  expect(premiumBefore(minutes, 180_000)).toEqual({ callPremiumUsd: 12, putPremiumUsd: 3 });
  expect(premiumBefore(minutes, 180_001)).toEqual({ callPremiumUsd: 23, putPremiumUsd: 7 });
  expect(premiumBefore(minutes, 0)).toEqual({ callPremiumUsd: 0, putPremiumUsd: 0 });
});

test('a ratio is over the mean of the sessions before; without one, or a mean of 0, there is none', () => {
  const of = (callPremiumUsd: number, putPremiumUsd: number) => ({ callPremiumUsd, putPremiumUsd });
  expect(premiumRatios(of(300, 50), [of(100, 0), of(200, 0)])).toEqual({ call: 2, put: null });
  expect(premiumRatios(of(300, 50), [])).toEqual({ call: null, put: null });
});
