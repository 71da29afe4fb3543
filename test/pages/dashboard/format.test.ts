import { describe, expect, test } from 'vitest';
import * as format from '../../../src/pages/dashboard/client/format.ts';

describe('figures as the dashboard writes them', () => {
  test.each([
    [636.75, '636.75'],
    [6337.4, '6,337.40'],
    [-3.06, '−3.06'],
    [0.05, '0.05'],
    [0.1234, '0.1234'],
    [0, '0.00'],
    [null, '–'],
  ])('a price of %s dollars is %s', (dollars, text) => expect(format.price(dollars)).toBe(text));

  test.each([
    [636_000, '636'],
    [7500, '7.5'],
    [1_234_500, '1,234.5'],
    [null, '–'],
  ])('a strike of %s thousandths is %s', (thousandths, text) => expect(format.strike(thousandths)).toBe(text));

  test.each([
    [999, '$999'],
    [94_911.5, '$94.9K'],
    [999_949, '$1.00M'],
    [1_284_000, '$1.28M'],
    [-174_500_000, '−$175M'],
    [9_744_927_114, '$9.74B'],
    [3e12, '$3.00T'],
    [12.5, '$12.50'],
    [0, '$0'],
    [null, '–'],
  ])('%s dollars are %s', (dollars, text) => expect(format.usd(dollars)).toBe(text));

  test('an axis leaves out the zeros that only fill three figures', () => {
    expect(['$90.0M', '$1.50M', '$2.00K', '$100', '500K', '−$30.0M', '0'].map(format.brief)).toEqual([
      '$90M',
      '$1.5M',
      '$2K',
      '$100',
      '500K',
      '−$30M',
      '0',
    ]);
  });

  test('dates change at midnight in New York, in summer and winter', () => {
    const dates = (instants: string[]) => instants.map((at) => format.dateOf(Date.parse(at)));
    for (let i = 0; i < 2; i++) {
      const winter = ['2026-11-20T04:59:59.999Z', '2026-11-20T05:00:00Z', '2026-11-20T05:59:00Z'];
      expect(dates(winter)).toEqual(['2026-11-19', '2026-11-20', '2026-11-20']);
      expect(dates(['2026-07-01T03:59:59Z', '2026-07-01T04:00:00Z'])).toEqual(['2026-06-30', '2026-07-01']);
    }
  });

  test('dealer gamma tells its sign', () => {
    expect([6_652_593.85, -94_911, 0, null].map(format.gex)).toEqual(['+$6.65M', '−$94.9K', '$0', '–']);
  });

  test.each([
    [0.4607, '+0.46%'],
    [-0.72, '−0.72%'],
    [0.001, '0.00%'],
    [-0.001, '0.00%'],
    [null, '–'],
  ])('a change of %s percent is %s', (percent, text) => expect(format.change(percent)).toBe(text));

  test('fractions become percent, ratios and basis points keep their sign', () => {
    expect(format.fraction(0.1843)).toBe('18.4%');
    expect(format.fraction(0.16289, 2)).toBe('16.29%');
    expect(format.fraction(null)).toBe('–');
    expect(format.ratio(50, 100)).toBe('0.50');
    expect(format.ratio(50, 0)).toBe('–');
    expect([-30.33, 8.94, null].map(format.basisPoints)).toEqual(['−30 bps', '+8.9 bps', '–']);
  });

  test('instants are New York’s, summer and winter', () => {
    expect(format.clockTime(Date.parse('2026-11-20T14:30:00Z'))).toBe('09:30');
    expect(format.clockTimeSeconds(Date.parse('2026-07-20T13:30:05Z'))).toBe('09:30:05');
    expect(format.dateOf(Date.parse('2026-11-21T03:00:00Z'))).toBe('2026-11-20');
    expect(format.dayAndTime(Date.parse('2026-11-20T05:00:00Z'), '2026-12-01')).toBe('Nov 20 00:00');
    expect(format.dayAndTime(Date.parse('2024-01-07T15:52:00Z'), '2026-12-01')).toBe('Jan 7 ’24 10:52');
  });

  test('a date tells its year only beside one of another year', () => {
    expect(format.shortDate('2026-12-18', '2026-11-20')).toBe('Dec 18');
    expect(format.shortDate('2027-03-19', '2026-11-20')).toBe('Mar 19 ’27');
    expect(format.date('2026-11-20')).toBe('Fri, Nov 20');
    expect(format.date(null)).toBe('–');
    expect(format.fullDate('2026-11-20')).toBe('Fri, Nov 20 2026');
  });
});
