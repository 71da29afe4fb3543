import { afterAll, beforeAll, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { saveCrossSections } from '../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../src/store/flow/sessions.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { coverage } from '../support/flow.ts';
import { minutes } from '../support/live.ts';
import { flatBar, storeDays, storeMinutes } from '../support/market.ts';
import { storeOffExchange } from '../support/off-exchange.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../support/option-market.ts';

const [yesterday, today] = ['2026-11-19', '2026-11-20'];
let app: TestApp;
let credential: string;

// A stock that opens late: its first print is at 10:00:30, its first option trade at 10:05, its first chain at 11:00.
beforeAll(async () => {
  app = await testApp({ nowMs: newYork(today, '17:00') });
  credential = await app.session();
  const { store } = app;
  await storeDays(store, 'NVDA', { [yesterday]: 100, [today]: 110 });
  await storeMinutes(store, 'NVDA', yesterday, [100, 101]);
  await minutes(store, 'NVDA', today, 30, [
    [110, 5],
    [111, 5],
  ]);
  const second = flatBar(exchangeInstant(today, 600) + 30_000, 110, 5);
  await inTransaction(store, (tx) => writeBars(tx, '1s', [{ symbol: 'NVDA', bars: toBarColumns([second]) }]));
  const row = chainRow({ root: 'NVDA', expiry: '2026-12-18', right: 'call', strike: 100_000 });
  await saveCaptures(store, { chains: [chainCapture('NVDA', newYork(today, '11:00'), [row])] });
  const tsMs = exchangeInstant(today, 605);
  const observed = coverage(today, 960, { observedFromMs: tsMs });
  const premium = [{ tsMs, callPremiumUsd: 300, putPremiumUsd: 100 }];
  await inTransaction(store, async (tx) => {
    await saveCoverages(tx, new Map([['NVDA', observed]]));
    const section = { symbol: 'NVDA', seq: 1, coverage: observed, byStrike: [], byExpiration: [], minutes: premium };
    await saveCrossSections(tx, [section]);
  });
  await storeOffExchange(store, 'NVDA', { [yesterday]: { categories: ['other'] } });
});
afterAll(() => app.close());

const none = { bars: false, chains: false, flow: false, offExchange: false };
const before = { ...none, sessionDate: yesterday, bars: true };
const published = { ...before, offExchange: true };

test.each([
  ['before yesterday’s off-exchange data', '05:59', [before], null],
  ['before the first print of the stock', '09:59:59', [published], null],
  ['in the minute of the first print, before it', '10:00:30', [published], null],
  ['from the first print on', '10:00:31', [{ ...none, sessionDate: today, bars: true }, published], null],
  [
    'from the first option trade on',
    '10:05:30',
    [{ ...none, sessionDate: today, bars: true, flow: true }, published],
    null,
  ],
  [
    'from the first minute of option trades on',
    '10:06',
    [{ ...none, sessionDate: today, bars: true, flow: true }, published],
    300,
  ],
  [
    'from the first chain on',
    '11:00',
    [{ ...none, sessionDate: today, bars: true, flow: true, chains: true }, published],
    300,
  ],
])('a session appears with the first that is shown of it: %s', async (_when, time, sessions, callPremiumUsd) => {
  const { data, errors } = await app.graphql(
    `{ asOf(at: "${today}T${time}") {
      symbol(symbol: "NVDA") {
        lastSession sessionDates sessions { sessionDate bars chains flow offExchange }
        flow { unusual { callPremiumUsd } }
      }
      screener(where: { callPremiumUsd: { gte: 0 } }) { rows { callPremiumUsd node { symbol } } }
    } }`,
    {},
    { credential },
  );
  expect(errors).toBeUndefined();
  const { symbol, screener } = data.asOf;
  const dates = sessions.map(({ sessionDate }) => sessionDate);
  expect(symbol).toMatchObject({ lastSession: dates[0], sessionDates: dates, sessions });
  expect(symbol.flow.unusual.callPremiumUsd).toBe(callPremiumUsd);
  expect(screener.rows.length).toBe(callPremiumUsd === null ? 0 : 1);
});
