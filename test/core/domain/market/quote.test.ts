import { expect, test } from 'vitest';
import { namesOf } from '../../../../src/core/domain/columns.ts';
import { emptyQuote, isSameQuote, type Quote } from '../../../../src/core/domain/market/quote.ts';
import { quoteColumns } from '../../../../src/core/domain/market/quote-columns.ts';

test.each(namesOf(quoteColumns))('a quote with another %s is another quote', (name) => {
  const quote = emptyQuote('SPY');
  const other: Quote = { ...quote, [name]: quoteColumns[name].type === 'text' ? '2026-11-20' : 0 };
  expect(quote[name]).toBeNull();
  expect([isSameQuote(quote, other), isSameQuote(other, { ...other })]).toEqual([false, true]);
});
