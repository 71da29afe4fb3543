import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import type { ChainRow } from '../../../../src/core/domain/chain/chain.ts';
import { chainOf, market, pricedChain, sessionDate, smileAt } from '../priced-chain.ts';

const strikes = Array.from({ length: 21 }, (_, i) => 550 + 5 * i);
const options = { rate: market.rate, gammaSource: 'solve' } as const;
const third = '2025-06-20';

function figuresOf(root: string, change: (row: ChainRow) => Partial<ChainRow> = () => ({}), spot = 600) {
  const { rows } = pricedChain(root, [sessionDate, third], strikes);
  const chain = chainOf(
    rows.map((row) => ({ ...row, ...change(row) })),
    { spot },
  );
  const solved = solveChain(chain, options);
  const { expiries, inconsistentExpiries } = computeGexCapture(chain, { ...options, solved })!;
  const of = (expiry: string) => expiries.find((one) => one.expiry === expiry)!;
  return { solved, inconsistentExpiries, today: of(sessionDate), later: of(third) };
}

describe.each(['SPXW', 'SPY'])('%s: the figures of an expiry', (root) => {
  test('the volatility at the money is that of the smile at the forward', () => {
    const { solved, later } = figuresOf(root);
    const group = solved.groups.find(({ expiry }) => expiry === third)!;
    expect(Math.abs(later.atmIv! - smileAt(group.forward))).toBeLessThan(0.0005);
  });

  test('it is null where a side of the forward has no solved strike', () => {
    const none = { bid: null, ask: null, openInterest: 0 };
    const { later, today } = figuresOf(root, ({ expiry, strike }) =>
      expiry === third && strike > 600_000 ? none : {},
    );
    expect(later.atmIv).toBeNull();
    expect(later.expectedMoveSigma).toBeNull();
    expect(today.atmIv).not.toBeNull();
  });

  test('the self-check compares the straddle nearest the forward with its own value, at a right spot and at a stale one', () => {
    for (const spot of [600, 606]) {
      const { inconsistentExpiries, today, later } = figuresOf(root, undefined, spot);
      expect(inconsistentExpiries).toBe(0);
      for (const { moveRatio } of [today, later]) expect(Math.abs(moveRatio! - 1)).toBeLessThan(0.03);
    }
  });

  test('an in-the-money quote that contradicts the other fails it, unless half-spreads explain that', () => {
    // The forward is over 600: at 600 the call is in the money.
    const dear = (halfSpread: number) => (row: ChainRow) => {
      if (row.expiry !== third || row.strike !== 600_000 || row.right !== 'call') return {};
      const middle = 0.5 * (row.bid! + row.ask!) + 2;
      return { bid: middle - halfSpread, ask: middle + halfSpread };
    };
    const { later, inconsistentExpiries } = figuresOf(root, dear(0.01));
    expect(later.inconsistent).toBe(true);
    expect(later.moveRatio).toBeGreaterThan(1.05);
    expect(inconsistentExpiries).toBe(1);
    expect(figuresOf(root, dear(2.2)).later.inconsistent).toBe(false);
  });

  test('there is no check where that strike has no volatility of its own', () => {
    const { later } = figuresOf(root, ({ expiry, strike, right }) =>
      expiry === third && strike === 600_000 && right === 'put' ? { bid: null, ask: null } : {},
    );
    expect(later).toMatchObject({ moveRatio: null, inconsistent: false });
    expect(later.atmIv).not.toBeNull();
  });
});
