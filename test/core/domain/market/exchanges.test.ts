import { expect, test } from 'vitest';
import { listingExchangeOfTape } from '../../../../src/core/domain/market/exchanges.ts';

test('a tape names the listing exchange, an unknown tape none', () => {
  expect([1, 2, 3, 0].map(listingExchangeOfTape)).toEqual([10, 11, 12, null]);
});
