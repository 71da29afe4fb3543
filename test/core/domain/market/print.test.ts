import { expect, test } from 'vitest';
import { createContractBook } from '../../../../src/core/domain/chain/contract-book.ts';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { splitNanos, splitSize, toPriceUnits, tradeNumber } from '../../../../src/core/domain/market/print.ts';

test('nanoseconds beyond a double keep their last digit', () => {
  expect(splitNanos('1381393290199000001')).toEqual({ tsMs: 1381393290199, tsNanos: 1 });
  expect(splitNanos('1710511200123456789')).toEqual({ tsMs: 1710511200123, tsNanos: 456_789 });
});

test('sizes are whole shares and millionths', () => {
  expect(splitSize(100)).toEqual({ size: 100, sizeMicros: 0 });
  expect(splitSize(3.25)).toEqual({ size: 3, sizeMicros: 250_000 });
  expect(splitSize(0.9999999)).toEqual({ size: 1, sizeMicros: 0 });
});

test('prices are integers of 1e-4 dollars', () => {
  expect(['13.995', '0.0001', '1.005', '5321.07'].map((text) => toPriceUnits(Number(text)))).toEqual([
    139_950, 1, 10_050, 53_210_700,
  ]);
});

test('trade ids are numbers: digits themselves, other texts far from them and from each other', () => {
  expect(tradeNumber('52983525029461')).toBe(52983525029461);
  const ids = ['A1', 'A2', '0052', '52', '1A', 'a1', '99999999999999999999'];
  const numbers = ids.map(tradeNumber);
  expect(new Set(numbers).size).toBe(ids.length);
  expect(numbers.every(Number.isSafeInteger)).toBe(true);
  expect(tradeNumber('A1')).toBeLessThan(0);
  const many = new Set(Array.from({ length: 100_000 }, (_, i) => tradeNumber(`T${i}X`)));
  expect(many.size).toBe(100_000);
});

test('a contract is one object however it is spelled, and roots share their underlying', () => {
  const book = createContractBook();
  const weekly = book.find('O:SPXW240419C05200000')!;
  expect(book.find('SPXW240419C05200000')).toBe(weekly);
  expect(weekly).toMatchObject({
    index: 0,
    id: 'O:SPXW240419C05200000',
    multiplier: 100,
    underlying: { symbol: 'SPX' },
  });
  expect(book.find('O:SPX240419C05200000')!.underlying).toBe(weekly.underlying);
  expect(book.find('O:SPX240231C05200000')).toBeNull();
  expect(book.underlyings()).toEqual([{ index: 0, symbol: 'SPX' }]);
});

test('the contract reference knows better than the root', () => {
  const book = createContractBook({ of: (root) => ({ ...standardRoots.of(root), underlying: 'X', multiplier: 10 }) });
  expect(book.find('O:XMINI240419C00100000')).toMatchObject({ multiplier: 10, underlying: { symbol: 'X' } });
});
