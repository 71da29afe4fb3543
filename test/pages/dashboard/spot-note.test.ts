import { expect, test } from 'vitest';
import { spotNote } from '../../../src/pages/dashboard/client/gex/spot-note.ts';

const capture = { spot: 642.65, impliedSpot: 641.65, spotStale: false, inconsistentExpiries: 0 };

test('the dashboard says at what price options are priced when the source’s is not of their time, and which quotes contradict', () => {
  expect(spotNote(capture)).toBeNull();
  expect(spotNote({ ...capture, spotStale: null, inconsistentExpiries: null })).toBeNull();
  expect(spotNote({ ...capture, spotStale: true })).toBe(
    'The price 642.65 is not of the time of the quotes: options are priced at 641.65.',
  );
  expect(spotNote({ ...capture, inconsistentExpiries: 1 })).toBe('Quotes of 1 expiry contradict each other.');
  expect(spotNote({ ...capture, inconsistentExpiries: 2 })).toBe('Quotes of 2 expiries contradict each other.');
});
