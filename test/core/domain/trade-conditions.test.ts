import { describe, expect, test } from 'vitest';
import {
  optionTradeConditions,
  optionTraits,
  optionTraitsOf,
} from '../../../src/core/domain/flow/option-trade-conditions.ts';
import {
  compositionCategories,
  compositionCategoryOf,
  isPriceForming,
  stockTradeConditions,
  stockTraits,
  stockTraitsOf,
} from '../../../src/core/domain/market/stock-trade-conditions.ts';
import { sharedText } from '../../support/shared-csv.ts';
import { hasSharedData } from '../../support/shared-data.ts';

/** The lines of a reference file; names may be quoted. */
function reference(file: string): { id: number; name: string; flags: number[] }[] {
  const [, ...lines] = sharedText(`reference/${file}`).trim().split(/\r?\n/);
  return lines.map((line) => {
    const flags = /((?:,[01])+)$/.exec(line)![1]!;
    const [id, ...rest] = line.slice(0, -flags.length).split(',');
    const name = (file.startsWith('opra') ? rest.slice(2) : rest).join(',').replaceAll('"', '');
    return { id: Number(id), name, flags: flags.slice(1).split(',').map(Number) };
  });
}
const bit = (traits: number, trait: number) => ((traits & trait) === 0 ? 0 : 1);

describe.skipIf(!hasSharedData)('the condition tables beside the reference', () => {
  test('option conditions are those of OPRA, with their eligibility', () => {
    const { volume, highLow, openClose, multiLeg, compression } = optionTraits;
    expect(
      optionTradeConditions.map(({ id, name, traits }) => ({
        id,
        name,
        flags: [
          ...[volume, highLow, openClose].map((trait) => bit(traits, trait)),
          bit(traits, multiLeg | compression),
          // Ordinary prints may be swept too; the reference marks the intermarket sweep orders only.
          id === 209 ? 0 : bit(traits, optionTraits.sweepable),
        ],
      })),
    ).toEqual(reference('opra_trade_conditions.csv'));
  });

  test('stock conditions are those of the vendor, with their eligibility', () => {
    expect(
      stockTradeConditions.map(({ id, name, traits }) => ({
        id,
        name,
        flags: [stockTraits.highLow, stockTraits.openClose, stockTraits.volume].map((trait) => bit(traits, trait)),
      })),
    ).toEqual(reference('stock_trade_conditions.csv'));
  });
});

test('of several conditions the strictest decides, and what any says holds', () => {
  const { volume, openClose, highLow, multiLeg, sweepable, sideless } = optionTraits;
  expect(optionTraitsOf([209, 234])).toBe(volume | highLow | openClose | multiLeg | sideless);
  expect(optionTraitsOf([209, 219])).toBe(volume | highLow | openClose | sweepable);
  expect(optionTraitsOf([246, 209])).toBe(volume | multiLeg);
  expect(stockTraitsOf([14, 41])).toBe(7);
  expect(stockTraitsOf([32, 37])).toBe(stockTraits.volume);
  expect(stockTraitsOf([41, 16])).toBe(0);
});

test('an unknown condition restricts nothing, but makes an off-exchange print no regular one', () => {
  expect(optionTraitsOf([999])).toBe(optionTraitsOf([]));
  expect(stockTraitsOf([99])).toBe(7);
  expect(compositionCategories[compositionCategoryOf([99])]).toBe('other');
});

test('the first category that one of the conditions gives wins', () => {
  const of = (...conditions: number[]) => compositionCategories[compositionCategoryOf(conditions)];
  expect([of(), of(14, 41), of(41), of(37), of(12, 37), of(12, 14, 41)]).toEqual([
    ...['regular_way', 'regular_way', 'regular_way', 'odd_lot'],
    ...['form_t', 'form_t'],
  ]);
  expect([of(2, 10, 41), of(10, 35, 41), of(35), of(53), of(52, 12)]).toEqual([
    ...['average_price', 'derivatively_priced', 'package_price', 'package_price', 'package_price'],
  ]);
  expect([of(2, 13, 20), of(13, 20), of(22), of(30), of(20), of(7), of(29, 12)]).toEqual([
    ...['average_price', 'late_oos', 'late_oos', 'late_oos', 'other', 'other', 'form_t'],
  ]);
  expect(compositionCategories.filter(isPriceForming)).toEqual(['form_t', 'odd_lot', 'regular_way']);
});
