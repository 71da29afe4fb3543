import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const brkb = {
  symbol: 'BRK.B',
  name: 'BRK.B Inc.',
  class: 'equity',
  chain_policy: { window_days: 60, tenor_frame: 'weekly' },
  min_tier: 'free',
  requires_attestation: false,
};

describe('GET /v2/symbols/{symbol}', () => {
  test('gives the registry entry, key for key', async () => {
    const { status, body, headers } = await app.get('/v2/symbols/SPX');
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: { ...brkb, symbol: 'SPX', name: 'SPX Inc.', class: 'index', min_tier: 'pro', requires_attestation: true },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'registry', read_at_ms: app.clock.nowMs },
    });
    expect(headers['cache-control']).toBe('private');
  });

  test.each(['BRK.B', 'brk.b', 'Brk.B', 'BRK%2EB'])('finds %s in any case and percent-encoding', async (written) => {
    expect((await app.get(`/v2/symbols/${written}`)).body.data).toStrictEqual(brkb);
  });

  test('any credential reads the entry of a symbol whose data it may not read', async () => {
    const credential = await app.key({ apiTier: 'free', classification: null });
    const { status, body } = await app.get('/v2/symbols/SPX', { credential });
    expect(status).toBe(200);
    expect(body.meta.caps.tier).toBe('free');
  });

  test.each([
    ['an unknown ticker', 'QQQQ'],
    ['a real ticker outside the registry', 'ZZZ'],
    ['what is no ticker', 'not-a-ticker!'],
    ['NUL', 'SPY%00'],
    ['what is not UTF-8', '%FF'],
    ['half a percent-encoding', 'SPY%2'],
  ])('answers 404 for %s', async (_what, written) => {
    const { status, body } = await app.get(`/v2/symbols/${written}`);
    expect(status).toBe(404);
    expect(body.error.code).toBe('not_found');
  });

  test('answers 401 without a credential', async () => {
    const { status, body } = await app.get('/v2/symbols/SPY', { credential: null });
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
  });
});

describe('Symbol in the graph', () => {
  const facts = `{ symbol(symbol: "xsp") { symbol registered name class sector minTier requiresAttestation
    chainPolicy { windowDays tenorFrame } access { allowed reason requiredTier } } }`;

  test('has the facts of the registry and what the caller may read', async () => {
    const { data, errors } = await app.graphql(facts);
    expect(errors).toBeUndefined();
    expect(data.symbol).toEqual({
      symbol: 'XSP',
      registered: true,
      name: 'XSP Inc.',
      class: 'index',
      sector: null,
      minTier: 'free',
      requiresAttestation: true,
      chainPolicy: { windowDays: 60, tenorFrame: 'weekly' },
      access: { allowed: true, reason: null, requiredTier: null },
    });
  });

  test('access says what is lacking, the tier first', async () => {
    const query =
      '{ nvda: symbol(symbol: "NVDA") { access { allowed reason requiredTier } } xsp: symbol(symbol: "XSP") { access { allowed reason requiredTier } } }';
    const credential = await app.key({ apiTier: 'basic', classification: 'professional' });
    const { data } = await app.graphql(query, {}, { credential });
    expect(data.nvda.access).toEqual({ allowed: false, reason: 'not_entitled_tier', requiredTier: 'pro' });
    expect(data.xsp.access).toEqual({ allowed: false, reason: 'attestation_required', requiredTier: null });
  });

  test('a real ticker outside the registry has a name and access; its registry facts are errors at their paths', async () => {
    const { data, errors } = await app.graphql(
      '{ symbol(symbol: "ZZZ") { registered name minTier chainPolicy { windowDays } access { allowed } } }',
    );
    expect(data.symbol).toEqual({
      registered: false,
      name: 'ZZZ Inc.',
      minTier: null,
      chainPolicy: null,
      access: { allowed: true },
    });
    expect(errors!.map(({ path, extensions }) => [path.join('.'), extensions.code])).toEqual([
      ['symbol.minTier', 'not_found'],
      ['symbol.chainPolicy', 'not_found'],
    ]);
  });

  test('a string that is no ticker anywhere is only not registered', async () => {
    const { data, errors } = await app.graphql('{ symbol(symbol: "QQQQ") { registered name } }');
    expect(data.symbol).toEqual({ registered: false, name: null });
    expect(errors).toMatchObject([{ path: ['symbol', 'name'], extensions: { code: 'not_found' } }]);
  });
});
