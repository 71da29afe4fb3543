import { describe, expect, test } from 'vitest';
import { solveChain } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { minuteMarket } from '../../../../src/core/analytics/minute/minute-market.ts';
import { chainGroups } from '../../../../src/core/analytics/minute/solve.ts';
import { yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { groupKey, type KnownGroups } from '../../../../src/core/analytics/pricing/group-market.ts';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../../../../src/core/domain/chain/chain.ts';
import { lastInstant, standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import type { Dividend } from '../../../../src/core/domain/market/dividends.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { escrowedTreePrice } from '../escrowed-tree.ts';

// As SPY was on 2023-09-14 after its close, the eve of its ex-date.
const at = exchangeInstant('2023-09-14', 15 * 60 + 45);
const exDate = '2023-09-15';
const exAt = exchangeInstant('2023-09-14', 16 * 60);
const spot = 450.66;
const dividend = 1.583;
const rate = 0.045;
const expiries = [exDate, '2023-09-18', '2023-09-22', '2023-12-15'];

const smileAt = (strike: number) => 0.12 - 0.6 * Math.log(strike / spot);
const cents = (dollars: number) => Math.round(100 * dollars) / 100;

/**
 * Quotes to the cent of calls and puts from 8 % under the price to 8 % over it, by another tree than the project's;
 * what is worth over $5 is quoted as widely as `deepHalfSpread` says.
 */
function eveOf(paid: number, dates: readonly string[] = expiries, deepHalfSpread = 0.01): ChainCapture {
  const rows: ChainRow[] = [];
  for (const expiry of dates) {
    const years = yearsUntil(lastInstant(expiry, 'pm'), at);
    for (let strike = 415; strike <= 486; strike++) {
      for (const right of ['call', 'put'] as const) {
        const option = { right, spot, strike, years, rate, dividendYield: 0, volatility: smileAt(strike) };
        const price = escrowedTreePrice({ ...option, dividend: paid, exYears: yearsUntil(exAt, at) }, 150);
        const halfSpread = price > 5 ? deepHalfSpread : 0.01;
        const bid = Math.max(0, cents(price - halfSpread));
        rows.push({
          ...unknownNumbers,
          root: 'SPY',
          expiry,
          right,
          strike: 1000 * strike,
          openInterest: 1000,
          bid,
          ask: cents(price + halfSpread),
          sharesPerContract: 100,
        });
      }
    }
  }
  const capture = { underlying: 'SPY', capturedAt: at, sessionDate: '2023-09-14', priorCloseSpot: spot };
  return { ...capture, spot, partial: false, rows };
}

const eve = eveOf(dividend);
const dataset = (more: Partial<Dividend> = {}): Dividend[] => [
  { symbol: 'SPY', exDate, kind: 'regular', amount: dividend, ratio: null, declared: '2023-09-01', ...more },
];

function dividendsOf(chain: ChainCapture, dividends: readonly Dividend[] = []) {
  return solveChain(chain, { rate, dividends }).groups.map((group) => group.dividend);
}

describe('on the eve of an ex-date', () => {
  test.each([
    ['that nobody loaded', []],
    ['that was loaded', dataset()],
  ])('%s: the smile has no jump, the implied spot is right, and no expiry is inconsistent', (_name, dividends) => {
    const solved = solveChain(eve, { rate, dividends });
    expect(solved.spotStale).toBe(false);
    expect(Math.abs(solved.impliedSpot! / spot - 1)).toBeLessThan(0.0001);
    for (const group of solved.groups) {
      expect(Math.abs(group.dividend!.amount - dividend)).toBeLessThan(0.03);
      expect(group.dividend).toMatchObject({ exDate, source: dividends.length > 0 ? 'dataset' : 'inferred' });
      expect(Math.abs(group.spot - (spot - dividend))).toBeLessThan(0.05);
      for (const { dollars, call } of group.strikes) {
        if (Math.abs(dollars - spot) > 4) continue;
        // A cent is a volatility of 0.001 a day before expiry.
        expect(Math.abs(solved.iv[call]! - smileAt(dollars)), `${group.expiry} ${dollars}`).toBeLessThan(0.004);
      }
    }
    const capture = computeGexCapture(eve, { gammaSource: 'solve', rate, dividends, solved })!;
    expect(capture.inconsistentExpiries).toBe(0);
  });

  test.each([440, 449.1, 452, 455])('the source’s price %d is found stale, and the quotes’ is used', (source) => {
    for (const dividends of [[], dataset()]) {
      const { impliedSpot, spotStale, groups } = solveChain({ ...eve, spot: source }, { rate, dividends });
      expect(spotStale).toBe(true);
      expect(Math.abs(impliedSpot! - spot)).toBeLessThan(0.06);
      expect(groups[0]!.dividend).not.toBeNull();
    }
  });

  test('a dividend of a dataset counts from the ex-date on, to the contracts that outlive it, in dollars or of the price', () => {
    const chain = eveOf(dividend, ['2023-09-14', exDate, '2023-09-18']);
    const priced = { amount: dividend, exDate, source: 'dataset' };
    expect(dividendsOf(chain, dataset())).toEqual([null, priced, priced]);
    const special = { exDate: '2023-09-18', amount: 0.5, declared: null };
    expect(dividendsOf(chain, [...dataset(), ...dataset(special)])[2]).toEqual({ ...priced, amount: dividend + 0.5 });
    expect(dividendsOf(chain, dataset({ amount: null, ratio: 0.0035 }))[1]!.amount).toBeCloseTo(0.0035 * spot, 2);
    // One that was not declared yet, or is of this day, is not to come; one of more than the price is none.
    expect(dividendsOf(chain, dataset({ declared: '2023-09-15' }))[1]).toMatchObject({ source: 'inferred' });
    expect(dividendsOf(chain, dataset({ exDate: '2023-09-14' }))[1]).toMatchObject({ source: 'inferred' });
    expect(dividendsOf(chain, dataset({ amount: 500 }))[1]).toMatchObject({ source: 'inferred' });
  });
});

describe('no dividend is inferred', () => {
  test('from a chain without one', () => {
    expect(dividendsOf(eveOf(0))).toEqual([null, null, null, null]);
  });

  test('below 0.05 % of the price, above 3 % of it, or within two half-spreads of the quotes', () => {
    expect(dividendsOf(eveOf(0.15))[0]).toBeNull();
    expect(dividendsOf(eveOf(0.4))[0]).not.toBeNull();
    expect(dividendsOf(eveOf(15))[0]).toBeNull();
    expect(dividendsOf(eveOf(dividend, expiries, 0.7))[0]).not.toBeNull();
    expect(dividendsOf(eveOf(dividend, expiries, 0.9))[0]).toBeNull();
  });

  test('unless two expiries that outlive the next session agree', () => {
    expect(dividendsOf(eveOf(dividend, [exDate]))).toEqual([null]);
    const rows = [...eveOf(dividend, [exDate]).rows, ...eveOf(1.2, ['2023-09-18']).rows];
    expect(dividendsOf({ ...eve, rows })).toEqual([null, null]);
    const agreeing = [...eveOf(dividend, [exDate]).rows, ...eveOf(1.4, ['2023-09-18']).rows];
    expect(dividendsOf({ ...eve, rows: agreeing })[0]).toMatchObject({ source: 'inferred' });
  });
});

test('the minutes of the eve are priced with the dividend that the chain showed, those of the ex-date without', () => {
  const known: KnownGroups = chainGroups(eve, { rate });
  const [row] = eve.rows.filter(({ expiry, strike }) => expiry === '2023-09-22' && strike === 450_000);
  const followed = [{ contract: row!, quote: { bid: row!.bid, ask: row!.ask, tsMs: at } }];
  const inputs = { underlying: 'SPY', spot, reference: { rate }, chain: known, roots: standardRoots };
  const key = groupKey({ root: standardRoots.of('SPY'), expiry: '2023-09-22' });
  const evening = minuteMarket(followed, { ...inputs, tsMs: at }).groups.get(key)!;
  expect(evening.dividends).toHaveLength(1);
  expect(Math.abs(evening.spot - (spot - dividend))).toBeLessThan(0.03);
  const next = exchangeInstant(exDate, 10 * 60);
  expect(minuteMarket(followed, { ...inputs, tsMs: next }).groups.get(key)).toMatchObject({ spot, dividends: [] });
});
