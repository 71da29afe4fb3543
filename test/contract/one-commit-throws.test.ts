import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { topicKinds } from '../../src/rest/stream/stream-topics.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import type { TestApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { filledApp } from '../support/filled-market.ts';
import { barStreamEndpoints, streamEndpoints } from '../support/stream-endpoints.ts';

let app: TestApp;
let credential: string;
beforeAll(async () => {
  app = await filledApp();
  credential = await app.key({ siteTier: 'pro', apiTier: 'pro' });
}, 120_000);
afterAll(() => app.close());
afterEach(() => vi.restoreAllMocks());

/** A commit that concerns all that is read of the symbol. */
const commit = () =>
  inTransaction(app.store, async ({ changes }) => {
    for (const subject of ['market', 'chain', 'gex', 'flow', 'offexchange'] as const) changes.add(subject, 'SPY');
  });

const readsMarket = /^\s*(select|with)\b.*(quote|bar_block|chain|gex|flow|contract_minute|off_exchange|ranked)/is;

/**
 * Puts a commit before the second read of market data from now on, and makes that read fail: as if it had found a part
 * of another commit. Returns the number of reads that failed so.
 */
function failBetweenCommits(): () => number {
  let [reads, failed] = [0, 0];
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string }];
    const text = typeof statement === 'string' ? statement : statement.text;
    const isRead = failed === 0 && readsMarket.test(text) && !/symbol_commits|accounts|api_keys/.test(text);
    if (!isRead || ++reads < 2) return query.apply(this, args);
    failed++;
    const error = new TypeError('a part is not there');
    const callback = args.at(-1);
    const thrown = commit().then(() => {
      throw error;
    });
    return typeof callback === 'function' ? void thrown.catch(callback as (error: unknown) => void) : thrown;
  } as never);
  return () => failed;
}

/** Forgets what is held, so that it is read; nobody else reads. */
async function forget(): Promise<void> {
  await expect.poll(() => app.live.counts().topics, { timeout: 5000 }).toBe(0);
  await commit();
}

describe('work that throws because it read two commits is done again', () => {
  test.each(['/v2/gex/SPY/grid', '/v2/flow/SPY/large-trades', '/v2/symbols/SPY/spot', '/v2/chain/SPY'])(
    'request: %s',
    async (path) => {
      await forget();
      const before = await app.get(path, { credential });
      await forget();
      const failed = failBetweenCommits();
      const { status, body } = await app.get(path, { credential });
      expect({ status, data: body.data, failed: failed() }).toEqual({
        status: before.status,
        data: before.body.data,
        failed: expect.any(Number),
      });
    },
  );

  test.each([
    ...Object.entries(streamEndpoints).map(([name, follow]) => [`quotes of ${name}`, follow] as const),
    // The channel of bars begins with the next one.
    ...Object.entries(barStreamEndpoints)
      .filter(([name]) => name !== '/v2/ws')
      .map(([name, follow]) => [`bars of ${name}`, follow] as const),
  ])('%s', async (name, follow) => {
    await forget();
    const failed = failBetweenCommits();
    const client = await follow(app, credential, 'SPY');
    try {
      await expect.poll(() => client.ended() ?? client.prices().length, { timeout: 5000 }).toBe(1);
      // The parts of bars may be held, so that they take but one read.
      expect(failed()).toBeGreaterThanOrEqual(name.startsWith('quotes') ? 1 : 0);
    } finally {
      client.leave();
    }
  });

  test.each(Object.keys(topicKinds))('plain stream: %s, new and since an instant', async (kind) => {
    const since = app.clock.nowMs - 3_600_000;
    for (const more of ['', `&since=${since}`]) {
      await forget();
      const failed = failBetweenCommits();
      const of = kind === 'quotes' ? 'SPY,MSFT' : 'SPY';
      const reader = await readEvents(`${app.url}/v2/stream?topics=${kind}:${of}${more}`, {
        headers: { authorization: `Bearer ${credential}` },
      });
      expect(reader.status, `${kind}${more}`).toBe(200);
      try {
        const first = await reader.next();
        expect(first!.event, JSON.stringify(first!.data)).toBe('ready');
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(reader.events.filter(({ event }) => event === 'end')).toEqual([]);
        expect(failed()).toBeLessThanOrEqual(1);
      } finally {
        reader.leave();
      }
      vi.restoreAllMocks();
    }
  });
});
