import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { americanPrice } from '../../../../src/core/analytics/pricing/american.ts';
import { yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { type ChainRow, solveOrigins } from '../../../../src/core/domain/chain/chain.ts';
import { lastInstant } from '../../../../src/core/domain/chain/option-root.ts';
import { capturedAt, chainOf, pricedRow } from '../priced-chain.ts';

const expiry = '2025-06-13';
const spot = 11.4;
const strikes = Array.from({ length: 16 }, (_, i) => 7.5 + 0.5 * i);
const smileAt = (strike: number) => 0.45 - 0.15 * Math.log(strike / spot);
const interpolated = solveOrigins.indexOf('interpolated');

/** Quotes to the cent of an $11.40 share, a cent either side of the price; nobody bids under half a cent. */
function rowsOf(more: (strike: number) => Partial<ChainRow> = () => ({})): ChainRow[] {
  const years = yearsUntil(lastInstant(expiry, 'pm'), capturedAt);
  return strikes.flatMap((strike) =>
    (['call', 'put'] as const).map((right) => {
      const option = { right, strike, spot, years, rate: 0.045, dividendYield: 0, volatility: smileAt(strike) };
      const cents = Math.round(100 * americanPrice(option));
      const quote = { bid: Math.max(0, cents - 1) / 100, ask: (cents + 1) / 100, strike: 1000 * strike };
      return { ...pricedRow('F', expiry, right, strike), ...quote, ...more(strike) };
    }),
  );
}

describe('a strike that nobody bids for', () => {
  const solve = (rows: ChainRow[]) => solveChain(chainOf(rows, { spot }), { rate: 0.045 });
  const solved = solve(rowsOf());

  test('is on the line of its expiry where its ask says little: a mid of half a cent is no volatility of 0.7', () => {
    const [group] = solved.groups;
    const unbid = group!.strikes.filter(({ dollars }) => dollars <= 9 || dollars >= 14);
    expect(unbid).toHaveLength(7);
    for (const { dollars, call, put } of unbid) {
      expect([solved.origin[call], solved.origin[put]]).toEqual([interpolated, interpolated]);
      expect(Math.abs(solved.iv[call]! - smileAt(dollars)), `${dollars}`).toBeLessThan(0.03);
      expect(solved.iv[put]).toBe(solved.iv[call]);
    }
  });

  test('has the volatility of its mid with fewer than three strikes that have a bid', () => {
    const bare = solve(rowsOf((strike) => (strike === 11 || strike === 11.5 ? {} : { bid: 0 })));
    const { call } = bare.groups[0]!.strikes.find(({ dollars }) => dollars === 14.5)!;
    expect(bare.iv[call]).toBeGreaterThan(0.6);
  });

  test('has the volatility of its mid where half its ask is worth less than a tenth of it', () => {
    // A quarter before expiry a mid of $0.025 is over three deviations away.
    const rows = [560, 590, 600, 610, 640, 800].map((strike) =>
      pricedRow(
        'SPXW',
        '2025-09-19',
        strike >= 610 ? 'call' : 'put',
        strike,
        strike === 800 ? { bid: 0, ask: 0.05 } : {},
      ),
    );
    const index = rows.length - 1;
    const far = solveChain(chainOf(rows), { rate: 0.045 });
    expect(solveOrigins[far.origin[index]!]).toBe('outOfTheMoney');
  });
});
