import { expect, test } from 'vitest';
import { sideIndex, sideOf } from '../../../../src/core/analytics/prints/quote-book.ts';
import { commonSide } from '../../../../src/core/domain/flow/event-figures.ts';
import { flowSides } from '../../../../src/core/domain/flow/flow.ts';
import { contract, print, quote, runTape, type TapeRecord } from '../../../support/tapes/option-tape.ts';

const sideByQuote = (price: number, bid: number, ask: number) => flowSides[sideOf(price, bid, ask)];

test('a print is a buy from 0.6 of the spread up, a sell up to 0.4, neutral between', () => {
  const at = (price: number) => sideByQuote(price, 10_000, 11_000);
  expect([9000, 10_000, 10_400, 10_401, 10_500, 10_599, 10_600, 11_000, 12_000].map(at)).toEqual([
    ...['sell_inferred', 'sell_inferred', 'sell_inferred'],
    ...['neutral', 'neutral', 'neutral'],
    ...['buy_inferred', 'buy_inferred', 'buy_inferred'],
  ]);
});

test('in a locked market the price at it is neutral', () => {
  expect([9_999, 10_000, 10_001].map((price) => sideByQuote(price, 10_000, 10_000))).toEqual([
    'sell_inferred',
    'neutral',
    'buy_inferred',
  ]);
});

test('a crossed quote and one without sellers say nothing', () => {
  expect(sideByQuote(100, 110, 100)).toBe('unknown');
  expect(sideByQuote(100, 0, 0)).toBe('unknown');
  expect(sideByQuote(500, 0, 500)).toBe('buy_inferred');
});

test('the common side is that of all, else unknown', () => {
  expect(commonSide(['neutral', 'neutral'])).toBe('neutral');
  expect(commonSide(['neutral', 'unknown'])).toBe('unknown');
  expect(sideIndex.unknown).toBe(3);
});

const other = contract('O:SPY240419P00500000');
const legSide = (records: TapeRecord[]) => runTape(records).events[0]!.legs[0]!.side;
const block = (ms: number, conditions: number[] = [209]) => print(ms, 2000, 1.25, 302, { conditions });

test('the quote in force is the last one at or before the print', () => {
  expect(legSide([quote(0, 1.2, 1.25), quote(11, 1.25, 1.3), block(10)])).toBe('buy_inferred');
  expect(legSide([quote(0, 1.2, 1.25), quote(10, 1.25, 1.3), block(10)])).toBe('sell_inferred');
});

test('a quote of 5 s counts, an older one does not', () => {
  expect(legSide([quote(0, 1.2, 1.25), block(5000)])).toBe('buy_inferred');
  expect(legSide([quote(0, 1.2, 1.25), block(5001)])).toBe('unknown');
});

test('late, cross and reopening prints have no side', () => {
  for (const condition of [202, 204, 206, 208, 210, 229, 230, 234, 241]) {
    expect(legSide([quote(0, 1.2, 1.25), block(1, [condition])])).toBe('unknown');
  }
  expect(legSide([quote(0, 1.2, 1.25), block(1, [231])])).toBe('buy_inferred');
});

test('auction prints are sided by the quote like others', () => {
  for (const condition of [227, 228, 233, 237, 238, 244]) {
    expect(legSide([quote(0, 1.2, 1.25), block(1, [condition])])).toBe('buy_inferred');
    expect(legSide([quote(0, 1.25, 1.3), block(1, [condition])])).toBe('sell_inferred');
    expect(legSide([quote(0, 1.2, 1.25), block(5002, [condition])])).toBe('unknown');
  }
});

test('a print that comes late is sided by the quote of its time, however many quotes have come since', () => {
  // Half an hour of quotes of another contract, and of its own beyond its time.
  const since = Array.from({ length: 18_000 }, (_, i) => quote(i * 100, 3, 3.1, { contract: other }));
  const own = [quote(0, 1.2, 1.25), quote(2000, 1.25, 1.3)];
  for (const [ms, side] of [
    [1999, 'buy_inferred'],
    [2000, 'sell_inferred'],
    [7001, 'unknown'],
  ] as const)
    expect(legSide([...own, ...since, block(ms)])).toBe(side);
});
