import { expect, test } from 'vitest';
import { sigmaMove, straddleMove } from '../../../../src/core/analytics/gex/expiries.ts';
import { gexPeaks, walls } from '../../../../src/core/analytics/gex/levels.ts';

test('walls are the strikes of the largest positive and the most negative net gex, of equals the lower', () => {
  const rows = [
    { strike: 590_000, gex: -9 },
    { strike: 595_000, gex: -9 },
    { strike: 600_000, gex: 7 },
    { strike: 610_000, gex: 7 },
  ];
  expect(walls(rows)).toEqual({ callWall: 600_000, putWall: 590_000 });
});

test('a sign that no strike has gives no wall', () => {
  expect(walls([{ strike: 590_000, gex: -1 }])).toEqual({ callWall: null, putWall: 590_000 });
  expect(walls([{ strike: 590_000, gex: 0 }])).toEqual({ callWall: null, putWall: null });
  expect(walls([])).toEqual({ callWall: null, putWall: null });
});

test('peaks look at one side each, so that they can be in reverse order where walls are not', () => {
  const sided = [
    { strike: 590_000, callGex: 9, putGex: -10 },
    { strike: 600_000, callGex: 7, putGex: -11 },
    { strike: 610_000, callGex: 7, putGex: -2 },
  ];
  expect(gexPeaks(sided)).toEqual({ callGexPeak: 590_000, putGexPeak: 600_000 });
  const net = sided.map(({ strike, callGex, putGex }) => ({ strike, gex: callGex + putGex }));
  expect(walls(net)).toEqual({ callWall: 610_000, putWall: 600_000 });
  expect(gexPeaks([{ strike: 590_000, callGex: 0, putGex: -1 }])).toEqual({ callGexPeak: null, putGexPeak: 590_000 });
});

test('the expected move is the straddle, or one standard deviation; unknown where a part is', () => {
  expect(straddleMove(5.25, 4.5)).toBe(9.75);
  expect(straddleMove(5.25, null)).toBeNull();
  expect(sigmaMove(600, 0.2, 0.25)).toBeCloseTo(60, 12);
  expect(sigmaMove(600, null, 0.25)).toBeNull();
  expect(sigmaMove(600, 0.2, 0)).toBeNull();
});
