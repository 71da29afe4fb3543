import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readUsage } from '../../../src/store/account/usage.ts';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: Date.parse('2026-11-20T17:00Z'), env: { RATE_BASIC: '77', RATE_PRO: '88' } });
});
afterAll(() => app.close());

const usage = (credential: string) => app.get('/v2/account/usage', { credential });

describe('GET /v2/account/usage', () => {
  test('is empty before any request, in every field', async () => {
    const { status, body, headers } = await usage(await app.key({ apiTier: 'basic' }));
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        trailing_days: 30,
        by_day: [],
        totals_by_scope_group: {},
        rate_limit: { per_min: 77 },
      },
      meta: {
        caps: { applied: [], tier: 'basic', flow: true },
        plane: 'registry',
        journal: { rows: 0, limit: 1_000_000 },
        screens: { count: 0, limit: 100 },
      },
    });
    expect(headers['cache-control']).toBe('private');
    expect(headers.etag).toBeUndefined();
  });

  test('counts requests by scope group and UTC date, ascending, those not yet written among them', async () => {
    const key = await app.key();
    const accountId = (await app.graphql('{ me { accountId } }', {}, { credential: key })).data.me.accountId;
    await app.get('/v2/symbols/SPY', { credential: key });
    await app.get('/v2/symbols', { credential: key });
    await app.get('/v2/stocks/SPY/bars?from=2026-11-19&to=2026-11-20', { credential: key });
    // Nothing has been written yet: the counts of this process are in the answer none the less.
    expect(await readUsage(app.store, accountId, '2026-01-01')).toEqual([]);
    const first = (await usage(key)).body.data;
    expect(first.by_day).toEqual([
      { date: '2026-11-20', scope_group: 'account', count: 1 },
      { date: '2026-11-20', scope_group: 'market.bars', count: 1 },
      { date: '2026-11-20', scope_group: 'market.reference', count: 2 },
    ]);
    app.clock.nowMs = Date.parse('2026-11-21T00:00Z');
    await app.get('/v2/symbols/SPY', { credential: key });
    const second = (await usage(key)).body.data;
    app.clock.nowMs = Date.parse('2026-11-20T17:00Z');
    expect(second.by_day).toEqual([
      { date: '2026-11-20', scope_group: 'account', count: 2 },
      { date: '2026-11-20', scope_group: 'market.bars', count: 1 },
      { date: '2026-11-20', scope_group: 'market.reference', count: 2 },
      { date: '2026-11-21', scope_group: 'market.reference', count: 1 },
    ]);
    expect(second.totals_by_scope_group).toEqual({ account: 2, 'market.bars': 1, 'market.reference': 3 });
  });

  test('looks back 30 UTC days, today among them', async () => {
    const key = await app.key();
    for (const date of ['2026-09-01', '2026-09-02', '2026-09-30']) {
      app.clock.nowMs = Date.parse(`${date}T12:00Z`);
      await app.get('/v2/symbols', { credential: key });
    }
    app.clock.nowMs = Date.parse('2026-10-01T12:00Z');
    const { body } = await usage(key);
    app.clock.nowMs = Date.parse('2026-11-20T17:00Z');
    expect(body.data.by_day.map((day: { date: string }) => day.date)).toEqual(['2026-09-02', '2026-09-30']);
  });

  test('counts refused requests too, but none of another account and none without a valid credential', async () => {
    const [key, other] = [await app.key(), await app.key()];
    await app.get('/v2/symbols/NONE', { credential: key });
    await app.get('/v2/stocks/SPY/bars', { credential: key });
    await app.get('/v2/symbols', { credential: other });
    await app.get('/v2/symbols', { credential: null });
    await app.get('/v2/symbols', { credential: 'nonsense' });
    expect((await usage(key)).body.data.totals_by_scope_group).toEqual({ 'market.bars': 1, 'market.reference': 1 });
  });

  test("tells the caller's own requests a minute: as the header says for a key, by the site tier for a session", async () => {
    const account = { siteTier: 'basic', apiTier: 'pro' } as const;
    const byKey = await usage(await app.key(account));
    expect(byKey.body.data.rate_limit.per_min).toBe(88);
    expect(byKey.headers['x-ratelimit-limit']).toBe('88');
    const bySession = await usage(await app.session(account));
    expect(bySession.body.data.rate_limit.per_min).toBe(77);
    expect(bySession.headers['x-ratelimit-limit']).toBe('77');
  });

  test.each([
    ['pro', 'non_professional', true],
    ['pro', 'professional', false],
    ['pro', null, false],
    ['basic', 'non_professional', false],
  ] as const)('says of a site tier %s, declared %s: flow %s', async (siteTier, classification, flow) => {
    for (const credential of [
      await app.key({ siteTier, apiTier: 'free', classification }),
      await app.session({ siteTier, apiTier: 'free', classification }),
    ]) {
      const { caps } = (await usage(credential)).body.meta;
      expect(caps.flow).toBe(flow);
      expect(caps).not.toHaveProperty('darkpool');
    }
  });

  test('is 401 without a credential, and for an expired one', async () => {
    const { status, body } = await app.get('/v2/account/usage', { credential: null });
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
    const expired = await app.access.sessions.create(await app.account(), 1000);
    app.clock.nowMs += 120_000;
    const late = await usage(expired);
    app.clock.nowMs -= 120_000;
    expect([late.status, late.body.error.code]).toEqual([401, 'unauthenticated']);
  });

  test('is 502 when the store fails, and tells nothing of why', async () => {
    const key = await app.key();
    await usage(key);
    const { read } = app.access.usage;
    app.access.usage.read = () => Promise.reject(new Error('the secret cause'));
    const { status, body } = await usage(key);
    app.access.usage.read = read;
    expect([status, body.error.code]).toEqual([502, 'internal']);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});

describe('usage in the graph', () => {
  const query =
    '{ me { accountId usage { trailingDays byDay { date scopeGroup count } totalsByScopeGroup rateLimit { perMin } quota { limit used resetsAt } } } }';

  test('says the same, and counts itself afterwards under account', async () => {
    const key = await app.key();
    const first = await app.graphql(query, {}, { credential: key });
    expect(first.errors).toBeUndefined();
    expect(first.data.me.usage).toEqual({
      trailingDays: 30,
      byDay: [],
      totalsByScopeGroup: {},
      rateLimit: { perMin: 88 },
      quota: null,
    });
    await app.graphql('{ a: symbol(symbol: "SPY") { name } b: registry { rows { symbol } } }', {}, { credential: key });
    const second = await app.graphql(query, {}, { credential: key });
    expect(second.data.me.usage.totalsByScopeGroup).toEqual({ account: 1, 'market.reference': 1 });
    expect((await usage(key)).body.data.by_day).toEqual([
      { date: '2026-11-20', scope_group: 'account', count: 2 },
      { date: '2026-11-20', scope_group: 'market.reference', count: 1 },
    ]);
  });
});
