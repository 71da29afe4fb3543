import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CrossSection } from '../../../src/core/domain/flow/flow.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { saveCrossSections } from '../../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../../src/store/flow/sessions.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { coverage, measures } from '../../support/flow.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const path = (symbol: string) => `/v2/flow/${symbol}/cross-section`;
let app: TestApp;

async function store(section: CrossSection): Promise<void> {
  await inTransaction(app.store, async (tx) => {
    await saveCoverages(tx, new Map([[section.symbol, section.coverage]]));
    await saveCrossSections(tx, [section]);
  });
}

function section(symbol: string, session: string, minute: number, seq: number, base: number): CrossSection {
  return {
    symbol,
    seq,
    coverage: coverage(session, minute),
    // Given in disorder: served ascending.
    byStrike: [
      { strikeThousandths: 610_500, measures: measures(base + 20) },
      { strikeThousandths: 600_000, measures: measures(base) },
    ],
    byExpiration: [
      { expiry: '2027-01-15', measures: measures(base + 40) },
      { expiry: '2026-11-20', measures: measures(base + 60) },
    ],
  };
}

beforeAll(async () => {
  app = await testApp({ nowMs });
  await store({
    ...section('SPY', '2026-11-19', 960, 900, 5000),
    coverage: coverage('2026-11-19', 960, { status: 'eod_reconciled', complete: true }),
  });
  await store(section('SPY', '2026-11-20', 719, 17, 3_000_000_000));
  await store(section('AAPL', '2026-11-19', 960, 5, 10));
  // Observed beyond the server's clock.
  await store(section('AAPL', '2026-11-20', 721, 6, 20));
});
afterEach(() => {
  app.clock.nowMs = nowMs;
});
afterAll(() => app.close());

const wire = (base: number) => ({
  call_volume: base,
  put_volume: base + 1,
  call_premium_usd: base + 0.25,
  put_premium_usd: base + 0.5,
  call_trade_count: base + 2,
  put_trade_count: base + 3,
});

describe('GET /v2/flow/{symbol}/cross-section', () => {
  test('gives the rows by strike, or by expiration, as a table', async () => {
    const firstOf = async (table: string) => {
      const { bytes } = await app.get(`${path('SPY')}?session=2026-11-19&table=${table}`, {
        headers: { accept: 'text/csv' },
      });
      return String(bytes)
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(',')[0]);
    };
    expect(await firstOf('by_strike')).toEqual(['strike_thousandths', '600000', '610500']);
    expect(await firstOf('by_expiration')).toEqual(['expiry', '2026-11-20', '2027-01-15']);
  });

  test('gives the snapshot of a session key for key, strikes and expirations ascending', async () => {
    const { status, body, headers } = await app.get(`${path('spy')}?session=2026-11-19`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: {
        snapshot: {
          symbol: 'SPY',
          seq: 900,
          coverage: {
            status: 'eod_reconciled',
            complete: true,
            session_date: '2026-11-19',
            observed_from_ms: exchangeInstant('2026-11-19', 570),
            observed_through_ms: exchangeInstant('2026-11-19', 960),
            registry_version: 1,
            standard_multiplier_assumed: true,
          },
          update: {
            kind: 'cross_section_session',
            by_strike: [
              { strike_thousandths: 600_000, measures: wire(5000) },
              { strike_thousandths: 610_500, measures: wire(5020) },
            ],
            by_expiration: [
              { expiry: '2026-11-20', measures: wire(5060) },
              { expiry: '2027-01-15', measures: wire(5040) },
            ],
          },
        },
      },
      meta: { caps: { applied: [], tier: 'pro' }, symbol: 'SPY', retention: 'stored_session', plane: 'archive' },
    });
    expect(headers.etag).toBeDefined();
  });

  test('a snapshot written again replaces the one before', async () => {
    await store(section('MSFT', '2026-11-20', 600, 1, 10));
    await store(section('MSFT', '2026-11-20', 601, 2, 30));
    const { body } = await app.get(path('MSFT'));
    expect(body.data.snapshot).toMatchObject({ seq: 2, update: { by_strike: [{ measures: wire(30) }, {}] } });
  });

  test('nothing observed: a null snapshot and a note, nothing estimated', async () => {
    const { status, body } = await app.get(path('NVDA'));
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: { snapshot: null },
      meta: {
        caps: { applied: [], tier: 'pro' },
        symbol: 'NVDA',
        retention: 'intraday_24h',
        note: 'No option trades of NVDA were observed.',
        plane: 'live',
        read_at_ms: app.clock.nowMs,
      },
    });
    const other = await app.get(`${path('SPY')}?session=2026-11-18`);
    expect(other.body).toMatchObject({ data: { snapshot: null }, meta: { plane: 'archive' } });
    expect(other.body.meta.note).toContain('2026-11-18');
  });

  test('a snapshot observed beyond the clock is passed over', async () => {
    expect((await app.get(path('AAPL'))).body.data.snapshot.coverage.session_date).toBe('2026-11-19');
    app.clock.nowMs = nowMs + 60_000;
    expect((await app.get(path('AAPL'))).body.data.snapshot.coverage.session_date).toBe('2026-11-20');
  });

  test.each([
    [`${path('S!Y')}`, 'symbol'],
    [`${path('SPY')}?session=yesterday`, 'session'],
    [`${path('SPY')}?session=2026-11-19&session=2026-11-20`, 'session'],
  ])('400: %s names the parameter', async (url, parameter) => {
    const { status, body } = await app.get(url);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_params', details: { parameter } });
  });

  test('401 without a credential', async () => {
    const { status, body } = await app.get(path('SPY'), { credential: null });
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
  });

  test.each([
    ['basic', 'non_professional', 'not_entitled_tier'],
    ['basic', null, 'not_entitled_tier'],
    ['pro', null, 'attestation_required'],
  ] as const)('403: tier %s, declared %s: %s, before the symbol is looked up', async (tier, classification, code) => {
    const credential = await app.key({ apiTier: tier, classification });
    for (const symbol of ['SPY', 'NOPE']) {
      const { status, body } = await app.get(path(symbol), { credential });
      expect([status, body.error.code]).toEqual([403, code]);
    }
  });

  test.each(['NOPE', 'ZZZ'])('404: %s is not in the registry', async (symbol) => {
    const { status, body } = await app.get(path(symbol));
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });
});

describe('the graph', () => {
  test('Symbol.flow.crossSection gives the same, and errs at its path', async () => {
    const query =
      '{ symbol(symbol: "SPY") { symbol flow { crossSection { snapshot { seq update { byStrike { strikeThousandths measures { callVolume } } } } meta { note } } } } }';
    const { data, errors } = await app.graphql(query);
    expect(errors).toBeUndefined();
    expect(data.symbol.flow.crossSection).toMatchObject({ snapshot: { seq: 17 }, meta: { note: null } });
    // Beyond 32 bits, to the last contract.
    expect(data.symbol.flow.crossSection.snapshot.update.byStrike[0].measures.callVolume).toBe(3_000_000_000);
    const refused = await app.graphql(query, {}, { credential: await app.key({ classification: null }) });
    expect(refused.data).toEqual({ symbol: { symbol: 'SPY', flow: { crossSection: null } } });
    expect(refused.errors).toMatchObject([
      { path: ['symbol', 'flow', 'crossSection'], extensions: { code: 'attestation_required' } },
    ]);
  });
});
