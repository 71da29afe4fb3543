import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QuoteBook } from '../../../../src/core/analytics/prints/quote-book.ts';
import { flowSides } from '../../../../src/core/domain/flow/flow.ts';
import { contract, quote, spyCall, tapeStart } from '../../../support/tapes/option-tape.ts';

const put = contract('O:SPY240419P00500000');

test('quotes are in force in event-time order, whatever the order in which they came', () => {
  const instants = fc.uniqueArray(fc.nat(4000), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(instants, fc.nat(4000), (times, at) => {
      const book = new QuoteBook();
      // Every other quote is a cent higher, so that the side at 1.25 tells which is in force.
      const bid = (ms: number) => (ms % 2 === 0 ? 1.25 : 1.2);
      for (const ms of times) book.add(quote(ms, bid(ms), bid(ms) + 0.05));
      book.release(tapeStart + 4000, 0);
      const inForce = Math.max(...times.filter((ms) => ms <= at), -1);
      const wanted = inForce < 0 ? 'unknown' : inForce % 2 === 0 ? 'sell_inferred' : 'buy_inferred';
      expect(flowSides[book.sideAt(spyCall, 12_500, tapeStart + at, 0)]).toBe(wanted);
    }),
  );
});

test('the latest quote of a quiet contract is known after a thousand of others, its side no more', () => {
  const book = new QuoteBook();
  book.add(quote(0, 2.4, 2.5, { contract: put }));
  for (let i = 1; i <= 5000; i++) {
    book.release(tapeStart + i * 10, 0);
    book.add(quote(i * 10, 1 + i / 1000, 1.05 + i / 1000));
  }
  book.release(tapeStart + 50_000, 0);
  expect(book.latest(put)).toEqual({ bid: 24_000, ask: 25_000, tsMs: tapeStart });
  expect(book.latest(spyCall)).toEqual({ bid: 60_000, ask: 60_500, tsMs: tapeStart + 50_000 });
  expect(flowSides[book.sideAt(put, 25_000, tapeStart + 50_000, 0)]).toBe('unknown');
  expect(flowSides[book.sideAt(spyCall, 60_500, tapeStart + 50_000, 0)]).toBe('buy_inferred');
});

test('a contract never quoted has no quote', () => {
  const book = new QuoteBook();
  expect(book.latest(put)).toBeNull();
  expect(flowSides[book.sideAt(put, 10_000, tapeStart, 0)]).toBe('unknown');
});

test('the last half of the remembered quotes sides prints however late these come', () => {
  const book = new QuoteBook(256);
  const hourMs = 3_600_000;
  // 256 fill the book; those after the first 200 came an hour later. One more makes room.
  for (let i = 0; i <= 256; i++) {
    const ms = i < 200 ? i : hourMs + i;
    book.add(quote(ms, 1, 1.5));
    book.release(tapeStart + ms, 0);
  }
  for (const ms of [150, 199, hourMs + 200])
    expect(flowSides[book.sideAt(spyCall, 15_000, tapeStart + ms, 0)]).toBe('buy_inferred');
});
