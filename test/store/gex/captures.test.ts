import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GexColumns, type GexRow, gexRowAt } from '../../../src/core/domain/gex/gex.ts';
import { gexCapturesOf, latestGexCaptures, type StoredGexCapture } from '../../../src/store/gex/captures.ts';
import { gexInputsOf } from '../../../src/store/gex/inputs.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const rowsOf = (columns: GexColumns): GexRow[] => Array.from(columns.strike, (_, i) => gexRowAt(columns, i));
const asDomain = ({ strikes, byExpiry, ...rest }: StoredGexCapture) => ({
  ...rest,
  inputs: null,
  strikes: rowsOf(strikes),
  byExpiry: byExpiry === null ? null : rowsOf(byExpiry),
});

const session = '2026-11-18';
const spans = { fromMs: 0, toMs: 4e12 };

const at = (clock: string, gex: number, more = {}) =>
  gexCapture(
    'SPY',
    newYork(session, clock),
    [
      { strike: 590_000, expiry: session, gex: -gex },
      { strike: 600_000, expiry: session, gex: gex / 3, putOi: 0, callOi: null },
      { strike: 600_000, expiry: '2026-11-20', gex: Math.PI * gex, deltaAdj: null },
    ],
    more,
  );

test('a capture comes back as it was written, to the last bit, unknowns included', async () => {
  const written = at('09:35', 1e9 / 7, { flipPoint: null, spot: null, zeroGamma: null, callWall: null });
  expect(await saveCaptures(store, { gex: [written] })).toEqual([true]);
  const read = (await gexCapturesOf(store, ['SPY'], session, { ...spans, byExpiry: true })).get('SPY')!;
  expect(read.map(asDomain)).toEqual([written]);
  const net = (await gexCapturesOf(store, ['SPY'], session, { ...spans, byExpiry: false })).get('SPY')!;
  expect(net.map(asDomain)).toEqual([{ ...written, byExpiry: null }]);
});

test('what a capture was computed from is read beside it; another release with the same figures changes nothing', async () => {
  const expiry = {
    expiry: session,
    root: 'SPY',
    years: 1 / 7,
    rate: 0.045,
    forward: 600.3,
    dividendYield: -0.01,
  };
  const dividend = { amount: 1.75, exDate: '2026-11-19', source: 'inferred' } as const;
  const expiries = [
    { ...expiry, dividend: null },
    { ...expiry, root: 'SPY2', dividend },
    { ...expiry, expiry: '2026-12-18', dividend: { ...dividend, source: 'dataset' as const } },
  ];
  const of = (more: object) => gexCapture('IWM', newYork(session, '09:35'), [], more);
  const written = of({ inputs: { productVersion: '1.2.3', expiries } });
  expect(await saveCaptures(store, { gex: [written, gexCapture('IWM', newYork(session, '09:40'), [])] })).toEqual([
    true,
    true,
  ]);
  expect(await saveCaptures(store, { gex: [of({ inputs: { productVersion: '1.2.4', expiries } })] })).toEqual([false]);
  const keys = ['09:35', '09:40', '09:45'].map((clock) => ({ underlying: 'IWM', capturedAt: newYork(session, clock) }));
  expect(await gexInputsOf(store, keys)).toEqual([{ productVersion: '1.2.3', expiries, file: null }, null, null]);
  expect(
    await saveCaptures(store, { gex: [of({ inputs: { productVersion: '1', expiries: [expiries[0]] } })] }),
  ).toEqual([true]);
});

test('the same capture again changes nothing; another of the same instant replaces it, also for readers with a cache', async () => {
  expect(await saveCaptures(store, { gex: [at('09:40', 5)] })).toEqual([true]);
  await latestGexCaptures(store, ['SPY'], newYork(session, '09:40'), { byExpiry: true });
  expect(await saveCaptures(store, { gex: [at('09:40', 5)] })).toEqual([false]);
  expect(await saveCaptures(store, { gex: [at('09:40', 5, { flipPoint: 123.5 })] })).toEqual([true]);
  expect(await saveCaptures(store, { gex: [at('09:40', 7)] })).toEqual([true]);
  const latest = await latestGexCaptures(store, ['SPY'], newYork(session, '09:40'), { byExpiry: true });
  expect(asDomain(latest.get('SPY')!)).toEqual(at('09:40', 7));
});

test('latest is the last at or before the instant, within a session when one is named; captures of a session ascend in a half-open window', async () => {
  await saveCaptures(store, {
    gex: [at('10:00', 3), at('09:45', 2), gexCapture('QQQ', newYork('2026-11-17', '16:00'), [])],
  });
  const ten = newYork(session, '10:00');
  const latest = await latestGexCaptures(store, ['QQQ', 'SPY', 'NONE'], ten - 1, { byExpiry: false });
  expect([...latest].map(([symbol, capture]) => [symbol, capture.capturedAt])).toEqual([
    ['QQQ', newYork('2026-11-17', '16:00')],
    ['SPY', newYork(session, '09:45')],
  ]);
  const today = await latestGexCaptures(store, ['QQQ', 'SPY'], ten, { byExpiry: false, sessionDate: session });
  expect([...today].map(([symbol, capture]) => [symbol, capture.capturedAt])).toEqual([['SPY', ten]]);
  const window = { fromMs: newYork(session, '09:40'), toMs: ten, byExpiry: false };
  const captures = (await gexCapturesOf(store, ['SPY'], session, window)).get('SPY')!;
  expect(captures.map((capture) => capture.capturedAt)).toEqual([newYork(session, '09:40'), newYork(session, '09:45')]);
});

test('many underlyings are read with two statements, and one when all are cached', async () => {
  const instant = newYork('2026-11-19', '10:00');
  const names = Array.from({ length: 30 }, (_, i) => `S${i}`);
  const gex = names.map((name) => gexCapture(name, instant, [{ strike: 1000, expiry: '2026-11-20', gex: 1 }]));
  await saveCaptures(store, { gex });
  const read = async () => {
    expect((await latestGexCaptures(store, names, instant, { byExpiry: true })).size).toBe(30);
  };
  expect(await statementsOf(read)).toHaveLength(2);
  expect(await statementsOf(read)).toHaveLength(1);
});
