import { afterAll, beforeAll, expect, test } from 'vitest';
import { closingVolatilities } from '../../../src/store/gex/closing-volatilities.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const expiry = { maxPain: null, expectedMoveStraddle: null, expectedMoveSigma: null, moveRatio: null };
const capture = (session: string, clock: string, atmIv: number, delayMs: number | null = null) => {
  const expiries = [{ ...expiry, expiry: '2026-12-18', atmIv, inconsistent: false }];
  return gexCapture('SPY', newYork(session, clock), [], { expiries, delayMs });
};
const window = (session: string) => ({ fromMs: newYork(session, '15:45'), toMs: newYork(session, '16:00') });
const windows = ['2026-11-16', '2026-11-17', '2026-11-18'].map(window);

/** The volatility of each close, with the statements that its read sent. */
async function closings() {
  let found: [string, number | null | undefined][] = [];
  const statements = await statementsOf(async () => {
    const read = await closingVolatilities(store, ['SPY'], windows);
    found = read.get('SPY')!.map(({ sessionDate, expiries }) => [sessionDate, expiries[0]?.atmIv]);
  });
  return { found, payloads: statements.filter((text) => text.includes('inputs')).length };
}

test('a new capture leaves past closes decoded: they are read once per version', async () => {
  await saveCaptures(store, {
    gex: [
      capture('2026-11-16', '15:44', 0.9),
      capture('2026-11-16', '15:59', 0.1),
      capture('2026-11-17', '16:00', 0.2),
    ],
  });
  const past = [
    ['2026-11-16', 0.1],
    ['2026-11-17', 0.2],
  ];
  expect(await closings()).toEqual({ found: past, payloads: 1 });
  await saveCaptures(store, { gex: [capture('2026-11-19', '09:35', 0.3)] });
  expect(await closings()).toEqual({ found: past, payloads: 0 });
  await saveCaptures(store, { gex: [capture('2026-11-17', '16:00', 0.25), capture('2026-11-18', '15:50', 0.3)] });
  const corrected = [past[0], ['2026-11-17', 0.25], ['2026-11-18', 0.3]];
  expect(await closings()).toEqual({ found: corrected, payloads: 1 });
});

test('a close is of the capture whose quotes are the last up to it, whatever the time of its page', async () => {
  const delay = 15 * 60_000;
  const later = ['2026-11-23', '2026-11-24'];
  await saveCaptures(store, {
    gex: [
      // Its quotes are of 15:44; those of 16:00 are on the page of 16:15, later ones are after the close.
      capture(later[0]!, '15:59', 0.7, delay),
      capture(later[0]!, '16:15', 0.4, delay),
      capture(later[0]!, '16:16', 0.8, delay),
      // The source with the later quotes.
      capture(later[1]!, '15:50', 0.5),
      capture(later[1]!, '16:01', 0.9, delay),
    ],
  });
  const read = await closingVolatilities(store, ['SPY'], later.map(window));
  expect(read.get('SPY')!.map(({ sessionDate, expiries }) => [sessionDate, expiries[0]!.atmIv])).toEqual([
    [later[0], 0.4],
    [later[1], 0.5],
  ]);
});
