import { describe, expect, test } from 'vitest';
import { yearsToExpiry, yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { carriedForward, parityForward } from '../../../../src/core/analytics/pricing/forward.ts';
import { nearestPairs } from '../../../../src/core/analytics/pricing/quoted-pairs.ts';
import { lastInstant } from '../../../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';

/** Pairs whose parity forward is `forwards`, at strikes 595, 600, 605 …, undiscounted. */
function pairs(forwards: readonly number[]) {
  return forwards.map((forward, i) => {
    const strike = 595 + 5 * i;
    const [callMid, putMid] = [20 + Math.max(0, forward - strike), 20 + Math.max(0, strike - forward)];
    return { strike, callMid, putMid, halfSpread: 0.1 };
  });
}

describe('forwards', () => {
  test('the median over the five strikes nearest the money', () => {
    // 620 and 625 are too far to count, 999 is an outlier among the five.
    expect(parityForward(nearestPairs(pairs([601, 602, 999, 603, 604, 1, 1]), 605), 1)).toBe(603);
    expect(parityForward(pairs([601, 603]), 1)).toBe(602);
    expect(parityForward([], 1)).toBeNaN();
  });

  test('the difference of call and put is carried to expiry by the rate', () => {
    const discount = Math.exp(-0.05);
    const pair = { strike: 600, callMid: 30, putMid: 20, halfSpread: 0.1 };
    expect(parityForward([pair], discount)).toBeCloseTo(600 + 10 / discount, 12);
    expect(carriedForward(600, 0.05, 0.01, 2)).toBeCloseTo(600 * Math.exp(0.08), 9);
  });
});

describe('time to expiry', () => {
  const noon = exchangeInstant('2024-11-29', 12 * 60);

  test.each([
    ['pm', '2024-12-02', '16:00 on a full day', 3 + 4 / 24],
    ['pm', '2024-11-29', '13:00 on a half day', 1 / 24],
    ['am', '2024-12-02', '09:30', 3 - 2.5 / 24],
    ['am', '2024-11-29', 'out on its own date', 0],
    ['pm', '2024-11-27', 'expired', 0],
  ] as const)('%s %s: %s', (settlement, expiry, _name, days) => {
    expect(yearsToExpiry(expiry, { settlement }, noon) * 365).toBeCloseTo(days, 9);
  });

  test('an open-settled root is out from midnight, before it settles', () => {
    const early = exchangeInstant('2024-12-20', 60);
    expect(yearsToExpiry('2024-12-20', { settlement: 'am' }, early)).toBe(0);
    expect(yearsUntil(lastInstant('2024-12-20', 'am'), early)).toBeGreaterThan(0);
  });
});
