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

const expiry = { ...{ maxPain: null, expectedMoveStraddle: null, expectedMoveSigma: null }, moveRatio: null };
const capture = (session: string, clock: string, atmIv: number) => {
  const expiries = [{ ...expiry, expiry: '2026-12-18', atmIv, inconsistent: false }];
  return gexCapture('SPY', newYork(session, clock), [], { expiries });
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
