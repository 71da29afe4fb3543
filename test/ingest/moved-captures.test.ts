import { expect, test } from 'vitest';
import { MoveCounter } from '../../src/ingest/recompute/moved-captures.ts';
import type { PublishedLevels } from '../../src/store/gex/published-levels.ts';
import { gexCapture } from '../support/option-market.ts';

const capture = (netGex: number, more = {}) => gexCapture('SPY', 0, [], { netGex, flipPoint: 600, ...more });
const levels = (netGex: number, more: Partial<PublishedLevels> = {}): PublishedLevels => ({
  ...{ netGex, flipPoint: 600, zeroGamma: 601.125, methodologyVersion: '3' },
  ...{ callWall: 610_000, putWall: 590_000, callGexPeak: 605_000, putGexPeak: 600_000 },
  ...more,
});

test('what moved is the net of the last capture, the largest change, and how many captures have other levels', () => {
  const counter = new MoveCounter();
  counter.add(levels(5), capture(5));
  counter.add(levels(5), capture(-7, { callWall: 615_000, zeroGamma: null }));
  counter.add(levels(5), capture(6, { flipPoint: 600.01, zeroGamma: 601.126 }));
  expect(counter.moved()).toEqual({
    ...{ captures: 3, netBefore: 5, netAfter: 6, largestNetChange: 12 },
    ...{ wallsMoved: 1, flipPointsMoved: 1, zeroGammasMoved: 1 },
  });
});

test('the walls of version 2 were the peaks of one side', () => {
  const counter = new MoveCounter();
  const older = { methodologyVersion: '2', callWall: null, putWall: null };
  counter.add(levels(5, { ...older, callGexPeak: 610_000, putGexPeak: 590_000 }), capture(5));
  expect(counter.moved()).toMatchObject({ captures: 1, wallsMoved: 0 });
  counter.add(levels(5, older), capture(5));
  expect(counter.moved()).toMatchObject({ captures: 2, wallsMoved: 1 });
});

test('a capture that is published no longer, or only now, has other levels and no change of its net', () => {
  const counter = new MoveCounter();
  expect(counter.moved()).toMatchObject({ captures: 0, netBefore: null, netAfter: null, largestNetChange: 0 });
  counter.add(null, capture(5));
  counter.add(levels(5), null);
  counter.add(null, null);
  expect(counter.moved()).toEqual({
    ...{ captures: 3, netBefore: null, netAfter: null, largestNetChange: 0 },
    ...{ wallsMoved: 2, flipPointsMoved: 2, zeroGammasMoved: 2 },
  });
});
