import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { statementsOf } from '../support/statements.ts';

let app: TestApp;
const path = '/v2/stocks/NVDA/bars?from=2026-11-19&to=2026-11-20';

function store(close: number) {
  const bar = {
    tsMs: exchangeInstant('2026-11-19', 600),
    open: 1,
    high: 9,
    low: 1,
    close,
    volume: 1,
    vwap: null,
    tradeCount: null,
  };
  return inTransaction(app.store, async (tx) => {
    await writeBars(tx, '1m', [{ symbol: 'NVDA', bars: toBarColumns([bar]) }]);
  });
}

beforeAll(async () => {
  app = await testApp();
  await store(2);
});
afterAll(() => app.close());

describe('an answer of sealed sessions', () => {
  test('that comes back costs no statement from then on, and is the same to the byte', async () => {
    await app.get(path);
    const first = await app.get(path);
    let second = first;
    expect(
      await statementsOf(async () => {
        second = await app.get(path);
      }),
    ).toEqual([]);
    expect(second.bytes).toEqual(first.bytes);
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(second.headers['x-ratelimit-remaining']).not.toBe(first.headers['x-ratelimit-remaining']);
  });

  test('is not given to a caller who may not read it', async () => {
    // Asked twice, so that it is kept.
    await app.get(path);
    await app.get(path);
    const free = await app.get(path, { credential: await app.key({ apiTier: 'free' }) });
    expect([free.status, free.body.error.code]).toEqual([403, 'not_entitled_tier']);
    const session = await app.get(path, { credential: await app.session({ siteTier: 'pro' }) });
    expect(session.status).toBe(200);
    expect((await app.get(path, { credential: null })).status).toBe(401);
  });

  test('is another as soon as the data changes', async () => {
    await app.get(path);
    const before = await app.get(path);
    await store(3);
    await expect.poll(async () => (await app.get(path)).body.data[0].close).toBe(3);
    expect((await app.get(path)).headers.etag).not.toBe(before.headers.etag);
  });
});

describe('requests in flight', () => {
  test('more than two of one key at once: the others are told to come again in a second, and the places come back', async () => {
    const key = await app.key();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => app.get(`${path}&limit=${i + 1}`, { credential: key })),
    );
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(answer.body.error.code).toBe('rate_limited');
      expect(answer.headers['retry-after']).toBe('1');
    }
    for (let i = 0; i < 5; i++) expect((await app.get(path, { credential: key })).status).toBe(200);
  });

  test('an answer at hand counts as in flight all the same', async () => {
    const key = await app.key();
    const together = () => Promise.all(Array.from({ length: 10 }, () => app.get(path, { credential: key })));
    await together();
    const statuses = new Set((await together()).map((answer) => answer.status));
    expect(statuses).toEqual(new Set([200, 429]));
  });

  test('site sessions have no such limit', async () => {
    const session = await app.session();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => app.get(`${path}&limit=${i + 11}`, { credential: session })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200));
  });
});
