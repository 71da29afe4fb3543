import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { americanPrice } from '../../../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { groupChain, yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { chainMarket } from '../../../../src/core/analytics/pricing/chain-market.ts';
import type { ChainCapture, ChainRow } from '../../../../src/core/domain/chain/chain.ts';
import { lastInstant, standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import type { Dividend } from '../../../../src/core/domain/market/dividends.ts';
import { capturedAt, chainOf, market, pricedChain, sessionDate, smileAt } from '../priced-chain.ts';

const { rate } = market;
const strikes = Array.from({ length: 41 }, (_, i) => 550 + 2.5 * i);
const expiries = [sessionDate, '2025-06-06', '2025-06-13', '2025-06-20', '2025-09-19', '2025-12-19'];

function marketOf(chain: ChainCapture, spot = chain.spot!, dividends: readonly Dividend[] = []) {
  return chainMarket(chain, groupChain(chain), spot, { rate, dividends });
}

/**
 * A chain in which `spot` falls by `dividend` before the first expiry, priced as Europeans see it, quoted two cents
 * wide.
 */
function withDividend(root: string, dates: readonly string[], dividend: number, years: number, between: number) {
  const rows = dates.flatMap((expiry) =>
    strikes.flatMap((strike) =>
      (['call', 'put'] as const).map((right): ChainRow => {
        const time = yearsUntil(lastInstant(expiry, standardRoots.of(root).settlement), capturedAt);
        const spot = market.spot - dividend * (1 + Math.floor((time - between) / years));
        const inputs = { right, strike, spot, years: time, rate, dividendYield: 0, volatility: 0.2 };
        const price = blackScholes(inputs).price;
        const [row] = pricedChain(root, [expiry], [strike]).rows.filter((one) => one.right === right);
        return { ...row!, bid: Math.max(0.01, price - 0.01), ask: price + 0.01 };
      }),
    ),
  );
  return chainOf(rows);
}

describe.each(['SPXW', 'SPY'])('%s: a chain whose spot and quotes are not of one instant', (root) => {
  const chain = pricedChain(root, expiries, strikes);
  const own = solveChain(chain, { rate });

  test('is priced at what its quotes imply, whatever spot the source gives within some percent', () => {
    expect(own).toMatchObject({ spotStale: false, pricingSpot: 600 });
    expect(Math.abs(own.impliedSpot! - 600)).toBeLessThan(0.03);
    fc.assert(
      fc.property(fc.double({ min: -0.08, max: 0.08, noNaN: true }), (shift) => {
        fc.pre(Math.abs(shift) > 0.0006);
        const found = marketOf(chain, 600 * (1 + shift));
        expect(found.spotStale).toBe(true);
        expect(Math.abs(found.impliedSpot! - 600)).toBeLessThan(0.03);
      }),
      { numRuns: 40 },
    );
  });

  test.each([-1.1, 0.4, 6, 30])('off by %d: volatilities, deltas and gammas are those of the quotes', (off) => {
    const solved = solveChain({ ...chain, spot: 600 + off }, { rate });
    chain.rows.forEach((row, i) => {
      const strike = row.strike / 1000;
      // Further out an option of today is worth less than the cent that it is quoted wide.
      if (Math.abs(Math.log(strike / 600)) > (row.expiry === sessionDate ? 0.005 : 0.02)) return;
      expect(Math.abs(solved.iv[i]! - smileAt(strike))).toBeLessThan(0.005);
      expect(Math.abs(solved.delta[i]! - own.delta[i]!)).toBeLessThan(0.01);
      expect(Math.abs(solved.gamma[i]! / own.gamma[i]! - 1)).toBeLessThan(0.02);
    });
  });

  test('its dollar figures keep the source’s spot, and the capture says what its options were priced with', () => {
    const [straight, stale] = [600, 603].map((spot) =>
      computeGexCapture({ ...chain, spot }, { gammaSource: 'solve', rate }),
    );
    expect(straight).toMatchObject({ spot: 600, spotStale: false, inconsistentExpiries: 0 });
    expect(stale).toMatchObject({ spot: 603, spotStale: true, inconsistentExpiries: 0 });
    expect(Math.abs(stale!.impliedSpot! - 600)).toBeLessThan(0.03);
    expect(Math.abs(stale!.netGex / straight!.netGex / (603 / 600) - 1)).toBeLessThan(0.02);
    expect(Math.abs(stale!.zeroGamma! - straight!.zeroGamma!)).toBeLessThan(0.2);
    for (const { moveRatio } of stale!.expiries) expect(Math.abs(moveRatio! - 1)).toBeLessThan(0.05);
  });
});

describe('the implied spot', () => {
  const chain = pricedChain('SPY', expiries, strikes);

  test('within five basis points of the source’s, or twice the uncertainty of the quotes, it is not used', () => {
    expect(marketOf(chain, 600.25)).toMatchObject({ spotStale: false, pricingSpot: 600.25 });
    expect(marketOf(chain, 600.4)).toMatchObject({ spotStale: true });
    const wide = (half: number) => {
      const rows = chain.rows.map((row) => ({ ...row, bid: Math.max(0.01, row.bid! - half), ask: row.ask! + half }));
      return marketOf({ ...chain, rows }, 601);
    };
    expect(wide(0.1).spotStale).toBe(true);
    expect(wide(0.3).spotStale).toBe(false);
  });

  test('is voted by all pairs where no expiry within ten days has three; unknown without a vote', () => {
    const unknown = { impliedSpot: null, spotStale: null };
    expect(marketOf(pricedChain('SPY', ['2025-06-20', '2025-09-19'], strikes), 620)).toMatchObject({ spotStale: true });
    expect(marketOf(pricedChain('SPY', ['2025-06-06'], [597.5, 600]), 601)).toMatchObject({ spotStale: true });
    expect(marketOf(pricedChain('SPY', ['2025-08-15', '2025-09-19'], strikes), 620)).toMatchObject(unknown);
    expect(marketOf(pricedChain('SPY', ['2025-06-06'], [550, 650]), 601)).toMatchObject(unknown);
    expect(marketOf(pricedChain('SPY', ['2025-06-06'], [597.5, 600, 602.5]), 602)).toMatchObject({ spotStale: true });
  });

  test('is the middle of what American pairs leave open where no later expiry tells a yield', () => {
    const alone = pricedChain('SPY', ['2025-06-13'], [590, 595, 600, 605, 610]);
    const [group] = groupChain(alone);
    const discount = Math.exp(-rate * group!.years);
    const middles = group!.strikes.map(({ dollars, call, put }) => {
      const mid = (index: number) => 0.5 * (alone.rows[index]!.bid! + alone.rows[index]!.ask!);
      const difference = mid(call) - mid(put);
      return 0.5 * (dollars * discount + difference) + 0.5 * (dollars + difference);
    });
    const { impliedSpot } = marketOf(alone);
    expect(impliedSpot).toBeCloseTo(middles.toSorted((a, b) => a - b)[2]!, 9);
    // Over nine days it is at most 5 basis points from the price, whatever the yield between 0 and the rate.
    expect(Math.abs(impliedSpot! / 600 - 1)).toBeLessThan(0.0006);
    const withLater = marketOf(pricedChain('SPY', ['2025-06-13', '2025-12-19'], [590, 595, 600, 605, 610]));
    expect(Math.abs(withLater.impliedSpot! / 600 - 1)).toBeLessThan(0.00005);
  });

  test('a yield that quotes show to 5 % a year is believed; another is held in [−2 %, 15 %], the rest is in the spot', () => {
    const dates = ['2025-06-13', '2025-07-18', '2025-09-19'];
    const borrowed = (half: number) => {
      const rows = dates.flatMap((expiry) =>
        strikes.flatMap((strike) =>
          (['call', 'put'] as const).map((right): ChainRow => {
            const years = yearsUntil(lastInstant(expiry, 'pm'), capturedAt);
            const price = americanPrice({ ...market, right, strike, years, dividendYield: 0.3, volatility: 0.4 });
            const [row] = pricedChain('SPY', [expiry], [strike]).rows.filter((one) => one.right === right);
            return { ...row!, bid: Math.max(0.01, price - half), ask: price + half };
          }),
        ),
      );
      return marketOf(chainOf(rows));
    };
    const believed = borrowed(0.02);
    expect(believed.spotStale).toBe(false);
    for (const { dividendYield } of believed.groups) expect(Math.abs(dividendYield - 0.3)).toBeLessThan(0.02);
    // Over nine days $2 of half-spreads are 14 % a year.
    const [first, , last] = borrowed(1).groups;
    expect(first!.dividendYield).toBe(0.15);
    expect(Math.abs(last!.dividendYield - 0.3)).toBeLessThan(0.02);
  });

  test('a known dividend that goes ex before the first expiry explains what the quotes miss of the spot', () => {
    // Every quarter 0.2 % of 600, for the first time tomorrow: the options of eight days know of it, the spot does not.
    const chain = withDividend('SPXW', ['2025-06-12', '2025-06-20', '2025-09-19', '2025-12-19'], 1.2, 0.25, 1 / 365);
    expect(marketOf(chain)).toMatchObject({ spotStale: true });
    const dividend = { symbol: 'SPX', exDate: '2025-06-05', kind: 'regular', amount: 1.2, ratio: null, declared: null };
    const { spotStale, impliedSpot, groups } = marketOf(chain, 600, [dividend as Dividend]);
    expect(spotStale).toBe(false);
    // The later quarters are a yield, of which eight days are 0.1.
    expect(Math.abs(impliedSpot! - 600)).toBeLessThan(0.12);
    expect(groups[0]).toMatchObject({ dividend: { amount: 1.2, exDate: '2025-06-05', source: 'dataset' } });
    expect(Math.abs(groups[0]!.spot - 598.8)).toBeLessThan(0.06);
    expect(Math.abs(groups[0]!.dividendYield)).toBeLessThan(0.001);
  });
});

test('call and put of one strike have one volatility within their spreads, today’s expiry included', () => {
  for (const root of ['SPXW', 'SPY']) {
    for (const off of [-3, -0.2, 0, 0.2, 3]) {
      const chain = pricedChain(root, expiries, strikes);
      const { groups } = marketOf(chain, 600 + off);
      groupChain(chain).forEach(({ years, strikes: listed }, i) => {
        for (const { dollars, call, put } of listed) {
          if (Math.abs(dollars - 600) > 3) continue;
          const inputs = { strike: dollars, years, ...groups[i]!, volatility: smileAt(dollars) };
          for (const index of [call, put]) {
            const { right, bid, ask } = chain.rows[index]!;
            const price =
              root === 'SPY' ? americanPrice({ ...inputs, right }) : blackScholes({ ...inputs, right }).price;
            expect(price, `${root} ${off} ${dollars} ${right}`).toBeGreaterThan(bid! - 0.015);
            expect(price, `${root} ${off} ${dollars} ${right}`).toBeLessThan(ask! + 0.015);
          }
        }
      });
    }
  }
});
