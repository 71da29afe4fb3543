import { expect, test } from 'vitest';
import { spotNote } from '../../../src/pages/dashboard/client/market/summary.ts';

const capture = { spot: 642.65, impliedSpot: 641.65, spotStale: false, inconsistentExpiries: 0 };

test('the dashboard says at what price options are priced when the source’s is not of their time, and how many expiries contradict themselves', () => {
  expect(spotNote(capture)).toBeNull();
  expect(spotNote({ ...capture, spotStale: null, inconsistentExpiries: null })).toBeNull();
  expect(spotNote({ ...capture, spotStale: true })).toBe(
    'The spot price 642.65 and the option quotes are of different times. Options are priced at 641.65, the spot that the quotes imply.',
  );
  expect(spotNote({ ...capture, inconsistentExpiries: 1 })).toBe(
    'In 1 expiry, straddle and implied volatility disagree on the expected move.',
  );
  expect(spotNote({ ...capture, inconsistentExpiries: 2 })).toBe(
    'In 2 expiries, straddle and implied volatility disagree on the expected move.',
  );
});
