import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { previousTradingDay } from '../../../src/core/domain/calendar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { saveCrossSections } from '../../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../../src/store/flow/sessions.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { coverage } from '../../support/flow.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00:30 in New York.
const today = '2026-11-20';
const nowMs = Date.parse('2026-11-20T17:00:30Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const sessions = [today];
  while (sessions.length < 23) sessions.push(previousTradingDay(sessions.at(-1)!));
  await inTransaction(app.store, async (tx) => {
    for (const symbol of ['SPY', 'AAPL'])
      for (const [back, sessionDate] of sessions.entries()) {
        // Two sessions have no minutes: one was not observed, the other was stored before they were counted.
        if (back === 3) continue;
        const covered = coverage(sessionDate, sessionDate === today ? 719 : 960);
        await saveCoverages(tx, new Map([[symbol, covered]]));
        const at = (minute: number, callPremiumUsd: number, putPremiumUsd: number) => ({
          tsMs: exchangeInstant(sessionDate, minute),
          callPremiumUsd,
          putPremiumUsd,
        });
        const minutes = [at(570, 100 * (back + 1), 50), at(719, 1, 1), at(720, 9000, 9000)];
        const totals = back === 4 ? {} : { minutes };
        await saveCrossSections(tx, [{ symbol, seq: 1, coverage: covered, byStrike: [], byExpiration: [], ...totals }]);
      }
  });
});
afterAll(() => app.close());

const unusual = (symbol: string, sending = {}) => app.get(`/v2/flow/${symbol}/unusual`, sending);

describe('GET /v2/flow/{symbol}/unusual', () => {
  test('today’s premium to the last full minute is compared with the 20 sessions before, to the same minute', async () => {
    const { status, body } = await unusual('SPY');
    expect(status).toBe(200);
    // One to twenty sessions back, without the third and the fourth.
    const before = Array.from({ length: 20 }, (_, i) => i + 1).filter((back) => back !== 3 && back !== 4);
    const mean = before.reduce((sum, back) => sum + 100 * (back + 1) + 1, 0) / before.length;
    expect(body.data).toStrictEqual({
      symbol: 'SPY',
      session_date: today,
      through_ms: exchangeInstant(today, 720),
      call_premium_usd: 101,
      put_premium_usd: 51,
      call_ratio: 101 / mean,
      put_ratio: 1,
      sessions: 18,
    });
    expect(body.meta).toStrictEqual({
      caps: { applied: [], tier: 'pro' },
      plane: 'live',
      read_at_ms: expect.any(Number),
    });
  });

  test('without trades there is no premium, and the answer says why', async () => {
    const { body } = await unusual('MSFT');
    expect(body.data).toMatchObject({ call_premium_usd: null, call_ratio: null, put_ratio: null, sessions: 0 });
    expect(body.meta.note).toContain('MSFT');
  });

  test('it requires what option flow requires', async () => {
    const credential = await app.key({ apiTier: 'basic' });
    expect((await unusual('SPY', { credential })).body.error.code).toBe('not_entitled_tier');
    expect((await unusual('QQQQ')).status).toBe(404);
  });

  test('several symbols take one statement more than none', async () => {
    const ask = (symbols: readonly string[]) =>
      app.graphql(
        `{ ${symbols.map((symbol) => `${symbol}: symbol(symbol: "${symbol}") { flow { unusual { sessions } } }`).join(' ')} }`,
      );
    const count = async (symbols: readonly string[]) => withoutCommits(await statementsOf(() => ask(symbols))).length;
    expect(await count(['SPY', 'AAPL', 'XOM'])).toBe(await count(['MSFT']));
  });
});
