import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { addDays, exchangeInstant } from '../../src/core/domain/market-time.ts';
import { dayMs } from '../../src/platform/runtime/clock.ts';
import { newestFeedPosition, readFeed } from '../../src/store/flow/feed-pages.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { flatBar } from '../support/market.ts';
import { pagesOf } from '../support/pages.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const past = '2026-09-10';

describe('what is looked at of a past session does not grow with the sessions after it', () => {
  let app: TestApp;
  /** Asked of the session before and after the others came; the numbers make answers that are not cached. */
  const questions: Record<string, (nth: number) => Promise<void>> = {
    'large trades of an underlying': async (nth) => {
      const path = `/v2/flow/large-trades?symbol=SPY&session=${past}&limit=2&n=${nth}`;
      expect((await app.get(path)).body.data.events).toHaveLength(2);
    },
    'large trades of all, by premium': async (nth) => {
      const path = `/v2/flow/large-trades?session=${past}&min_premium_usd=1000&limit=2&n=${nth}`;
      expect((await app.get(path)).body.data.events).toHaveLength(2);
    },
    'how many large trades there are': async (nth) => {
      const text = `{ symbol(symbol: "SPY") { flow {
        n${nth}: largeTrades(session: "${past}", limit: 1) { meta { total { count } } } } } }`;
      const { data, errors } = await app.graphql(text);
      expect(errors).toBeUndefined();
      expect(data.symbol.flow[`n${nth}`].meta.total.count).toBe(501);
    },
    'what is new in the feed of large trades': async () => {
      const position = await newestFeedPosition(app.store);
      const seen = [{ position: position - 2, throughMs: nowMs }];
      const window = { afterPosition: 0, throughPosition: position, fromMs: 0, throughMs: nowMs + dayMs };
      const wish = { underlying: null, minPremiumUsd: null };
      expect(await readFeed(app.store, { seen, ...window, ...wish, limit: 500 })).toHaveLength(2);
    },
  };
  const before = new Map<string, number>();

  /** 500 events like the one stored, in each of `days` sessions from `first` days after it on. */
  async function storeEvents(first: number, days: number): Promise<void> {
    await app.store.pool.query(
      `INSERT INTO flow_events SELECT underlying, to_char(date '${past}' + day, 'YYYY-MM-DD'), event_id || day || ':' || e,
         e + 1, event_kind, event_ts_ms + day * 86400000::int8 + e * 1000, total_size, premium_usd, price_low, price_high,
         side, multi_leg
       FROM flow_events, generate_series($1::int, $2::int) AS day, generate_series(1, 500) AS e WHERE seq = 1`,
      [first, first + days - 1],
    );
    await app.store.pool.query(
      `INSERT INTO flow_coverage SELECT underlying, to_char(date '${past}' + day, 'YYYY-MM-DD'), status, complete,
         observed_from_ms, observed_through_ms, registry_version, standard_multiplier_assumed
       FROM flow_coverage, generate_series($1::int, $2::int) AS day WHERE session_date = '${past}'
       ON CONFLICT DO NOTHING`,
      [first, first + days - 1],
    );
    await app.store.pool.query(
      `INSERT INTO flow_feed (underlying, session_date, event_id, event_ts_ms, content)
       SELECT underlying, session_date, event_id, event_ts_ms, '' FROM flow_events ON CONFLICT DO NOTHING`,
    );
    await app.store.pool.query('VACUUM ANALYZE flow_events, flow_feed');
  }

  beforeAll(async () => {
    app = await testApp({ nowMs });
    const of = coverage(past, 960, { status: 'eod_reconciled', complete: true });
    await storeLargeTrades(app.store, [
      largeTrade([leg('O:SPY261218C00600000', exchangeInstant(past, 600), { sequence: 1 })], 1, of),
    ]);
    await storeEvents(0, 1);
    for (const [name, ask] of Object.entries(questions)) {
      await ask(0);
      before.set(name, await pagesOf(app.store, () => ask(1)));
    }
    await storeEvents(1, 60);
  });
  afterAll(() => app.close());

  test.each(Object.keys(questions))('%s', async (name) => {
    const pages = await pagesOf(app.store, () => questions[name]!(2));
    // The indexes are a level deeper, and rows are found by them that were found by reading the whole table.
    expect(before.get(name)).toBeGreaterThan(0);
    expect(pages).toBeLessThanOrEqual(before.get(name)! + 100);
  });
});

test('the prices of all symbols take what their recent bars take, however many years are stored', async () => {
  const count = 200;
  const symbols = Array.from({ length: count }, (_, i) => ({ ...testSymbols[0]!, symbol: `S${i}` }));
  const app = await testApp({ nowMs, symbols });
  try {
    const days = Array.from({ length: 600 }, (_, i) => addDays('2026-11-19', i - 599));
    const bars = toBarColumns(days.map((date, i) => flatBar(exchangeInstant(date), 100 + i)));
    await inTransaction(app.store, (tx) =>
      writeBars(
        tx,
        '1d',
        symbols.map(({ symbol }) => ({ symbol, bars })),
      ),
    );
    const { bytes } = app.store.blocks.stats();
    const { body } = await app.get('/v2/screener/movers');
    expect(body.data[0]).toMatchObject({ symbol: 'S0', spot: 699, official_close: 698 });
    // Twenty bars of 64 bytes, three headers, and what an entry takes; a year of bars alone takes 20,000.
    expect((app.store.blocks.stats().bytes - bytes) / count).toBeLessThan(5000);
  } finally {
    await app.close();
  }
});
