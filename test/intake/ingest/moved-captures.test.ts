import { expect, test } from 'vitest';
import { MoveCounter } from '../../../src/intake/ingest/recompute/moved-captures.ts';
import type { PublishedFigures } from '../../../src/store/gex/captures.ts';
import { gexCapture, newYork } from '../../support/option-market.ts';

const session = '2026-11-20';
const at = (clock: string) => ({ capturedAt: newYork(session, clock), delayMs: null, sessionDate: session });
const expiry = {
  expiry: session,
  maxPain: 600_000,
  expectedMoveStraddle: 3,
  expectedMoveSigma: 4,
  atmIv: 0.2,
  moveRatio: 1,
  inconsistent: false,
};
const published: Partial<PublishedFigures> = { flipPoint: 600, flipStatus: 'crosses', expiries: [expiry] };
const capture = (netGex: number, more: Partial<PublishedFigures> = {}) =>
  gexCapture('SPY', 0, [], { netGex, ...published, ...more });
const figures = (netGex: number, more: Partial<PublishedFigures> = {}): PublishedFigures =>
  capture(netGex, { methodologyVersion: '3', ...more });

const none = {
  nets: 0,
  walls: 0,
  flipPoints: 0,
  flipStatuses: 0,
  zeroGammas: 0,
  impliedSpots: 0,
  staleSpots: 0,
  atmIvs: 0,
  maxPains: 0,
  expectedMoves: 0,
  inconsistentExpiries: 0,
  vannas: 0,
  charms: 0,
};

test('what moved is the net of the last capture, the largest change, and how many captures have other figures', () => {
  const counter = new MoveCounter();
  counter.add(at('15:50'), figures(5), capture(6, { flipPoint: 600.01, zeroGamma: 601.126 }));
  counter.add(at('09:35'), figures(5), capture(5));
  counter.add(at('16:20'), figures(5), capture(-7, { callWall: 615_000, zeroGamma: null }));
  expect(counter.moved()).toEqual({
    captures: 3,
    netBefore: 5,
    netAfter: 6,
    largestNetChange: 12,
    moved: { ...none, nets: 2, walls: 1, flipPoints: 1, zeroGammas: 1 },
  });
});

test.each<[keyof typeof none, Partial<PublishedFigures>]>([
  ['nets', { netGex: 5.01 }],
  ['walls', { putWall: 585_000 }],
  ['flipPoints', { flipPoint: null }],
  ['flipStatuses', { flipStatus: 'fragile' }],
  ['zeroGammas', { zeroGamma: 602 }],
  ['impliedSpots', { impliedSpot: 600.51 }],
  ['staleSpots', { spotStale: null }],
  ['staleSpots', { spotStale: true }],
  ['atmIvs', { expiries: [{ ...expiry, atmIv: 0.2001 }] }],
  ['atmIvs', { expiries: [{ ...expiry, atmIv: null }] }],
  ['maxPains', { expiries: [{ ...expiry, maxPain: 601_000 }] }],
  ['expectedMoves', { expiries: [{ ...expiry, expectedMoveSigma: 4.01 }] }],
  ['expectedMoves', { expiries: [{ ...expiry, expectedMoveStraddle: null }] }],
  ['inconsistentExpiries', { inconsistentExpiries: 1 }],
  ['vannas', { netVanna: 1e6 }],
  ['charms', { netCharm: null }],
])('a move of %s alone is counted: %j', (figure, more) => {
  const counter = new MoveCounter();
  counter.add(at('10:00'), figures(5), capture(5, more));
  expect(counter.moved().moved).toEqual({ ...none, [figure]: 1 });
});

test('smaller differences than a figure shows are no moves', () => {
  const counter = new MoveCounter();
  const less = { impliedSpot: 600.504, netVanna: capture(5).netVanna! + 0.004 };
  counter.add(at('10:00'), figures(5), capture(5.004, { ...less, expiries: [{ ...expiry, atmIv: 0.20004 }] }));
  expect(counter.moved().moved).toEqual(none);
});

test('the walls of version 2 were the peaks of one side', () => {
  const counter = new MoveCounter();
  const { callWall, putWall } = capture(5);
  const older = { methodologyVersion: '2', callWall: null, putWall: null };
  counter.add(at('10:00'), figures(5, { ...older, callGexPeak: callWall, putGexPeak: putWall }), capture(5));
  expect(counter.moved()).toMatchObject({ captures: 1, moved: { walls: 0 } });
  counter.add(at('10:05'), figures(5, { ...older, callGexPeak: 1, putGexPeak: putWall }), capture(5));
  expect(counter.moved()).toMatchObject({ captures: 2, moved: { walls: 1 } });
});

test('a capture that is published no longer, or only now, has other figures and no change of its net', () => {
  const counter = new MoveCounter();
  expect(counter.moved()).toMatchObject({ captures: 0, netBefore: null, netAfter: null, largestNetChange: 0 });
  counter.add(at('10:00'), null, capture(5));
  counter.add(at('10:05'), figures(5), null);
  counter.add(at('10:10'), null, null);
  expect(counter.moved()).toEqual({
    captures: 3,
    netBefore: null,
    netAfter: null,
    largestNetChange: 0,
    moved: Object.fromEntries(Object.keys(none).map((figure) => [figure, 2])),
  });
});
