import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { hasSharedData, sharedData } from '../support/shared-data.ts';

describe.skipIf(!hasSharedData)('quotes from real flat files', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs: Date.parse('2019-02-16T17:00Z') });
    const now = () => app.clock.nowMs;
    await ingestFiles(app.store, 'stock-day-bars', [sharedData('stocks_day_aggs/2019-0*.csv.gz')], { now });
    await ingestFiles(app.store, 'stock-minute-bars', [sharedData('stocks_minute_aggs/*.csv.gz')], { now });
  });
  afterAll(() => app.close());

  async function at(instant: string) {
    app.clock.nowMs = Date.parse(instant);
    const { body } = await app.get('/v2/quotes?symbols=AAPL');
    const spot = await app.get('/v2/symbols/AAPL/spot');
    return { quote: body.data[0], spot: spot.body.data };
  }

  test("on a Saturday they are Friday's close against Thursday's", async () => {
    const { quote, spot } = await at('2019-02-16T12:00-05:00');
    expect(quote).toMatchObject({
      spot: 170.42,
      official_close: 170.8,
      change_pct: -0.2225,
      volume: 24_626_814,
      session_date: '2019-02-15',
      event_ts_ms: null,
    });
    expect(spot).toEqual({ symbol: 'AAPL', price: 170.42, ts: Date.parse('2019-02-15T00:00-05:00') });
  });

  test('in a session that is replayed they say what was known then', async () => {
    const early = (await at('2019-02-14T09:31-05:00')).quote;
    const late = (await at('2019-02-14T15:00-05:00')).quote;
    for (const quote of [early, late])
      expect(quote).toMatchObject({ official_close: 170.18, session_date: '2019-02-14' });
    expect(early.volume).toBeLessThan(late.volume);
    expect(late.volume).toBeLessThan(21_835_747);
    const { body } = await app.get('/v2/stocks/AAPL/bars?from=2019-02-14&to=2019-02-14T15:01&timeframe=1m&limit=1000');
    expect(late.spot).toBe(body.data.at(-1).close);
    expect((await at('2019-02-14T09:29-05:00')).quote).toMatchObject({ spot: 170.18, session_date: '2019-02-13' });
    expect((await at('2019-02-14T16:00-05:00')).quote).toMatchObject({ spot: 170.8, volume: 21_835_747 });
  });

  test('they are no price any more for a clock years later', async () => {
    const { quote, spot } = await at('2026-11-20T12:00-05:00');
    expect(quote).toMatchObject({ symbol: 'AAPL', spot: null, session_date: null });
    expect(spot).toEqual({ symbol: 'AAPL', price: null, ts: null });
  });
});
