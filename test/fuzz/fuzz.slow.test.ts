// `npm run fuzz` sends the same requests to a gateway of its own: see docs/security.md.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { requestOf } from './generate.ts';
import { curlOf } from './request.ts';
import { fuzz } from './run.ts';
import { describeTarget, type FuzzCredential, type Target } from './target.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);
const count = Number(process.env.FUZZ_COUNT ?? 6000);

let app: TestApp;
let target: Target;
const logLines: string[] = [];
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);

/** A key and a session of each tier, and of those who are nobody any more. */
async function credentials(): Promise<Record<string, FuzzCredential>> {
  const made: Record<string, FuzzCredential> = {};
  for (const tier of ['pro', 'basic', 'free'] as const) {
    const account = { siteTier: tier, apiTier: tier };
    made[`${tier}-key`] = { text: await app.key(account), tier, attested: true };
    made[`${tier}-session`] = { text: await app.session(account), tier, attested: true };
  }
  made['undeclared-key'] = { text: await app.key({ classification: null }), tier: 'pro', attested: false };
  made['declaring-session'] = { text: await app.session(), tier: 'pro', attested: true };
  const accountId = await app.account();
  const expired = await app.access.keys.create({ accountId, name: null, expiresAt: app.clock.nowMs + 1000 });
  const revoked = await app.access.keys.create({ accountId, name: null, expiresAt: null });
  await app.access.keys.revoke(revoked.meta.id, null);
  made['expired-key'] = { text: expired.key, tier: null, attested: false };
  made['revoked-key'] = { text: revoked.key, tier: null, attested: false };
  made['expired-session'] = { text: await app.access.sessions.create(accountId, 1000), tier: null, attested: false };
  app.clock.nowMs += 5000;
  return made;
}

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  app = await testApp({ nowMs: filledNowMs, env: { LOG_LEVEL: 'error' }, logLines });
  await fillMarket(app.store);
  target = await describeTarget(app.url, await credentials(), '2026-12-01', true);
});
afterAll(async () => {
  process.off('unhandledRejection', onRejection);
  await app.close();
});

test('a request is the same for the same seed and number', () => {
  const made = (at: number) => curlOf(target.url, requestOf(target.language, seed, at));
  expect(Array.from({ length: 300 }, (_, at) => made(at))).toEqual(Array.from({ length: 300 }, (_, at) => made(at)));
  expect(new Set(Array.from({ length: 300 }, (_, at) => made(at))).size).toBeGreaterThan(280);
});

describe(`${count} generated requests, seed ${seed}`, () => {
  test(
    'each is answered in time, none with 5xx, every failure in its endpoint’s envelope with a known code, nothing to whom it is not for',
    async () => {
      const report = await fuzz(target, {
        seed,
        count,
        concurrency: 24,
        patienceMs: 60_000,
        slowMs: 2000,
        mostFindings: 20,
      });
      expect(
        report.findings.map(({ what, index, curl, times }) => `#${index} (${times}×) ${what}\n    ${curl}`),
      ).toEqual([]);
      const statuses = new Set([...report.answers.keys()].map((kind) => kind.split(' ').slice(0, 2).join(' ')));
      // They are wrong in many ways, and some in none.
      for (const status of [200, 400, 401, 403, 404, 405, 415]) expect(statuses).toContain(`rest ${status}`);
      expect([...statuses].some((status) => status.endsWith(' 413'))).toBe(true);
      for (const kind of [
        'graph 200',
        'graph 400',
        'graph 401',
        'stream 200',
        'stream 400',
        'mcp 200',
        'mcp 400',
        'raw 400',
        'socket 101',
        'socket 4400',
        'socket 4401',
        'page 200',
      ])
        expect(statuses).toContain(kind);
    },
    15 * 60_000,
  );

  test('none left an error in the log, a stream, or a rejection that nobody handles, and the server serves on', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rejections).toEqual([]);
    expect(logLines).toEqual([]);
    await expect.poll(() => app.live.counts(), { timeout: 10_000 }).toEqual({ streams: 0, topics: 0 });
    const { status, body } = await app.get('/v2/symbols/SPY', { credential: target.credentials['pro-key']!.text });
    expect([status, body.data.symbol]).toEqual([200, 'SPY']);
  });
});
