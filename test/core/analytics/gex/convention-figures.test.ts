import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { solveChain, withSolved } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { conventionFigures, weekdayYears } from '../../../../src/core/analytics/gex/convention-figures.ts';
import { contractId } from '../../../../src/core/domain/chain/option-contract.ts';
import {
  captureConvention,
  conventionPresets,
  type GexConvention,
} from '../../../../src/core/domain/gex/convention.ts';
import { market, pricedChain } from '../priced-chain.ts';

const options = { rate: market.rate, allGreeks: true };
const strikes = Array.from({ length: 9 }, (_, i) => 580 + 5 * i);
const expiries = ['2025-06-06', '2025-06-20'];
const convention = (more: Partial<GexConvention> = {}): GexConvention => ({
  ...captureConvention,
  gamma: 'solved',
  ...more,
});
const unsolvedChain = pricedChain('SPXW', expiries, strikes);
const chain = withSolved(unsolvedChain, solveChain(unsolvedChain, options));

describe('figures in a convention', () => {
  test('are those of the capture by default, whatever is open', async () => {
    const interest = fc.array(fc.integer({ min: 0, max: 1000 }), {
      minLength: chain.rows.length,
      maxLength: chain.rows.length,
    });
    await fc.assert(
      fc.asyncProperty(interest, async (open) => {
        const held = { ...chain, rows: chain.rows.map((row, i) => ({ ...row, openInterest: open[i]! })) };
        const { netGex, flipPoint, callWall, putWall } = computeGexCapture(held, { ...options, gammaSource: 'solve' })!;
        const figures = await conventionFigures(held, convention(), options);
        expect(figures).toMatchObject({ net: netGex, flip: flipPoint, callWall, putWall });
      }),
      { numRuns: 20 },
    );
  });

  test('by flow, calls and puts alike count against dealers who sold them', async () => {
    const flow = new Map(
      chain.rows.map((row, i) => [contractId(row), { bought: (i * 7) % 11, sold: (i * 5) % 13 }] as const),
    );
    // Without prints.
    flow.delete(contractId(chain.rows[3]!));
    const expected = chain.rows.reduce((sum, row) => {
      const { bought, sold } = flow.get(contractId(row)) ?? { bought: 0, sold: 0 };
      return sum - (bought - sold) * row.solved!.gamma! * 100 * 600;
    }, 0);
    const figures = (await conventionFigures(chain, convention(conventionPresets.flow), options, flow))!;
    expect(figures.net).toBeCloseTo(expected, 4);
    expect(figures.contractCount).toBe(chain.rows.length);
    const turned = new Map([...flow].map(([id, { bought, sold }]) => [id, { bought: sold, sold: bought }]));
    const opposite = (await conventionFigures(chain, convention(conventionPresets.flow), options, turned))!;
    expect(opposite.net).toBeCloseTo(-expected, 4);
    expect(opposite.flip).toBe(figures.flip);
  });
});

test('weekdays are counted from the date of the quotes up to the day before expiry, one at least', () => {
  // A Sunday, a Friday, a Wednesday; holidays count.
  expect(262 * weekdayYears('2024-01-07', '2024-01-08')).toBe(1);
  expect(262 * weekdayYears('2024-01-05', '2024-01-08')).toBe(1);
  expect(262 * weekdayYears('2024-01-07', '2024-01-12')).toBe(4);
  expect(262 * weekdayYears('2025-06-04', '2025-06-04')).toBe(1);
  expect(262 * weekdayYears('2025-06-04', '2025-06-20')).toBe(12);
  expect(weekdayYears('2024-01-07', '2024-12-31')).toBeCloseTo(256 / 262, 12);
});
