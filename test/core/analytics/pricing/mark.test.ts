import { describe, expect, test } from 'vitest';
import { markOf, quoteMid } from '../../../../src/core/analytics/pricing/mark.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';

const nowMs = exchangeInstant('2025-06-04', 9 * 60 + 40);
const quote = { bid: 1, ask: 1.2, tsMs: nowMs - 90_000 };
const trade = { price: 1.05, tsMs: nowMs - 5 * 60_000, eligible: true };
const everything = { nowMs, quote, trade, previousClose: 0.9 };

describe('the mark', () => {
  test.each([
    ['a fresh quote’s middle', {}, 1.1, 'mid'],
    ['a stale quote gives way to the last trade', { quote: { ...quote, tsMs: nowMs - 90_001 } }, 1.05, 'last'],
    ['a crossed quote gives way', { quote: { ...quote, bid: 1.3 } }, 1.05, 'last'],
    ['a one-sided quote gives way', { quote: { ...quote, bid: null } }, 1.05, 'last'],
    ['a bid of zero under a dear ask gives way', { quote: { ...quote, bid: 0, ask: 0.06 } }, 1.05, 'last'],
    ['a bid of zero under an ask of five cents does not', { quote: { ...quote, bid: 0, ask: 0.05 } }, 0.025, 'mid'],
    ['an old trade gives way to the close', { quote: null, trade: { ...trade, tsMs: nowMs - 900_001 } }, 0.9, 'close'],
    ['so does one whose conditions set no last', { quote: null, trade: { ...trade, eligible: false } }, 0.9, 'close'],
  ] as const)('%s', (_name, changes, price, source) => {
    const mark = markOf({ ...everything, ...changes });
    expect(mark?.source).toBe(source);
    expect(mark?.price).toBeCloseTo(price, 12);
  });

  test('a trade of the session before is no last, however recent', () => {
    const midnight = exchangeInstant('2025-06-04', 1);
    const late = { price: 1.05, tsMs: midnight - 120_000, eligible: true };
    expect(markOf({ nowMs: midnight, quote: null, trade: late, previousClose: null })).toBeNull();
  });

  test('with nothing known there is none', () => {
    expect(markOf({ nowMs, quote: null, trade: null, previousClose: null })).toBeNull();
  });

  test('a locked quote has a middle, a negative bid or an ask of zero has none', () => {
    expect(quoteMid(2, 2)).toBe(2);
    expect(quoteMid(-1, 2)).toBeNull();
    expect(quoteMid(0, 0)).toBeNull();
    expect(quoteMid(Number.NaN, 1)).toBeNull();
  });
});
