import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { previousTradingDay } from '../../../src/core/domain/calendar.ts';
import { lastInstant } from '../../../src/core/domain/chain/option-root.ts';
import { toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { saveVolatilityDays } from '../../../src/store/chain/volatility-days.ts';
import { saveGexCapture } from '../../../src/store/gex/captures.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { saveSplits } from '../../../src/store/market/splits.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { capturedAt, market, pricedChain } from '../../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { flatBar } from '../../support/market.ts';
import { gexCapture, newYork } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';

const today = '2025-06-04';
const strikes = Array.from({ length: 41 }, (_, i) => 500 + 5 * i);
const expiries = ['2025-06-06', '2025-06-20', '2025-07-18', '2025-08-15'];
let app: TestApp;

/** The last `count` sessions before today, ascending. */
function sessionsBefore(count: number): string[] {
  const dates = [previousTradingDay(today)];
  while (dates.length < count) dates.unshift(previousTradingDay(dates[0]!));
  return dates;
}
const sessions = sessionsBefore(25);
const splitOn = sessions[15]!;

/** A close that moves by 1 % up and down; ten times as high before the split where there is one. */
const closeOn = (date: string, ratio: number) =>
  (sessions.indexOf(date) % 2 === 0 ? 100 : 101) * (date < splitOn ? ratio : 1);

beforeAll(async () => {
  app = await testApp({ nowMs: exchangeInstant(today, 12 * 60) });
  await inTransaction(app.store, async (tx) => {
    const chain = pricedChain('SPXW', expiries, strikes);
    for (const [underlying, root] of [
      ['SPX', 'SPXW'],
      ['AAPL', 'AAPL'],
    ] as const) {
      const rows = chain.rows.map((row) => ({ ...row, root }));
      await storeChain(tx, { ...chain, underlying, rows }, { rate: market.rate, gammaSource: 'solve' });
    }
    const bars = (dates: readonly string[], ratio: number) =>
      toBarColumns(dates.map((date) => flatBar(exchangeInstant(date), closeOn(date, ratio))));
    await writeBars(tx, '1d', [
      { symbol: 'SPX', bars: bars(sessions, 1) },
      { symbol: 'AAPL', bars: bars(sessions, 10) },
      { symbol: 'MSFT', bars: bars(sessions.toSpliced(12, 1), 1) },
    ]);
    // SPX: 70 days loaded, the last two of which captures know better; AAPL: with its own, one short of sixty.
    const days = (symbol: string, dates: readonly string[]) =>
      dates.map((date, i) => ({ symbol, date, iv30: 0.1 + i / 1000 }));
    await saveVolatilityDays(tx, [...days('SPX', sessionsBefore(70)), ...days('AAPL', sessionsBefore(58))]);
    const atTheMoney = (atmIv: number) =>
      ['2025-06-20', '2025-08-15'].map((expiry) => ({
        ...plain,
        expiry,
        atmIv,
      }));
    for (const [date, clock, atmIv] of [
      [sessions[24]!, '15:44', 0.9],
      [sessions[23]!, '15:45', 0.8],
      [sessions[23]!, '16:00', 0.05],
      [sessions[23]!, '16:01', 0.7],
    ] as const)
      await saveGexCapture(tx, gexCapture('SPX', newYork(date, clock), [], { expiries: atTheMoney(atmIv) }));
    await saveSplits(tx, [{ symbol: 'AAPL', exDate: splitOn, ratio: 10, declared: null }]);
  });
});
afterAll(() => app.close());

const plain = {
  maxPain: null,
  expectedMoveStraddle: null,
  expectedMoveSigma: null,
  moveRatio: null,
  inconsistent: false,
};

const figures = (symbol: string, sending = {}) => app.get(`/v2/options/${symbol}/vol/figures`, sending);

describe('GET /v2/options/{symbol}/vol/figures', () => {
  test('volatility at 7, 30 and 60 days lies between the expiries on both sides in total variance; none at 90', async () => {
    const { status, body } = await figures('SPX');
    expect(status).toBe(200);
    const { data } = body;
    const variances = data.skew.map(({ expiry, atm_iv: atmIv }: Json) => {
      const days = (lastInstant(expiry, 'pm') - capturedAt) / 86_400_000;
      return { days, total: atmIv ** 2 * days };
    });
    for (const [name, days] of [
      ['iv7', 7],
      ['iv30', 30],
      ['iv60', 60],
    ] as const) {
      const next = variances.findIndex((each: Json) => each.days > days);
      const [a, b] = [variances[next - 1], variances[next]];
      const total = (a.total * (b.days - days) + b.total * (days - a.days)) / (b.days - a.days);
      expect(data[name], name).toBeCloseTo(Math.sqrt(total / days), 10);
    }
    expect(data.iv90).toBeNull();
    expect(data).toMatchObject({ symbol: 'SPX', as_of_ms: capturedAt, spot: 600 });
    const june = data.skew.find(({ expiry }: Json) => expiry === '2025-06-20');
    // The smile falls by 0.25 a unit of ln K, and 25 delta are 3 % to 4 % away.
    expect(june.risk_reversal_25).toBeGreaterThan(-0.02);
    expect(june.risk_reversal_25).toBeLessThan(-0.01);
    expect(Math.abs(june.butterfly_25)).toBeLessThan(0.002);
  });

  test('realized volatility is of the last 20 sessions, and a split is no move', async () => {
    // Twenty returns of ±ln 1.01, ten up, ten down; flat bars have no range, and all happens overnight.
    const closeToClose = Math.sqrt((252 * 20) / 19) * Math.log(1.01);
    for (const symbol of ['SPX', 'AAPL']) {
      const { realized, premium, iv30 } = (await figures(symbol)).body.data;
      expect(realized).toEqual({
        from: sessions[5],
        through: sessions[24],
        close_to_close: expect.closeTo(closeToClose, 10),
        parkinson: 0,
        garman_klass: 0,
        yang_zhang: expect.closeTo(closeToClose, 10),
      });
      expect(premium.variance).toBeCloseTo(iv30 ** 2 - closeToClose ** 2, 10);
      expect(premium.volatility).toBeCloseTo(iv30 - closeToClose, 10);
    }
  });

  test('the rank is among loaded days and closing captures, its own session’s value included', async () => {
    const { rank, iv30 } = (await figures('SPX')).body.data;
    // .100 … .169, but the close of the day before yesterday is .05; the capture of 15:44 is too early for one.
    const values = [...Array.from({ length: 70 }, (_, i) => 0.1 + i / 1000).with(68, 0.05), iv30];
    const [least, most] = [Math.min(...values), Math.max(...values)];
    expect(rank.rank).toBeCloseTo((100 * (iv30 - least)) / (most - least), 8);
    expect(rank.percentile).toBeCloseTo((100 * values.filter((value) => value < iv30).length) / 71, 8);
    expect(rank.days).toBe(71);
    expect(least).toBe(0.05);
    expect((await figures('AAPL')).body.data.rank).toBeNull();
  });

  test('a session without a bar leaves it unknown, as a chain that was never captured leaves what is implied', async () => {
    const { status, body } = await figures('MSFT');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ iv30: null, skew: [], realized: null, premium: null });
    expect(body.meta.note).toContain('MSFT');
  });

  test('it requires entitlement to the symbol', async () => {
    const credential = await app.session({ siteTier: 'free', classification: null });
    const { status, body } = await figures('SPX', { credential });
    expect([status, body.error.code]).toEqual([403, 'not_entitled_tier']);
  });
});

test('the figures of several symbols take as many statements as those of one', async () => {
  const ask = (symbols: readonly string[]) =>
    app.graphql(
      `{ ${symbols.map((symbol) => `${symbol}: symbol(symbol: "${symbol}") { volatility { figures { iv30 rank { days } realized { yangZhang } premium { variance } } } }`).join('\n')} }`,
    );
  const cold = await statementsOf(() => ask(['GOOGL']));
  const several = await statementsOf(() => ask(['XOM', 'NVDA', 'JPM']));
  expect(cold.length).toBeGreaterThan(0);
  expect(several).toHaveLength(cold.length);
});
