import { expect, test } from 'vitest';
import { billOn, billRate, billWithout } from '../../../../src/core/domain/market/rates.ts';
import { sharedCsv } from '../../../support/shared-csv.ts';
import { hasSharedData } from '../../../support/shared-data.ts';

test('a bank discount of 5.04 % is a continuous rate of 5.1428 %', () => {
  expect(billRate(0.0504)).toBeCloseTo(0.051428, 6);
});

test('the mean of a month is in force from the first day of the next one', () => {
  expect(billOn('1998-01-31')).toBeNull();
  expect(billOn('1998-02-01')).toEqual({ date: '1998-02-01', days: 91, rate: billRate(0.0504) });
  expect(billOn('1998-02-28')!.rate).toBe(billRate(0.0504));
  expect(billOn('1998-03-01')).toEqual({ date: '1998-03-01', days: 91, rate: billRate(0.0509) });
  expect(billOn('2024-01-07')).toEqual({ date: '2024-01-01', days: 91, rate: billRate(0.0524) });
});

test('the last month stands for 400 days, with its date', () => {
  expect(billOn('2027-08-05')).toEqual({ date: '2026-07-01', days: 91, rate: billRate(0.0366) });
  expect(billOn('2027-08-06')).toBeNull();
});

test('a curve comes before bills', () => {
  expect(billWithout([{ days: 30, rate: 0.04 }], '2024-01-07')).toBeNull();
  expect(billWithout([], '2024-01-07')).toEqual(billOn('2024-01-07'));
});

test.skipIf(!hasSharedData)('are those of the published series, month by month (needs ../shared/data)', () => {
  const months = sharedCsv('reference/us_bill_rates.csv');
  expect(months.length).toBe(342);
  for (const { month, discount_percent: percent } of months) {
    const [year, number] = month!.split('-').map(Number);
    const next = `${number === 12 ? year! + 1 : year}-${String((number! % 12) + 1).padStart(2, '0')}-15`;
    expect(billOn(next)!.rate, month).toBeCloseTo(billRate(Number(percent) / 100), 12);
  }
});
