// A server whose clock runs in a past session, over a store with day bars alone.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { storeDays } from '../../support/market.ts';
import { testStore } from '../../support/store.ts';

const friday = '2026-11-20';
const at = (minute: number) => exchangeInstant(friday, minute);
let app: TestApp;
beforeAll(async () => {
  const store = { ...(await testStore()), endedBarsOnly: true };
  await storeDays(store, 'SPY', { '2026-11-18': 498, '2026-11-19': 499, [friday]: 503.89 });
  app = await testApp({ nowMs: at(720), store });
});
afterAll(() => app.close());

test.each([
  [720, 499, '2026-11-19'],
  [959, 499, '2026-11-19'],
  [960, 503.89, friday],
  [1140, 503.89, friday],
  [1199, 503.89, friday],
  [1201, 503.89, friday],
])(
  'at minute %i the quote and the last day bar are those of the last session that has closed',
  async (minute, close, date) => {
    app.clock.nowMs = at(minute);
    const quote = (await app.get('/v2/quotes?symbols=SPY')).body.data[0];
    expect(quote).toMatchObject({ spot: close, session_date: date });
    expect(quote.official_close).toBe(date === friday ? 499 : 498);
    const { data } = (await app.get(`/v2/stocks/SPY/bars?timeframe=1d&from=2026-11-18&to=2026-11-21`)).body;
    expect(data.at(-1).close).toBe(close);
  },
);
