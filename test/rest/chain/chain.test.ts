import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochDay } from '../../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [before, today, later] = ['2026-11-19', '2026-11-20', '2026-12-18'];
let app: TestApp;

const known = { openInterest: 0, volume: 7, bid: 1.5, ask: 1.6, last: 1.55, fmv: 1.54 };
const greeks = { iv: 0.1286, delta: -0.5, gamma: 0.0154, theta: -0.2, vega: 0.68 };
const rows = [
  chainRow({ root: 'SPXW', expiry: today, right: 'put', strike: 5_900_000, ...known, ...greeks }),
  chainRow({ root: 'SPX', expiry: later, right: 'call', strike: 6_000_000, sharesPerContract: 10 }),
  chainRow({ root: 'SPX', expiry: later, right: 'put', strike: 6_000_000, openInterest: 3 }),
];

beforeAll(async () => {
  app = await testApp({ nowMs });
  await saveCaptures(app.store, {
    chains: [
      chainCapture('SPX', newYork(before, '16:00'), rows.slice(1), { partial: true, spot: null }),
      chainCapture('SPX', newYork(today, '11:55'), rows),
      chainCapture('SPX', newYork(today, '12:05'), []),
    ],
  });
});
afterAll(() => app.close());

const chain = (query = '', symbol = 'SPX', sending = {}) => app.get(`/v2/chain/${symbol}?${query}`, sending);

describe('GET /v2/chain/{symbol}', () => {
  test('serves the latest chain; what the source did not give is absent from its rows, zero is not', async () => {
    const { status, body, headers } = await chain();
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        spot: 600.5,
        captured_at: newYork(today, '11:55'),
        partial: false,
        rows: [
          {
            contract: { underlying: 'SPXW', expiry: today, right: 'put', strike: 5_900_000 },
            oi: 0,
            volume: 7,
            bid: 1.5,
            ask: 1.6,
            last: 1.55,
            fmv: 1.54,
            ...greeks,
            shares_per_contract: 100,
          },
          {
            contract: { underlying: 'SPX', expiry: later, right: 'call', strike: 6_000_000 },
            shares_per_contract: 10,
          },
          {
            contract: { underlying: 'SPX', expiry: later, right: 'put', strike: 6_000_000 },
            oi: 3,
            shares_per_contract: 100,
          },
        ],
      },
      meta: {
        caps: { applied: [], tier: 'pro' },
        plane: 'live',
        underlying: 'SPX',
        row_count: 3,
        greeks_source: null,
        spot_stale: null,
        inconsistent_expiries: null,
        read_at_ms: app.clock.nowMs,
      },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('at, expiry and strikes choose; unknown facts of the capture are null', async () => {
    const past = await chain(`at=${before}`);
    expect(past.body.data).toMatchObject({ spot: null, partial: true, captured_at: newYork(before, '16:00') });
    expect(past.headers.etag).toBeDefined();
    const count = async (query: string) => (await chain(query)).body.meta.row_count;
    expect(await count(`expiry=${later}`)).toBe(2);
    expect(await count('strike_gte=5900001')).toBe(2);
    expect(await count('strike_lte=5900000')).toBe(1);
    expect(await count('strike_gte=5900000&strike_lte=6000000')).toBe(3);
    const none = await chain('', 'NOPE');
    expect(none.status).toBe(200);
    expect(none.body.data).toEqual({ spot: null, captured_at: null, partial: false, rows: [] });
  });

  test('shares per contract of an adjusted deliverable are absent', async () => {
    const contract = { root: 'XOM1', expiry: later, right: 'call', strike: 100_000 } as const;
    const adjusted = chainRow({ ...contract, sharesPerContract: null });
    await saveCaptures(app.store, { chains: [chainCapture('XOM', newYork(today, '11:55'), [adjusted])] });
    const { body } = await chain('', 'XOM');
    expect(body.data.rows).toEqual([
      { contract: { underlying: 'XOM1', expiry: later, right: 'call', strike: 100_000 } },
    ]);
    const { status } = await chain('', 'XOM', { headers: { accept: 'application/x-protobuf' } });
    expect(status).toBe(200);
  });

  test('protobuf names the roots of a chain that lists one contract under two of them', async () => {
    const { root } = protobuf.parse((await app.get('/v2/rest-protocol.proto')).bytes.toString());
    const type = root.lookupType('tapegraph.rest.v2.ChainResponse');
    const one = { expiry: later, right: 'call' as const, strike: 600_000 };
    const roots = [
      { ...one, root: 'XSP', bid: 1 },
      { ...one, root: 'XSPW', bid: 2 },
      { ...one, root: 'XSPW', bid: 3, strike: 610_000 },
    ];
    await saveCaptures(app.store, { chains: [chainCapture('XSP', newYork(today, '11:55'), roots.map(chainRow))] });
    const rowsOf = async (query: string) => {
      const { bytes } = await chain(query, 'XSP', { headers: { accept: 'application/x-protobuf' } });
      const rows: Json[] = type.toObject(type.decode(bytes), { longs: Number }).rows;
      return rows.map(({ strikeThousandths, bid, root: named }) => [strikeThousandths, bid, named]);
    };
    expect(await rowsOf('')).toEqual([
      [600_000, 1, 'XSP'],
      [600_000, 2, 'XSPW'],
      [610_000, 3, 'XSPW'],
    ]);
    expect(await rowsOf('strike_gte=610000')).toEqual([[610_000, 3, undefined]]);
  });

  test('protobuf says the same as JSON', async () => {
    const { root } = protobuf.parse((await app.get('/v2/rest-protocol.proto')).bytes.toString());
    const message = root.lookupType('tapegraph.rest.v2.ChainResponse');
    const { body } = await chain();
    const { bytes, headers } = await chain('', 'SPX', { headers: { accept: 'application/x-protobuf' } });
    expect(message.toObject(message.decode(bytes), { longs: Number })).toEqual({
      capturedAtMs: body.data.captured_at,
      spot: body.data.spot,
      // false and 0 are not on the wire: they are what a reader takes for granted.
      rows: body.data.rows.map(({ contract, shares_per_contract, ...measures }: Json) => ({
        expiryEpochDay: epochDay(contract.expiry),
        ...(contract.right === 'put' ? { right: 1 } : {}),
        strikeThousandths: contract.strike,
        ...measures,
        sharesPerContract: shares_per_contract,
      })),
    });
    expect(headers['x-itm-plane']).toBe('live');
    expect(JSON.parse(headers['x-itm-extra'] as string)).toEqual({
      underlying: 'SPX',
      row_count: 3,
      greeks_source: null,
      spot_stale: null,
      inconsistent_expiries: null,
      read_at_ms: app.clock.nowMs,
    });
  });

  test.each([
    ['at=noon', 'at'],
    ['tz=Nowhere', 'tz'],
    ['expiry=friday', 'expiry'],
    ['strike_gte=1.5', 'strike_gte'],
    ['strike_lte=x', 'strike_lte'],
  ])('400 names the parameter: ?%s', async (query, parameter) => {
    const { status, body } = await chain(query);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(new RegExp(`^${parameter}: `));
  });

  test('403 by the rule of every symbol, 503 without a source', async () => {
    const undeclared = await chain('', 'SPX', { credential: await app.key({ classification: null }) });
    expect([undeclared.status, undeclared.body.error.code]).toEqual([403, 'attestation_required']);
    const bare = await testApp({ nowMs, env: { SOURCES: 'bars' } });
    expect((await bare.get('/v2/chain/SPY')).status).toBe(503);
    await bare.close();
  });
});
