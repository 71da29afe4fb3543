import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

describe('GET /v2/symbols', () => {
  test('lists the registry ascending, without tickers that are only in the directory', async () => {
    const { status, body } = await app.get('/v2/symbols');
    expect(status).toBe(200);
    expect(body.data.map((row: { symbol: string }) => row.symbol)).toEqual([
      'AAPL',
      'BRK.B',
      'MSFT',
      'NVDA',
      'SPX',
      'SPY',
      'XOM',
      'XSP',
    ]);
    expect(body.data[2]).toStrictEqual({
      symbol: 'MSFT',
      name: 'MSFT Inc.',
      class: 'equity',
      chain_policy: { window_days: 60, tenor_frame: 'weekly' },
      min_tier: 'basic',
      requires_attestation: false,
    });
    expect(body.meta).toStrictEqual({
      caps: { applied: [], tier: 'pro' },
      count: 8,
      plane: 'registry',
      read_at_ms: app.clock.nowMs,
    });
  });

  test('a class narrows it and is echoed', async () => {
    const { body } = await app.get('/v2/symbols?class=index');
    expect(body.data.map((row: { symbol: string }) => row.symbol)).toEqual(['SPX', 'XSP']);
    expect(body.meta).toMatchObject({ count: 2, class: 'index' });
  });

  test.each(['bond', 'Index', 'equity,index'])('answers 400 for class=%s, naming it', async (written) => {
    const { status, body } = await app.get(`/v2/symbols?class=${written}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(/^class: .*equity, index/);
  });

  test('answers 401 without a credential', async () => {
    expect((await app.get('/v2/symbols', { credential: null })).status).toBe(401);
  });
});

describe('GET /v2/symbols/lookup', () => {
  const apple = {
    valid: true,
    symbol: 'AAPL',
    name: 'AAPL Inc.',
    class: 'equity',
    instrument_type: 'common_equity',
    instrument_type_source: 'registry',
    instrument_type_as_of: null,
  };

  test('knows a registered symbol in any case', async () => {
    const { status, body } = await app.get('/v2/symbols/lookup?q=aapl');
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: apple,
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'registry', read_at_ms: app.clock.nowMs },
    });
  });

  test('knows a ticker of the directory', async () => {
    const { body } = await app.get('/v2/symbols/lookup?q=ZZZ');
    expect(body.data).toMatchObject({ valid: true, name: 'ZZZ Inc.', instrument_type_source: 'directory' });
  });

  test.each([
    ['an unknown ticker', 'qqqq', 'QQQQ'],
    ['what is no ticker', 'apple%20inc', 'APPLE INC'],
  ])('says of %s that it is not valid', async (_what, written, symbol) => {
    const { status, body } = await app.get(`/v2/symbols/lookup?q=${written}`);
    expect(status).toBe(200);
    expect(body.data).toStrictEqual({
      valid: false,
      symbol,
      name: null,
      class: null,
      instrument_type: 'unknown',
      instrument_type_source: null,
      instrument_type_as_of: null,
    });
  });

  test.each([
    ['is missing', ''],
    ['is empty', '?q='],
    ['is sent twice', '?q=SPY&q=QQQ'],
    ['is too long', `?q=${'A'.repeat(41)}`],
  ])('answers 400 naming q when it %s', async (_what, query) => {
    const { status, body } = await app.get(`/v2/symbols/lookup${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_params']);
    expect(body.error.message).toMatch(/^q: /);
  });

  test('the graph gives the same', async () => {
    const { data } = await app.graphql(
      '{ lookup(q: " aapl ") { valid symbol name class instrument_type: instrumentType instrument_type_source: instrumentTypeSource instrument_type_as_of: instrumentTypeAsOf } }',
    );
    expect(data.lookup).toEqual(apple);
    const { errors } = await app.graphql('{ lookup(q: " ") { valid } }');
    expect(errors).toMatchObject([{ message: expect.stringMatching(/^q: /), extensions: { code: 'invalid_params' } }]);
  });
});
