import { expect, test } from 'vitest';
import { americanPrice } from '../../../../src/core/analytics/pricing/american.ts';
import { yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { lastInstant, standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import type { Dividend } from '../../../../src/core/domain/market/dividends.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../../src/intake/ingest/chains/chain.ts';
import { readReference } from '../../../../src/intake/ingest/chains/market-reference.ts';
import { MinuteMarketSource } from '../../../../src/intake/ingest/chains/minute-market.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { chainCapturesAt } from '../../../../src/store/chain/chain-captures.ts';
import { saveDividends } from '../../../../src/store/market/dividends.ts';
import { saveRates } from '../../../../src/store/market/rates.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { chainCapture, chainRow } from '../../../support/option-market.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';

const session = '2026-11-16';
const at = exchangeInstant(session, 11 * 60);
const [weekly, later] = ['2026-11-20', '2027-03-19'];
const curve = [
  { date: '2026-11-13', days: 1, rate: 0.05 },
  { date: '2026-11-13', days: 366, rate: 0.04 },
  { date: '2026-11-17', days: 1, rate: 0.09 },
];
const dividend: Dividend = {
  symbol: 'SPY',
  exDate: '2026-11-18',
  kind: 'regular',
  amount: 1.8,
  ratio: null,
  declared: null,
};

/** SPY at 600 with a dividend of $1.80 in two days, of a volatility of 20 %, at the rates of the curve. */
function chainOfTest() {
  const dividends = [{ years: yearsUntil(exchangeInstant('2026-11-17', 16 * 60), at), amount: 1.8 }];
  const rows = [weekly, later].flatMap((expiry) =>
    Array.from({ length: 21 }, (_, i) => 580 + 2 * i).flatMap((strike) =>
      (['call', 'put'] as const).map((right) => {
        const years = yearsUntil(lastInstant(expiry, standardRoots.of('SPY').settlement), at);
        const rate = 0.05 - (0.01 * (365 * years - 1)) / 365;
        const spot = 600 - 1.8 * Math.exp(-rate * dividends[0]!.years);
        const option = { right, strike, spot, years, rate, dividendYield: 0, volatility: 0.2, dividends };
        const price = americanPrice(option);
        return chainRow({
          root: 'SPY',
          expiry,
          right,
          strike: 1000 * strike,
          openInterest: 100,
          bid: Math.max(0.01, price - 0.01),
          ask: price + 0.01,
        });
      }),
    ),
  );
  return chainCapture('SPY', at, rows, { spot: 600, priorCloseSpot: 600 });
}

async function load(store: TestStore): Promise<void> {
  await inTransaction(store, async (tx) => {
    await saveRates(tx, curve);
    await saveDividends(tx, [dividend, { ...dividend, symbol: 'AAPL', amount: 9 }]);
  });
}

/** The volatilities that are stored with the chain. */
async function storedVolatilities(store: TestStore): Promise<number[]> {
  const [chain] = await chainCapturesAt(store, [{ underlying: 'SPY', atMs: at }]);
  return chain!.rows.map(({ solved }) => solved!.iv!);
}

const settings = { gammaSource: 'solve', rate: 0.02 } as const;

test('a chain is solved with the curve of its session and the dividends of its underlying', async () => {
  const store = await storeForThisTest();
  await load(store);
  await inTransaction(store, (tx) => storeChain(tx, chainOfTest(), settings));
  const ivs = await storedVolatilities(store);
  expect(Math.max(...ivs.map((iv) => Math.abs(iv - 0.2)))).toBeLessThan(0.0005);
});

test('datasets that arrive after their chain are used when it is computed again', async () => {
  const store = await storeForThisTest();
  await inTransaction(store, (tx) => storeChain(tx, chainOfTest(), settings));
  const before = await storedVolatilities(store);
  expect(Math.max(...before.map((iv) => Math.abs(iv - 0.2)))).toBeGreaterThan(0.001);
  await load(store);
  const scope = { symbol: null, from: null, to: null };
  await recompute(store, 'chain', scope, { now: Date.now, rate: 0.045, all: true });
  const ivs = await storedVolatilities(store);
  expect(Math.max(...ivs.map((iv) => Math.abs(iv - 0.2)))).toBeLessThan(0.0005);
});

test.each([
  ['', []],
  [', with contracts that have settled', [{ root: 'SPY', expiry: '2026-11-13' }]],
  [', with contracts of an adjusted deliverable', [{ root: 'SPY1', expiry: weekly }]],
])('a stored chain keeps its figures when datasets change and an earlier one arrives%s', async (_, others) => {
  const store = await storeForThisTest();
  const { rows, ...chain } = chainOfTest();
  const unsolved = others.map((of) => chainRow({ ...of, right: 'call', strike: 600_000, openInterest: 1 }));
  const write = (minutes: number) => {
    const capture = { ...chain, rows: [...rows, ...unsolved], capturedAt: at - minutes * 60_000 };
    return inTransaction(store, (tx) => storeChain(tx, capture, settings));
  };
  await write(10);
  await write(0);
  const before = await storedVolatilities(store);
  await load(store);
  await write(5);
  expect(await storedVolatilities(store)).toEqual(before);
});

test('the minutes of a session are priced with the same: the curve, the dividends, what its chain was priced in', async () => {
  const store = await storeForThisTest();
  await load(store);
  await inTransaction(store, async (tx) => {
    await storeChain(tx, chainOfTest(), settings);
    const source = new MinuteMarketSource({ from: tx, session, rate: 0.02, roots: standardRoots });
    const reference = await source.reference('SPY');
    expect(reference).toMatchObject({ rate: 0.02, curve: curve.slice(0, 2), dividends: [dividend] });
    const groups = await source.groups(at + 3_600_000, 'SPY');
    const priced = { amount: 1.8, exDate: '2026-11-18', source: 'dataset' };
    expect(groups.get(`SPY ${weekly}`)).toMatchObject({ dividend: priced });
    expect(groups.get(`SPY ${weekly}`)!.rate).toBeCloseTo(0.0499, 3);
    expect(Math.abs(groups.get(`SPY ${later}`)!.dividendYield)).toBeLessThan(0.001);
    // A later curve is not known in the session, one older than a month does not hold.
    const of = async (sessionDate: string) => (await readReference(tx, { underlying: 'QQQ', sessionDate }, 0.02)).curve;
    expect([await of('2026-11-12'), await of('2027-01-15')]).toEqual([[], []]);
    expect(await of('2026-11-17')).toEqual(curve.slice(2));
  });
});
