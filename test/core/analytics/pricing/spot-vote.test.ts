import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupChain, yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { type ChainMarket, chainMarket } from '../../../../src/core/analytics/pricing/chain-market.ts';
import { sharedInterval } from '../../../../src/core/analytics/pricing/implied-spot.ts';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../../../../src/core/domain/chain/chain.ts';
import { lastInstant } from '../../../../src/core/domain/chain/option-root.ts';
import type { Dividend } from '../../../../src/core/domain/market/dividends.ts';
import { addDays, exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { escrowedTreePrice } from '../escrowed-tree.ts';

// A Tuesday.
const sessionDate = '2025-07-15';
const at = exchangeInstant(sessionDate, 11 * 60);
const fridays = [3, 10, 17, 31, 45, 66, 94, 157].map((days) => addDays(sessionDate, days));

/** A share, its rates and its listed options. */
interface Share {
  spot: number;
  rate: number;
  dividendYield: number;
  volatility: number;
  /** Strikes around the spot, dollars. */
  strikes: readonly number[];
  expiries: readonly string[];
  /** Dollars; 0 = none. */
  dividend: number;
  exDate: string;
  /** Half-spread, dollars, and a fraction of the price on top. */
  halfSpread: number;
  wide: number;
}

const cents = (dollars: number, round: (value: number) => number) => round(100 * dollars + 1e-9 * round(1)) / 100;

/** Its options as another tree than the project's prices them, quoted to the cent around that. */
function quotesOf(share: Share): ChainCapture {
  const exYears = yearsUntil(exchangeInstant(addDays(share.exDate, -1), 16 * 60), at);
  const rows = share.expiries.flatMap((expiry) => {
    const years = yearsUntil(lastInstant(expiry, 'pm'), at);
    const paid = share.dividend > 0 && share.exDate <= expiry ? share.dividend : 0;
    return share.strikes.flatMap((strike) =>
      (['call', 'put'] as const).map((right): ChainRow => {
        const terms = { dividend: paid, exYears: paid > 0 ? exYears : 0.5 * years };
        const price = escrowedTreePrice({ ...share, right, strike, years, ...terms }, 120);
        const half = share.halfSpread + share.wide * price;
        const quote = { bid: Math.max(0, cents(price - half, Math.floor)), ask: cents(price + half, Math.ceil) };
        return {
          ...unknownNumbers,
          root: 'XYZ',
          expiry,
          right,
          strike: Math.round(1000 * strike),
          openInterest: 100,
          ...quote,
          sharesPerContract: 100,
        };
      }),
    );
  });
  const capture = { underlying: 'XYZ', capturedAt: at, sessionDate, priorCloseSpot: null, partial: false };
  return { ...capture, spot: share.spot, rows };
}

function marketAt(share: Share, spot: number, chain = quotesOf(share)): ChainMarket {
  const paid = { symbol: 'XYZ', exDate: share.exDate, kind: 'regular' as const, ratio: null, declared: null };
  const dividends: Dividend[] = share.dividend > 0 ? [{ ...paid, amount: share.dividend }] : [];
  return chainMarket(chain, groupChain(chain), spot, { rate: share.rate, dividends });
}

const strikesAround = (spot: number, step: number) => {
  const nearest = Math.round(spot / step);
  return Array.from({ length: 13 }, (_, i) => step * (nearest + i - 6)).filter((strike) => strike > 0);
};

const monthlies: Share = {
  spot: 71.04,
  rate: 0.03,
  dividendYield: 0.01,
  volatility: 0.2,
  halfSpread: 0.01,
  wide: 0.005,
  strikes: strikesAround(71, 2.5),
  expiries: fridays.slice(3),
  dividend: 0,
  exDate: '2025-07-16',
};

const shares: fc.Arbitrary<Share> = fc
  .record({
    spot: fc.integer({ min: 400, max: 60_000 }).map((value) => value / 100),
    rate: fc.double({ min: 0, max: 0.08, noNaN: true }),
    dividendYield: fc.double({ min: -0.01, max: 0.12, noNaN: true }),
    volatility: fc.double({ min: 0.1, max: 1.2, noNaN: true }),
    step: fc.constantFrom(0.01, 0.02, 0.04, 0.07, 0.12),
    expiries: fc.subarray(fridays, { minLength: 1 }),
    dividend: fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 0.06, noNaN: true })),
    exDate: fc.constantFrom('2025-07-16', '2025-07-24', '2025-08-19'),
    halfSpread: fc.constantFrom(0.005, 0.01, 0.02, 0.05),
    wide: fc.constantFrom(0, 0.005, 0.02),
  })
  .map(({ step, dividend, ...share }): Share => {
    const listed = [0.5, 1, 2.5, 5, 10, 25].find((one) => one >= step * share.spot) ?? 50;
    const paid = Math.round(100 * dividend * share.spot) / 100;
    return { ...share, strikes: strikesAround(share.spot, listed), dividend: paid };
  });

describe('quotes priced by a tree', () => {
  test('of right quotes the source’s price is never found stale, and what they imply is near it', () => {
    fc.assert(
      fc.property(shares, (share) => {
        const { spotStale, impliedSpot } = marketAt(share, share.spot);
        expect(spotStale).not.toBe(true);
        if (impliedSpot !== null) expect(Math.abs(impliedSpot / share.spot - 1)).toBeLessThan(0.01);
      }),
      { numRuns: 60 },
    );
  });

  test('a price that is 1 % off is never replaced by a worse one', () => {
    fc.assert(
      fc.property(shares, fc.constantFrom(0.99, 1.01), (share, factor) => {
        const { spotStale, impliedSpot } = marketAt(share, share.spot * factor);
        if (spotStale) expect(Math.abs(impliedSpot! / share.spot - 1)).toBeLessThan(0.0101);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a share with monthly expiries only', () => {
  test('shows its price by the votes of its pairs: a source that is 1 % off is stale', () => {
    expect(marketAt(monthlies, 71.04)).toMatchObject({ spotStale: false, pricingSpot: 71.04 });
    for (const factor of [0.99, 1.01]) {
      const { spotStale, impliedSpot } = marketAt(monthlies, factor * 71.04);
      expect(spotStale).toBe(true);
      expect(Math.abs(impliedSpot! / 71.04 - 1)).toBeLessThan(0.004);
    }
  });

  test('one pair is a vote, further than 60 days away or wider than 2 % none is', () => {
    const one = { ...monthlies, strikes: [70], expiries: fridays.slice(2, 3), dividendYield: 0 };
    expect(marketAt(one, 71.75)).toMatchObject({ spotStale: true });
    expect(marketAt({ ...one, expiries: fridays.slice(5, 6) }, 71.75)).toMatchObject({ spotStale: null });
    expect(marketAt({ ...one, halfSpread: 0.5 }, 71.75)).toMatchObject({ spotStale: null, impliedSpot: null });
  });
});

describe('the interval that most votes share', () => {
  const vote = (low: number, high: number) => ({ low, high });

  test('is the smallest one that the largest number shares', () => {
    expect(sharedInterval([], 10)).toBeNull();
    expect(sharedInterval([vote(9, 11)], 10)).toEqual({ low: 9, high: 11, count: 1 });
    expect(sharedInterval([vote(9, 11), vote(10, 12), vote(10.5, 14), vote(20, 21)], 30)).toEqual({
      low: 10.5,
      high: 11,
      count: 3,
    });
    // Votes that touch share a point.
    expect(sharedInterval([vote(9, 10), vote(10, 12)], 30)).toEqual({ low: 10, high: 10, count: 2 });
  });

  test('of equals is the one nearest the source’s price', () => {
    const votes = [vote(9, 10), vote(9.5, 10.5), vote(20, 21), vote(20.5, 22)];
    expect(sharedInterval(votes, 11)).toMatchObject({ low: 9.5, high: 10 });
    expect(sharedInterval(votes, 19)).toMatchObject({ low: 20.5, high: 21 });
  });
});
