// A REST request costs 1, and 1 more for each begun 1,000 rows asked for above 1,000 (contract-notes 9).
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rankedListSize } from '../../src/core/domain/flow/flow.ts';
import { historySessions } from '../../src/resolvers/chain/contract-history.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { storeOffExchange } from '../support/off-exchange.ts';

const full = { categories: ['regular_way', 'average_price'], buckets: 5, levels: 7 };
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: Date.parse('2026-11-20T17:00Z'), env: { RATE_PRO: '100' } });
  await storeOffExchange(app.store, 'SPY', { '2026-11-18': full, '2026-11-19': full });
});
afterAll(() => app.close());

const tables = ['profile', 'concentration', 'composition', 'activity'] as const;
const costs = [
  ['', 1],
  ['&limit=1', 1],
  ['&limit=1000', 1],
  ['&limit=1001', 2],
  ['&limit=2000', 2],
  ['&limit=5000', 5],
  // Clamped to what is served.
  ['&limit=900000', 5],
] as const;

const taken = ({ headers }: { headers: Record<string, unknown> }) => ({
  consumed: Number(headers['x-ratelimit-consumed']),
  remaining: Number(headers['x-ratelimit-remaining']),
});

describe.each(tables)('%s', (table) => {
  test.each(costs)(
    'with %j costs %i, by a key and in a session, also when its answer is cached',
    async (query, cost) => {
      for (const credential of [await app.key(), await app.session()])
        for (const times of [1, 2]) {
          const answer = await app.get(`/v2/offexchange/SPY/${table}?tz=UTC${query}`, { credential });
          expect([answer.status, taken(answer)]).toEqual([200, { consumed: cost, remaining: 100 - times * cost }]);
        }
    },
  );

  test('costs as much by a tool of /mcp', async () => {
    const credential = await app.key();
    const params = { name: `off_exchange_${table}`, arguments: { symbol: 'SPY', limit: 3500 } };
    const answer = await app.send('POST', '/mcp', {
      credential,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      headers: { accept: 'application/json, text/event-stream' },
    });
    expect(answer.body.result.isError).not.toBe(true);
    expect(taken(await app.get('/v2/symbols/SPY/spot', { credential })).remaining).toBe(100 - 4 - 1);
  });
});

test('a page that costs more than is left is 429, and one that costs more than a minute takes it whole', async () => {
  const few = await testApp({ nowMs: Date.parse('2026-11-20T17:00Z'), env: { RATE_PRO: '4' } });
  onTestFinished(() => few.close());
  await storeOffExchange(few.store, 'SPY', { '2026-11-19': full });
  const profile = (limit: number, credential: string) =>
    few.get(`/v2/offexchange/SPY/profile?limit=${limit}`, { credential });
  const one = await few.key();
  expect(taken(await profile(5000, one))).toEqual({ consumed: 4, remaining: 0 });
  expect((await profile(1, one)).status).toBe(429);
  const other = await few.key();
  expect((await profile(2000, other)).status).toBe(200);
  const over = await profile(4000, other);
  expect([over.status, over.headers['retry-after']]).toEqual([429, expect.any(String)]);
});

test('end-of-day prints and the history of a contract never ask for more than 1,000 rows', () => {
  expect(rankedListSize).toBeLessThanOrEqual(1000);
  expect(historySessions.max).toBeLessThanOrEqual(1000);
});
