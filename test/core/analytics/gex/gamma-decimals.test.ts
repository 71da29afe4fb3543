import { expect, test } from 'vitest';
import { solveChain, withSolved } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture, vendorNetGex } from '../../../../src/core/analytics/gex/capture.ts';
import { gammaDecimals, roundingBias } from '../../../../src/core/analytics/gex/exposure.ts';
import { roundTo } from '../../../../src/core/domain/units.ts';
import { market, pricedChain, pricedRow } from '../priced-chain.ts';

const chain = pricedChain('SPXW', ['2025-06-20', '2025-09-19'], [560, 580, 590, 600, 610, 620, 640]);
const options = { rate: market.rate };

test('the decimals of gammas are the most that one is printed with; unknown without a gamma above zero', () => {
  const of = (...gammas: (number | null)[]) =>
    gammaDecimals(gammas.map((gamma) => pricedRow('SPY', '2025-06-20', 'call', 600, { gamma })));
  expect(of(0.01, 0.0123, 0.1)).toBe(4);
  expect(of(0, null, 0.5)).toBe(1);
  expect(of(1.5e-7)).toBe(8);
  expect(of(0, null)).toBeNull();
  expect(of()).toBeNull();
  expect(computeGexCapture(chain, { ...options, gammaSource: 'solve' })!.gammaDecimals).toBeNull();
});

test('the bias is what a net of rounded gammas differs by from that of the solved ones', () => {
  const solved = withSolved(chain, solveChain(chain, options));
  const net = computeGexCapture(chain, { ...options, gammaSource: 'solve' })!.netGex;
  for (const decimals of [3, 4]) {
    const rows = solved.rows.map((row) => ({ ...row, ...row.solved, gamma: roundTo(row.solved!.gamma!, decimals) }));
    const rounded = computeGexCapture({ ...chain, rows }, { ...options, gammaSource: 'vendor' })!;
    expect(rounded.gammaDecimals).toBe(decimals);
    const bias = roundingBias(solved, decimals, market.spot);
    expect(bias).not.toBe(0);
    expect(rounded.netGex - net).toBeCloseTo(bias, 4);
  }
  expect(Math.abs(roundingBias(solved, 12, market.spot))).toBeLessThan(1e-3);
});

test('the net by the source’s gammas is that of a capture of them to the last bit, and null where there is none', () => {
  const rows = chain.rows.map((row, i) => ({ ...row, delta: null, gamma: 0.01 + i / 7000 }));
  const given = { ...chain, rows };
  const capture = computeGexCapture(given, { ...options, gammaSource: 'vendor' })!;
  expect(vendorNetGex(given, market.spot, undefined)).toBe(capture.netGex);
  expect(
    vendorNetGex({ ...chain, rows: rows.map((row) => ({ ...row, gamma: null })) }, market.spot, undefined),
  ).toBeNull();
  expect(vendorNetGex({ ...chain, rows: [] }, market.spot, undefined)).toBeNull();
});
