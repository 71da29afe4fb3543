import { beforeAll, describe, expect, test } from 'vitest';
import { solveChain, withSolved } from '../../../../src/core/analytics/chain/solve-chain.ts';
import { surfacePoint, volatilitySurface } from '../../../../src/core/analytics/chain/volatility-surface.ts';
import { computeGexCapture } from '../../../../src/core/analytics/gex/capture.ts';
import { methodologySettings } from '../../../../src/core/analytics/methodology.ts';
import type { ChainCapture, ChainRow } from '../../../../src/core/domain/chain/chain.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { chainOf, market, pricedChain, pricedRow, sessionDate, smileAt } from '../priced-chain.ts';

const strikes = Array.from({ length: 21 }, (_, i) => 550 + 5 * i);
const third = '2025-06-20';
function points(chain: ChainCapture) {
  const { rows, price } = volatilitySurface(chain);
  return Array.from(rows, (index) => surfacePoint(chain, index, price));
}

/** A row with a volatility on the smile, quoted at its price. */
const known = (root: string, right: 'call' | 'put', strike: number, more: Partial<ChainRow> = {}) =>
  pricedRow(root, third, right, strike, { iv: smileAt(strike), ...more });

describe('the volatilities of a solved chain', () => {
  const asRead = pricedChain('SPY', [sessionDate, '2025-06-06', third], strikes);
  const chain = withSolved(asRead, solveChain(asRead, { rate: market.rate, allGreeks: true }));
  const { expiries, rows } = volatilitySurface(chain);

  test('at the money an expiry has the volatility its GEX capture has, at the strike nearest the forward', () => {
    const capture = computeGexCapture(asRead, { gammaSource: 'solve', rate: market.rate })!;
    expect(expiries.map(({ expiry, atmIv }) => ({ expiry, atmIv }))).toEqual(
      capture.expiries.map(({ expiry, atmIv }) => ({ expiry, atmIv })),
    );
    expect(expiries.at(-1)).toMatchObject({ expiry: third, dte: 16, atmStrike: 600_000 });
    expect(expiries.at(-1)!.atmIv).toBeCloseTo(smileAt(600), 3);
    expect(expiries.map(({ dte }) => dte)).toEqual([0, 2, 16]);
  });

  test('points are the contracts with a volatility, by expiry, strike, call before put, as many as the expiries count', () => {
    const sorted = points(chain);
    expect(expiries.reduce((sum, { contractCount }) => sum + contractCount, 0)).toBe(rows.length);
    const keys = sorted.map(({ expiry, strike, right }) => `${expiry} ${strike} ${right}`);
    expect(keys).toEqual(keys.toSorted());
    expect(new Set(keys).size).toBe(keys.length);
    const point = sorted.find(
      ({ expiry, strike, right }) => expiry === third && strike === 570_000 && right === 'put',
    )!;
    const row = chain.rows.find((one) => one.expiry === third && one.strike === 570_000 && one.right === 'put')!;
    expect(point).toEqual({
      root: 'SPY',
      expiry: third,
      right: 'put',
      strike: 570_000,
      iv: row.solved!.iv,
      mark: 0.5 * (row.bid! + row.ask!),
      markSource: 'mid',
      moneyness: 0.95,
      delta: row.solved!.delta,
      gamma: row.solved!.gamma,
    });
    expect(point.iv).toBeCloseTo(smileAt(570), 3);
  });
});

describe('the volatilities of a chain as its source gives them', () => {
  test('at the forward variance is linear in ln(K/F) between its two sides, of each the out-of-the-money volatility, else the other', () => {
    // The forward is near 600.5: at 600 the put is out of the money, at 605 the call.
    const both = (strike: number, call: number | null, put: number | null) => [
      known('SPY', 'call', strike, { iv: call }),
      known('SPY', 'put', strike, { iv: put }),
    ];
    const atmOf = (rows: ChainRow[]) => {
      const { atmStrike, atmIv } = volatilitySurface(chainOf(rows)).expiries[0]!;
      return [atmStrike, atmIv];
    };
    const forward = solveChain(chainOf(both(600, 0.2, 0.2)), { rate: methodologySettings.usualRate }).groups[0]!
      .forward;
    const share = Math.log(forward / 600) / Math.log(605 / 600);
    const between = (below: number, above: number) => Math.sqrt(below ** 2 + share * (above ** 2 - below ** 2));
    const expectAtm = (rows: ChainRow[], atmIv: number | null) => {
      const [atmStrike, found] = atmOf(rows);
      expect(atmStrike).toBe(600_000);
      if (atmIv === null) expect(found).toBeNull();
      else expect(found).toBeCloseTo(atmIv, 3);
    };
    expectAtm([...both(600, 0.21, 0.22), ...both(605, 0.11, 0.12)], between(0.22, 0.11));
    expectAtm([...both(600, 0.21, null), ...both(605, null, 0.12)], between(0.21, 0.12));
    // A side without any leaves it unknown, the strike is the listed one nearest.
    expectAtm([...both(600, null, 0), ...both(605, 0.11, 0.12)], null);
    expectAtm([...both(595, 0.2, 0.2), ...both(600, 0.21, 0.22)], null);
  });

  test('a volatility that is unknown, or 0 as sources write it, makes no point; an expiry without any stays, with nulls', () => {
    const chain = chainOf([
      known('SPY', 'call', 600),
      known('SPY', 'call', 605, { iv: null }),
      known('SPY', 'put', 600, { iv: 0 }),
      pricedRow('SPY', '2025-07-18', 'call', 600),
    ]);
    expect(points(chain).map(({ strike, right }) => [strike, right])).toEqual([[600_000, 'call']]);
    expect(volatilitySurface(chain).expiries).toMatchObject([
      { expiry: third, dte: 16, contractCount: 1, atmStrike: 600_000, atmIv: null },
      { expiry: '2025-07-18', dte: 44, contractCount: 0, atmStrike: null, atmIv: null },
    ]);
  });

  test('of an expiry’s roots the one that settles last gives the points; adjusted deliverables and the expired give none', () => {
    const chain = chainOf([
      known('SPX', 'call', 600, { iv: 0.5 }),
      known('SPX', 'call', 610, { iv: 0.5 }),
      known('SPXW', 'call', 600, { iv: 0.2 }),
      known('SPXW1', 'put', 600, { iv: 0.9 }),
      // Settled at this day's open, and expired the day before.
      pricedRow('SPX', sessionDate, 'call', 600, { iv: 0.3 }),
      pricedRow('SPXW', '2025-06-03', 'call', 600, { iv: 0.3 }),
    ]);
    expect(points(chain).map(({ root, expiry, strike, iv }) => [root, expiry, strike, iv])).toEqual([
      ['SPXW', third, 600_000, 0.2],
    ]);
    expect(volatilitySurface(chain).expiries).toMatchObject([{ expiry: third, contractCount: 1, atmStrike: 600_000 }]);
  });

  test('a mark is the mid of a usable quote and of nothing else', () => {
    const markOf = (more: Partial<ChainRow>) => {
      const [point] = points(chainOf([known('SPY', 'call', 600, { last: 9, fmv: 9, ...more })]));
      return [point!.mark, point!.markSource];
    };
    expect(markOf({ bid: 1.5, ask: 1.75 })).toEqual([1.625, 'mid']);
    expect(markOf({ bid: 0, ask: 0.05 })).toEqual([0.025, 'mid']);
    for (const none of [
      { bid: 0, ask: 0.06 },
      { bid: 2, ask: 1.9 },
      { bid: null, ask: 1 },
      { bid: 1, ask: null },
    ])
      expect(markOf(none)).toEqual([null, null]);
  });

  test('moneyness is of the implied spot where a capture’s is stale; one not captured whole, or before that, keeps its own', () => {
    const stale = { ...pricedChain('SPY', [sessionDate, third], strikes), spot: 606 };
    expect(volatilitySurface(stale).price).toBe(606);
    expect(Math.abs(volatilitySurface({ ...stale, rate: market.rate }).price! - 600)).toBeLessThan(0.03);
    // It knows the dividends that the chain was solved with.
    const known = { kind: 'regular', amount: 3, ratio: null, declared: null } as const;
    const dividends = [{ symbol: 'SPY', exDate: '2025-06-05', ...known }];
    const weekly = { ...pricedChain('SPY', ['2025-06-06', third], strikes), spot: 606, rate: market.rate };
    const { price } = volatilitySurface(weekly, { dividends });
    expect(price! - 600).toBeGreaterThan(2);
  });

  test('moneyness is of the spot, else of the prior close; without either nothing is at the money', () => {
    const rows = [known('SPY', 'call', 598)];
    expect(points(chainOf(rows))[0]!.moneyness).toBe(598 / 600);
    expect(points(chainOf(rows, { spot: null }))[0]!.moneyness).toBe(1);
    const priceless = chainOf(rows, { spot: null, priorCloseSpot: null });
    expect(points(priceless)[0]).toMatchObject({ moneyness: null, iv: smileAt(598) });
    expect(volatilitySurface(priceless).expiries).toMatchObject([{ contractCount: 1, atmStrike: null, atmIv: null }]);
  });
});

describe.skipIf(!hasSharedData)('the S&P 500 chain of 2024-01-07 (needs ../shared/data)', () => {
  let chain: ChainCapture;
  beforeAll(async () => {
    chain = (await readChain(sharedData('chains_cboe/spx_20240107.csv.gz'), () => {})).capture;
  });

  test('at the money are the strikes nearest the forwards, with the volatility the file has there', () => {
    const { expiries, rows } = volatilitySurface(chain);
    const of = (date: string) => expiries.find(({ expiry }) => expiry === date);
    // Out-of-the-money sides as the file has them; the VIX, of some 30 days but weighing the wings, stood at 13.35.
    for (const [date, dte, atmStrike, atmIv] of [
      ['2024-01-08', 1, 4_700_000, 0.0647],
      ['2024-02-06', 30, 4_720_000, 0.1135],
      ['2024-12-20', 348, 4_875_000, 0.1516],
    ] as const) {
      expect(of(date)).toMatchObject({ dte, atmStrike });
      expect(Math.abs(of(date)!.atmIv! - atmIv)).toBeLessThan(0.0005);
    }
    for (const { dte, atmIv } of expiries) {
      expect(atmIv, `${dte}`).toBeGreaterThan(0.06);
      expect(atmIv, `${dte}`).toBeLessThan(0.2);
    }
    expect(rows.length).toBeGreaterThan(15_000);
  });
});
