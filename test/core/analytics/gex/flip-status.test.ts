import { describe, expect, test } from 'vitest';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import {
  type FlipFigures,
  flipStatus,
  flipStatusOfRows,
  grossOfRows,
  isRemote,
} from '../../../../src/core/analytics/gex/flip-point.ts';
import { chainOf, market, pricedRow } from '../priced-chain.ts';

const figures: FlipFigures = {
  strikeCount: 3,
  flipPoint: 599,
  isPartial: false,
  price: 600,
  netGex: 10,
  grossGex: 1000,
};

describe('the status of a flip point is the first that holds', () => {
  test.each([
    ['no_strikes', { strikeCount: 0, flipPoint: null, isPartial: true }],
    ['no_crossing', { flipPoint: null, isPartial: true }],
    ['partial', { isPartial: true, flipPoint: 100, netGex: 0 }],
    ['remote', { flipPoint: 479.9, netGex: 0 }],
    ['remote', { flipPoint: 720.1 }],
    ['fragile', { flipPoint: 480, netGex: -9.9 }],
    ['crosses', { flipPoint: 720, netGex: -10 }],
    ['crosses', {}],
  ] as const)('%s', (expected, more) => {
    expect(flipStatus({ ...figures, ...more })).toBe(expected);
  });

  test('without a price nothing is remote', () => {
    expect(isRemote(100, null)).toBeNull();
    expect(isRemote(null, 600)).toBeNull();
    expect(flipStatus({ ...figures, flipPoint: 100, price: null })).toBe('crosses');
  });
});

test('of rows alone a flip is known to be fragile, never that it is not', () => {
  const rows = Float64Array.of(-500, 510);
  expect(flipStatusOfRows({ ...figures, netGex: 10 }, rows)).toBe('fragile');
  expect(flipStatusOfRows({ ...figures, netGex: 11 }, rows)).toBeNull();
  expect(flipStatusOfRows({ ...figures, netGex: 11, flipPoint: 100 }, rows)).toBe('remote');
  expect(flipStatusOfRows({ ...figures, strikeCount: 0, flipPoint: null }, Float64Array.of())).toBe('no_strikes');
});

test('the gross of rows undoes what calls and puts of a strike cancel', () => {
  // Calls 300 and puts 100 of one gamma: 3 − 1 = 2 of 4; puts alone; open interest unknown; all of it cancels.
  const columns = {
    gex: Float64Array.of(200, -50, 7, 0),
    callOi: Float64Array.of(300, Number.NaN, Number.NaN, 10),
    putOi: Float64Array.of(100, 50, Number.NaN, 10),
  };
  expect(grossOfRows(columns)).toBe(400 + 50 + 7);
});

describe('a capture', () => {
  const options = { gammaSource: 'vendor', rate: market.rate } as const;
  /** Calls and puts at 590 and 610 whose nets are the two figures, in contracts at a gamma of 0.01. */
  const capture = (low: number, high: number, both = 0, partial = false) => {
    const contracts = ([590, 610] as const).flatMap((strike) => {
      const net = strike === 590 ? low : high;
      const of = (right: 'call' | 'put', openInterest: number) =>
        pricedRow('SPY', '2025-06-20', right, strike, { gamma: 0.01, delta: 0.5, iv: 0.2, openInterest });
      return [of('call', both + Math.max(0, net)), of('put', both + Math.max(0, -net))];
    });
    return computeGexCapture({ ...chainOf(contracts), partial }, options)!;
  };

  test('says that its curve crosses, does not, or is of part of a chain', () => {
    expect(capture(-100, 200).flipStatus).toBe('crosses');
    expect(capture(100, 200)).toMatchObject({ flipStatus: 'no_crossing', flipPoint: null });
    expect(capture(-100, 200, 0, true).flipStatus).toBe('partial');
  });

  test('is fragile beside the gex of its contracts, although its rows are not', () => {
    // Net 100 of 300 in rows, of 300 + 4·5000 over contracts.
    expect(capture(-100, 200, 5000).flipStatus).toBe('fragile');
  });

  test('has its walls where net gex is largest, and its peaks where one side is', () => {
    const rows = [
      ...[590, 600, 610].map((strike, i) => ({ strike, calls: [90, 70, 70][i]!, puts: [100, 110, 20][i]! })),
    ].flatMap(({ strike, calls, puts }) =>
      (['call', 'put'] as const).map((right) =>
        pricedRow('SPY', '2025-06-20', right, strike, {
          gamma: 0.01,
          delta: 0.5,
          iv: 0.2,
          openInterest: right === 'call' ? calls : puts,
        }),
      ),
    );
    expect(computeGexCapture(chainOf(rows), options)).toMatchObject({
      callWall: 610_000,
      putWall: 600_000,
      callGexPeak: 590_000,
      putGexPeak: 600_000,
    });
  });
});
