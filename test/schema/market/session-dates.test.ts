import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveCoverages } from '../../../src/store/flow/sessions.ts';
import { stockedSymbols } from '../../../src/store/market/stored-sessions.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { coverage } from '../../support/flow.ts';
import { minutes } from '../../support/live.ts';
import { storeDays } from '../../support/market.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: newYork('2026-11-20', '12:00') });
  await minutes(app.store, 'AAPL', '2026-11-18', 0, [[200, 5]]);
  await minutes(app.store, 'AAPL', '2026-11-23', 0, [[200, 5]]);
  const gex = [gexCapture('AAPL', newYork('2026-11-17', '10:00'), [{ strike: 200_000, expiry: '2026-12-18', gex: 1 }])];
  await saveCaptures(app.store, { gex });
  await inTransaction(app.store, (tx) => saveCoverages(tx, new Map([['AAPL', coverage('2026-11-18', 700)]])));
  await inTransaction(app.store, (tx) => saveCoverages(tx, new Map([['SPX', coverage('2026-11-16', 700)]])));
  // A year of closes is no session to look at.
  await storeDays(app.store, 'MSFT', { '2026-11-18': 500, '2026-11-19': 510 });
});
afterAll(() => app.close());

const sessionsOf = (symbol: string, credential?: string) =>
  app.graphql(
    'query Sessions($symbol: Ticker!) { symbol(symbol: $symbol) { sessionDates } }',
    { symbol },
    credential === undefined ? {} : { credential },
  );

test('are those with data of any kind but closes, each once, latest first, none of the future', async () => {
  const answers = await Promise.all(['AAPL', 'SPX', 'MSFT', 'NVDA'].map((symbol) => sessionsOf(symbol)));
  expect(answers.map(({ data }) => data.symbol.sessionDates)).toEqual([
    ['2026-11-18', '2026-11-17'],
    ['2026-11-16'],
    [],
    [],
  ]);
});

test('a session is there with the first thing that is stored of it', async () => {
  expect((await sessionsOf('XOM')).data.symbol.sessionDates).toEqual([]);
  await minutes(app.store, 'XOM', '2026-11-20', 0, [[100, 5]]);
  expect((await sessionsOf('XOM')).data.symbol.sessionDates).toEqual(['2026-11-20']);
});

test('are read by those who may read the symbol', async () => {
  const unattested = await app.key({ classification: 'professional' });
  const { errors } = await sessionsOf('SPX', unattested);
  expect(errors![0]!.extensions.code).toBe('attestation_required');
});

test('symbols with anything stored are those with bars of any length, or captures, or flow', async () => {
  expect(await stockedSymbols(app.store, ['AAPL', 'SPX', 'MSFT', 'NVDA', 'BRK.B'])).toEqual(
    new Set(['AAPL', 'SPX', 'MSFT']),
  );
});
