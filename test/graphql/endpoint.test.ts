import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { flatBar } from '../support/market.ts';
import { statementsOf } from '../support/statements.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  const bars = Array.from({ length: 30 }, (_, i) => ({
    tsMs: exchangeInstant('2026-11-19', 570 + i),
    open: 1,
    high: 2,
    low: 1,
    close: 2 + i / 7,
    volume: i,
    vwap: null,
    tradeCount: null,
  }));
  await inTransaction(app.store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(bars) }]));
});
afterAll(() => app.close());

const bars = `query Bars($symbol: Ticker!, $from: PointInTime!, $limit: Int) {
  symbol(symbol: $symbol) { symbol bars(from: $from, to: "2026-11-20", limit: $limit) { rows { tsMs close vwap } columns { close } meta { rowCount cursor caps { applied tier } } } }
}`;

describe('/graphql', () => {
  test('answers a document that comes again as it did the first time, though compiled by then', async () => {
    const variables = { symbol: 'spy', from: '2026-11-19', limit: 7 };
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push((await app.graphql(bars, variables)).data);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0].symbol.bars.rows).toHaveLength(7);
    expect((await app.graphql(bars, { ...variables, limit: null })).data.symbol.bars.rows).toHaveLength(30);
    expect((await app.graphql(bars, { symbol: 'spy', from: '2026-11-19' })).data.symbol.bars.rows).toHaveLength(30);
  });

  test('an error of a compiled document has its path and code', async () => {
    for (let i = 0; i < 4; i++) {
      const { data, errors } = await app.graphql(bars, { symbol: 'QQQQ', from: '2026-11-19', limit: 5 });
      expect(data).toEqual({ symbol: { symbol: 'QQQQ', bars: null } });
      expect(errors).toEqual([
        expect.objectContaining({ path: ['symbol', 'bars'], extensions: { code: 'not_found' } }),
      ]);
    }
  });

  test('introspection needs no credential, and a bad one is ignored', async () => {
    for (const credential of [null, 'garbage']) {
      const { data } = await app.graphql('{ __schema { queryType { name } } }', {}, { credential });
      expect(data.__schema.queryType.name).toBe('Query');
    }
  });

  test('everything else needs one: 401, with the code of the contract', async () => {
    for (const [credential, code] of [
      [null, 'unauthenticated'],
      ['garbage', 'unauthenticated'],
      ['tg_live_aaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaa', 'unauthenticated'],
    ] as const) {
      const { errors, answer } = await app.graphql('{ symbol(symbol: "SPY") { symbol } }', {}, { credential });
      expect([answer.status, errors?.[0].extensions.code]).toEqual([401, code]);
      expect(answer.headers['x-request-id']).toBeDefined();
    }
  });

  test('an expired token is token_expired', async () => {
    const token = await app.access.sessions.create(await app.account(), 1000);
    app.clock.nowMs += 3_600_000;
    const { errors, answer } = await app.graphql('{ symbol(symbol: "SPY") { symbol } }', {}, { credential: token });
    app.clock.nowMs -= 3_600_000;
    expect([answer.status, errors?.[0].extensions.code]).toEqual([401, 'token_expired']);
  });

  test.each([
    ['a syntax error', '{ symbol(', {}],
    ['an unknown field', '{ symbol(symbol: "SPY") { colour } }', {}],
    ['a bad ticker', '{ symbol(symbol: "not a ticker") { symbol } }', {}],
    ['a bad variable', bars, { symbol: 'SPY', from: 'yesterday' }],
    ['a missing variable', bars, { symbol: 'SPY' }],
  ])('%s is invalid_params', async (_what, query, variables) => {
    const { errors } = await app.graphql(query, variables);
    expect(errors?.[0].extensions.code).toBe('invalid_params');
  });

  test('a browser gets GraphiQL, whole: nothing in it is loaded from elsewhere', async () => {
    const { status, headers, bytes } = await app.send('GET', '/graphql', {
      credential: null,
      headers: { Accept: 'text/html' },
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/text\/html/);
    const html = bytes.toString();
    expect(html).toContain('GraphiQL');
    expect(html).toContain('API key');
    expect(html).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/);
  });

  test('GraphiQL opens with the operation that its address holds, and nothing in the address becomes markup', async () => {
    const query = '{ __typename } # </script><script>alert(1)</script><!--';
    const { bytes } = await app.send('GET', `/graphql?${new URLSearchParams({ query, variables: '{"a":"<b>"}' })}`, {
      credential: null,
      headers: { Accept: 'text/html' },
    });
    const html = bytes.toString();
    expect(html).not.toContain('<script>alert');
    const options = /id="graphiql-options">([^<]+)</.exec(html)![1]!;
    expect(JSON.parse(options).defaultTabs).toEqual([{ query, variables: '{"a":"<b>"}' }]);
  });

  test('mutations over GET are refused', async () => {
    const answer = await app.send('GET', `/graphql?query=${encodeURIComponent('mutation { __typename }')}`);
    expect(answer.status).toBe(405);
  });

  describe('an answer of market data', () => {
    const query =
      '{ symbol(symbol: "SPY") { bars(from: "2026-11-19", to: "2026-11-20", limit: 3) { rows { close } } } }';

    test('that comes back is given again within its second, and not after', async () => {
      // A bar that comes due within the second.
      const { nowMs } = app.clock;
      const due = flatBar(nowMs + 500, 5);
      await inTransaction(app.store, (tx) => writeBars(tx, '1m', [{ symbol: 'AAPL', bars: toBarColumns([due]) }]));
      const text = `{ symbol(symbol: "AAPL") { bars(from: "2026-11-20", to: "2026-11-21") { rows { close } } } }`;
      const rows = async () => (await app.graphql(text)).data.symbol.bars.rows;
      expect([await rows(), await rows(), await rows()]).toEqual([[], [], []]);
      app.clock.nowMs = nowMs + 999;
      expect(await rows()).toEqual([]);
      expect(await statementsOf(rows)).toEqual([]);
      app.clock.nowMs = nowMs + 1000;
      expect(await rows()).toEqual([{ close: 5 }]);
      app.clock.nowMs = nowMs;
    });

    test('is each caller’s own where rights differ, and never holds an account’s', async () => {
      const nvda = query.replace('SPY', 'NVDA');
      expect((await app.graphql(nvda)).errors).toBeUndefined();
      const free = await app.graphql(nvda, {}, { credential: await app.key({ apiTier: 'free' }) });
      expect(free.errors?.[0].extensions.code).toBe('not_entitled_tier');
      const mine = '{ me { accountId } symbol(symbol: "SPY") { quote { symbol } } }';
      const ids = [];
      for (let i = 0; i < 2; i++)
        ids.push((await app.graphql(mine, {}, { credential: await app.key() })).data.me.accountId);
      expect(new Set(ids).size).toBe(2);
    });

    test('counts as in flight: a third at once has its bars refused, at their path', async () => {
      const key = await app.key();
      await app.graphql(query, {}, { credential: key });
      let answers: { errors?: { path: string[]; extensions: { code: string } }[] }[] = [];
      for (let round = 0; round < 2; round++) {
        answers = await Promise.all(Array.from({ length: 8 }, () => app.graphql(query, {}, { credential: key })));
      }
      const refused = answers.filter((answer) => answer.errors);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThan(8);
      expect(refused[0]!.errors![0]).toMatchObject({ path: ['symbol', 'bars'], extensions: { code: 'rate_limited' } });
    });
  });
});
