import { expect, test } from 'vitest';
import { sigmaMove, straddleMove } from '../../../src/analytics/chain/expected-move.ts';
import { walls } from '../../../src/analytics/gex/walls.ts';

test('walls are the strikes of the most call gex and the most negative put gex, of equals the lower', () => {
  const rows = [
    { strike: 590_000, callGex: 1, putGex: -9 },
    { strike: 600_000, callGex: 7, putGex: -9 },
    { strike: 610_000, callGex: 7, putGex: -2 },
  ];
  expect(walls(rows)).toEqual({ callWall: 600_000, putWall: 590_000 });
});

test('a side without gex has no wall', () => {
  expect(walls([{ strike: 590_000, callGex: 0, putGex: -1 }])).toEqual({ callWall: null, putWall: 590_000 });
  expect(walls([])).toEqual({ callWall: null, putWall: null });
});

test('the expected move is the straddle, or one standard deviation; unknown where a part is', () => {
  expect(straddleMove(5.25, 4.5)).toBe(9.75);
  expect(straddleMove(5.25, null)).toBeNull();
  expect(sigmaMove(600, 0.2, 0.25)).toBeCloseTo(60, 12);
  expect(sigmaMove(600, null, 0.25)).toBeNull();
  expect(sigmaMove(600, 0.2, 0)).toBeNull();
});
