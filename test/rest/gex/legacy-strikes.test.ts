import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-18';
let app: TestApp;

const rows = [
  { strike: 600_000, expiry: session, gex: 5, callOi: 1, putOi: null },
  { strike: 600_000, expiry: '2026-12-18', gex: -2, deltaAdj: null, callOi: 0, putOi: 7 },
];

beforeAll(async () => {
  app = await testApp({ nowMs });
  await saveCaptures(app.store, {
    gex: [
      gexCapture('SPY', newYork(session, '15:55'), [{ strike: 1_000, expiry: session, gex: 1 }]),
      gexCapture('SPY', newYork(session, '16:00'), rows),
      // A daily roll-up: net rows only.
      gexCapture('AAPL', newYork(session, '16:00'), rows, { byExpiry: [] }),
      gexCapture('XOM', newYork(session, '16:00'), rows.slice(1), { byExpiry: [] }),
      gexCapture('SPY', newYork('2026-11-20', '12:30'), rows),
      gexCapture('SPX', newYork(session, '16:00'), rows),
    ],
  });
});
afterAll(() => app.close());

const strikes = (symbol: string, query = `date=${session}`, sending = {}) =>
  app.get(`/gex/${symbol}/strikes?${query}`, sending);

describe('GET /gex/{underlying}/strikes', () => {
  test('lists the rows of the last capture of the session by strike and expiry where it holds them', async () => {
    const { status, body } = await strikes('spy');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        { strike: 600_000, expiry: session, gex: 5, delta_adj_gex: 2.5, call_oi: 1, put_oi: null },
        { strike: 600_000, expiry: '2026-12-18', gex: -2, delta_adj_gex: null, call_oi: 0, put_oi: 7 },
      ],
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'archive',
        underlying: 'SPY',
        date: session,
        captured_at_ms: newYork(session, '16:00'),
        row_count: 2,
      },
    });
  });

  test('else net rows, without expiry and with the 0DTE part, null when unknown', async () => {
    expect((await strikes('AAPL')).body.data).toEqual([
      { strike: 600_000, gex: 3, delta_adj_gex: 2.5, call_oi: 1, put_oi: 7, gex_0dte: 5 },
    ]);
    expect((await strikes('XOM')).body.data).toEqual([
      { strike: 600_000, gex: -2, delta_adj_gex: null, call_oi: 0, put_oi: 7, gex_0dte: null },
    ]);
  });

  test('says that it is deprecated, until when, and what replaces it; source is ignored', async () => {
    const { status, headers } = await strikes('BRK.B', `date=${session}&source=anything`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d{10}$/),
      sunset: 'Thu, 31 Dec 2026 23:59:59 GMT',
      link: '</v2/gex/BRK.B/grid>; rel="successor-version"',
      'cache-control': 'private',
      etag: expect.any(String),
    });
  });

  test('a session without a capture, or a symbol nobody covers, has no rows; today is live and ends at the clock', async () => {
    const none = await strikes('NOPE');
    expect(none.body).toMatchObject({ data: [], meta: { underlying: 'NOPE', captured_at_ms: null, row_count: 0 } });
    const today = await strikes('SPY', 'date=2026-11-20');
    expect(today.body).toMatchObject({ data: [], meta: { plane: 'live', captured_at_ms: null } });
    expect(today.headers['cache-control']).toBe('no-store');
  });

  test.each([
    ['', 'date'],
    ['date=', 'date'],
    ['date=yesterday', 'date'],
  ])('400 names the parameter: ?%s', async (query, parameter) => {
    const { status, body } = await strikes('SPY', query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(`${parameter}: `);
  });

  test('401 and 403 by the rules of every route, token_expired included; a malformed underlying is 400', async () => {
    expect((await strikes('SPY', undefined, { credential: null })).body.error.code).toBe('unauthenticated');
    const token = await app.session();
    app.clock.nowMs += 2 * 3_600_000;
    expect((await strikes('SPY', undefined, { credential: token })).body.error.code).toBe('token_expired');
    app.clock.nowMs = nowMs;
    const low = await strikes('SPX', undefined, { credential: await app.key({ apiTier: 'free' }) });
    expect([low.status, low.body.error.code]).toEqual([403, 'not_entitled_tier']);
    const undeclared = await strikes('SPX', undefined, { credential: await app.key({ classification: null }) });
    expect([undeclared.status, undeclared.body.error.code]).toEqual([403, 'attestation_required']);
    expect((await strikes('A_B')).body.error.message).toMatch(/^underlying: /);
  });

  test('after the sunset instant it is gone', async () => {
    app.clock.nowMs = Date.parse('2026-12-31T23:59:59Z');
    expect((await strikes('SPY')).status).toBe(200);
    app.clock.nowMs = Date.parse('2027-01-01T00:00:00Z');
    const { status, body } = await strikes('SPY');
    expect([status, body.error.code]).toEqual([410, 'not_found']);
    expect(body.error.message).toContain('/v2/gex/{symbol}/grid');
    app.clock.nowMs = nowMs;
  });

  test('from then on the reference, the changelog and OpenAPI say that it has ended, and its answer what replaces it', async () => {
    const text = async (path: string) => {
      const { bytes } = await app.get(path, { credential: null, headers: { accept: 'text/html, */*;q=0.5' } });
      return bytes.toString();
    };
    const section = async () =>
      /<section class="route" id="legacy-strikes".*?<\/section>/s.exec(await text('/docs'))![0];
    const operation = async () => JSON.parse(await text('/v2/openapi.json')).paths['/gex/{underlying}/strikes'].get;
    expect(await section()).toContain('Available until 2026-12-31');
    expect(await section()).toContain('data-try="legacy-strikes"');
    expect((await operation()).responses).toHaveProperty('200');
    app.clock.nowMs = Date.parse('2027-01-15T15:00:00Z');
    expect(await section()).toContain('Ended on 2026-12-31: it returns 410');
    expect(await section()).not.toMatch(/data-try|<pre/);
    expect(await text('/docs/changelog')).toContain('was served until 2026-12-31');
    const { description, deprecated, responses } = await operation();
    expect(description).toBe('Ended on 2026-12-31: returns 410. Use /v2/gex/{symbol}/grid instead.');
    expect([deprecated, '200' in responses, '410' in responses]).toEqual([true, false, true]);
    expect((await strikes('SPY')).headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d{10}$/),
      sunset: 'Thu, 31 Dec 2026 23:59:59 GMT',
      link: '</v2/gex/SPY/grid>; rel="successor-version"',
    });
    app.clock.nowMs = nowMs;
  });
});
