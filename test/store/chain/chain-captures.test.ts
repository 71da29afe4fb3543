import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainCapturesAt, expirationsAt } from '../../../src/store/chain/chain-captures.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const day = '2026-11-18';
const early = newYork(day, '09:35');
const late = newYork(day, '15:55');

const rows = [
  chainRow({ root: 'SPXW', expiry: day, right: 'call', strike: 4_700_000, openInterest: 12, bid: 0, ask: 0.05 }),
  chainRow({ root: 'SPX', expiry: '2026-12-18', right: 'put', strike: 4_700_000, iv: 0.1286, gamma: 1 / 3, last: 7.1 }),
];

test('a chain comes back as it was written, zero and unknown apart', async () => {
  const written = chainCapture('SPX', early, rows, { partial: true, spot: null });
  expect(await saveCaptures(store, { chains: [written] })).toEqual([true]);
  expect(await saveCaptures(store, { chains: [written] })).toEqual([false]);
  expect(await chainCapturesAt(store, [{ underlying: 'SPX', atMs: early }])).toEqual([written]);
});

test('what was solved comes back beside what the source said, wherever either is unknown', async () => {
  const none = { iv: null, delta: null, gamma: null, theta: null, vega: null };
  const contract = (strike: number) => ({ root: 'SPXW', expiry: day, right: 'call' as const, strike });
  const solved = { iv: 0.2, delta: 0.5, gamma: 1 / 7, theta: -1 / 3, vega: 0.1, origin: 'outOfTheMoney' } as const;
  const both = [
    chainRow({ ...contract(4_700_000), iv: 0.19, delta: 0.4, gamma: 0.1, solved }),
    chainRow({ ...contract(4_710_000), solved: { ...solved, iv: 0.21, origin: 'interpolated' } }),
    chainRow({ ...contract(4_720_000), iv: 0, gamma: 0.01, solved: { ...none, gamma: 0.01, origin: 'source' } }),
    chainRow({ ...contract(4_730_000), solved: { ...none, origin: 'absent' } }),
  ];
  const alone = both.map((row) => ({ ...row, ...none }));
  for (const [i, chain] of [both, alone].entries()) {
    const written = chainCapture('NDX', early + i, chain, { rate: 0.0475 });
    await saveCaptures(store, { chains: [written] });
    expect(await chainCapturesAt(store, [{ underlying: 'NDX', atMs: early + i }])).toEqual([written]);
  }
});

test('each moment gets the last capture at or before it, null when there is none', async () => {
  await saveCaptures(store, { chains: [chainCapture('SPX', late, rows.slice(1))] });
  const moments = [
    { underlying: 'SPX', atMs: late },
    { underlying: 'SPX', atMs: late - 1 },
    { underlying: 'NONE', atMs: late },
    { underlying: 'SPX', atMs: early - 1 },
    { underlying: 'SPX', atMs: late + 1 },
  ];
  const chains = await chainCapturesAt(store, moments);
  expect(chains.map((chain) => chain?.capturedAt ?? null)).toEqual([late, early, null, null, late]);
  expect(await expirationsAt(store, moments)).toEqual([
    { capturedAt: late, expirations: ['2026-12-18'] },
    { capturedAt: early, expirations: [day, '2026-12-18'] },
    null,
    null,
    { capturedAt: late, expirations: ['2026-12-18'] },
  ]);
});

test('a rewritten chain is served, not the one that was cached', async () => {
  await chainCapturesAt(store, [{ underlying: 'SPX', atMs: early }]);
  await saveCaptures(store, { chains: [chainCapture('SPX', early, rows.slice(0, 1))] });
  const [chain] = await chainCapturesAt(store, [{ underlying: 'SPX', atMs: early }]);
  expect(chain?.rows).toEqual(rows.slice(0, 1));
});
