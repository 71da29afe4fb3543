import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';
import { storeDays } from '../../support/market.ts';
import { newYork } from '../../support/option-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: newYork('2026-11-20', '12:00') });
  await storeDays(app.store, 'AAPL', { '2018-12-31': 39, '2019-02-15': 42 });
  await storeDays(app.store, 'MSFT', { '2026-11-18': 500, '2026-12-01': 510 });
});
afterAll(() => app.close());

const lastSession = async (symbol: string, credential?: string) => {
  const query = 'query Last($symbol: Ticker!) { symbol(symbol: $symbol) { lastSession } }';
  return app.graphql(query, { symbol }, credential === undefined ? {} : { credential });
};

test('is the last with a daily bar, however long ago, and none of the future', async () => {
  const sessions = await Promise.all(['AAPL', 'MSFT', 'NVDA'].map((symbol) => lastSession(symbol)));
  expect(sessions.map(({ data }) => data.symbol.lastSession)).toEqual(['2019-02-15', '2026-11-18', null]);
});

test('is read by those who may read the symbol', async () => {
  const unattested = await app.key({ classification: 'professional' });
  const { errors } = await lastSession('SPX', unattested);
  expect(errors![0]!.extensions.code).toBe('attestation_required');
});
