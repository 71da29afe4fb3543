import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { graphTransports } from '../support/graph-transports.ts';
import { times } from './attack-documents.ts';

const rates = { RATE_FREE: '60', RATE_PRO: '600' };
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: rates });
  const bars = Array.from({ length: 380 }, (_, i) => ({
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

const nine = 'tsMs open high low close volume vwap tradeCount symbol';
const bars = (args: string, fields = nine) =>
  `{ symbol(symbol: "SPY") { bars(from: "2026-11-19", to: "2026-11-21"${args}) { rows { ${fields} } } } }`;

async function costOf(query: string, variables: Record<string, unknown> = {}, credential?: string) {
  const { errors, extensions } = await app.graphql(query, variables, credential ? { credential } : {});
  expect(errors).toBeUndefined();
  return extensions.cost;
}

describe('extensions.cost', () => {
  test('says in points what was asked and what it took, and in the minute what is left', async () => {
    const credential = await app.key({ apiTier: 'free' });
    const { extensions, answer } = await app.graphql(bars(', limit: 1000'), {}, { credential });
    const { requests, requested, actual, limit, remaining } = extensions.cost;
    expect(requests).toBe(1);
    // A page of 1,000 bars is about ten points; there are 380.
    expect(requested).toBeGreaterThanOrEqual(10);
    expect(requested).toBeLessThanOrEqual(13);
    expect(actual).toBeLessThan(0.6 * requested);
    expect({ limit, remaining }).toEqual({ limit: 600, remaining: 590 });
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' });
  });

  test('what was asked too much is given back before the headers are sent', async () => {
    const credential = await app.session({ siteTier: 'free' });
    const query = `{ symbol(symbol: "SPY") { ${times(3, (i) => `a${i}: bars(from: "2026-11-01", to: "2026-11-21") { rows { ${nine} } }`)} } }`;
    const { extensions, answer } = await app.graphql(query, {}, { credential });
    const { requests, requested, actual, remaining } = extensions.cost;
    expect(requested).toBeGreaterThan(200);
    expect(actual).toBeLessThan(60);
    expect(requests).toBe(Math.ceil(actual / 10));
    expect(remaining).toBe(600 - 10 * requests);
    expect(answer.headers['x-ratelimit-remaining']).toBe(String(60 - requests));
    // The next request finds as much.
    const next = await app.graphql('{ symbol(symbol: "SPY") { symbol } }', {}, { credential });
    expect(next.answer.headers['x-ratelimit-remaining']).toBe(String(60 - requests - 1));
  });

  test('what was asked too little is taken', async () => {
    // As many registered symbols as a watchlist can have.
    const many = Array.from({ length: 500 }, (_, i) => `W${i}`);
    const own = await testApp({ env: rates, symbols: many.map((symbol) => ({ ...testSymbols[0]!, symbol })) });
    onTestFinished(() => own.close());
    const credential = await own.session({ siteTier: 'free' });
    const put = `mutation Put($symbols: [Ticker!]!) { putWatchlist(id: "long", name: "long", symbols: $symbols) { watchlist { id } } }`;
    const { errors, extensions } = await own.graphql(put, { symbols: many }, { credential });
    expect(errors).toBeUndefined();
    const before = extensions.cost.requests;
    const query = `{ watchlists(first: 1) { rows { ${times(60, (i) => `a${i}: tickers`)} } } }`;
    const { cost } = (await own.graphql(query, {}, { credential })).extensions;
    expect(cost.actual).toBeGreaterThan(cost.requested);
    expect(cost.requests).toBe(Math.ceil(cost.actual / 10));
    expect(cost.remaining).toBe(600 - 10 * (cost.requests + before));
  });

  test('each value counts, each name of it again, and each row', async () => {
    const rows = async (limit: number, fields: string) =>
      (await costOf(bars(`, limit: ${limit}`, fields))).actual -
      (await costOf(bars(`, limit: ${limit}`, 'close'))).actual;
    const named = (count: number) => times(count, (i) => `a${i}: close`);
    const [ten, twenty] = [await rows(380, named(10)), await rows(380, named(20))];
    expect(twenty).toBeGreaterThanOrEqual(2 * ten - 1);
    expect(await rows(190, named(20))).toBeLessThanOrEqual(twenty / 2 + 1);
  });

  test('each instant pays for the chain that its volatilities decode and solve', async () => {
    const firstMs = exchangeInstant('2026-11-19', 600);
    const instants = (field: string) =>
      `{ ${times(20, (i) => `a${i}: asOf(at: "${firstMs + i}") { symbol(symbol: "SPY") { symbol ${field} } }`)} }`;
    const [{ requested }, alone] = [await costOf(instants('volatility { term { spot } }')), await costOf(instants(''))];
    // A page of bars is ten: decoding and solving a chain takes the CPU of one.
    expect((requested - alone.requested) / 20).toBeGreaterThan(4.5);
  });

  test('data as it was known costs twice: nothing that is cached of live data serves it', async () => {
    const knownMs = Date.parse('2026-11-20T15:00Z');
    const field = 'symbol(symbol: "SPY") { sessions(last: 1) { sessionDate } }';
    const requested = async (text: string) => (await costOf(text)).requested;
    const read = async (args: string) =>
      (await requested(`{ asOf${args} { ${field} } }`)) - (await requested(`{ asOf${args} { __typename } }`));
    expect(await read(`(known: "${knownMs}")`)).toBeGreaterThan(1.6 * (await read('')));
  });

  test('a variable counts as the literal would, and a default as what it stands for', async () => {
    const query = `query Q($limit: Int = 300, $fields: Boolean = true) { symbol(symbol: "SPY") {
      bars(from: "2026-11-19", to: "2026-11-21", limit: $limit) { rows { tsMs ... @include(if: $fields) { open high low close } } } } }`;
    const literal = (limit: number) => query.replace('$limit)', `${limit})`).replace('$limit: Int = 300, ', '');
    const requested = async (text: string, variables = {}) => (await costOf(text, variables)).requested;
    expect(await requested(query, { limit: 900 })).toBe(await requested(literal(900)));
    expect(await requested(query)).toBe(await requested(literal(300)));
    expect(await requested(query, { limit: 900 })).toBeGreaterThan(2 * (await requested(query)) - 5);
    expect(await requested(query, { limit: 900, fields: false })).toBeLessThan(await requested(query, { limit: 900 }));
  });

  test('what the caller’s kind is not given it does not pay for', async () => {
    const query =
      '{ symbol(symbol: "SPY") { bars(from: "2026-11-01", to: "2026-11-21", limit: 50000) { rows { close } } } }';
    const [byKey, bySession] = [await app.key(), await app.session()];
    const key = await costOf(query, {}, byKey);
    expect((await costOf(query, {}, bySession)).requested).toBeGreaterThan(8 * key.requested);
    const page = query.replace('50000', '1000');
    expect(key.requested).toBe((await costOf(page, {}, byKey)).requested);
  });

  test('an answer from the cache shows its own caller’s minute, and costs what it did', async () => {
    const [one, other] = [await app.key(), await app.key()];
    const query = bars(', limit: 100');
    for (let i = 0; i < 3; i++) await costOf(query, {}, one);
    const seen = await costOf(query, {}, one);
    expect(seen.remaining).toBe(6000 - 40);
    expect(await costOf(query, {}, other)).toEqual({ ...seen, remaining: 6000 - 10 });
  });

  test('a list that was short lately is expected to be about as short', async () => {
    const query = '{ registry { rows { symbol name sector minTier class } } }';
    const first = await costOf(query);
    const second = await costOf(query);
    expect(second.requested).toBeLessThan(first.requested);
    expect(second.requested).toBeGreaterThanOrEqual(second.actual);
  });

  test('a document that costs more than the tier’s whole minute is 400 with what it costs, and is charged 1', async () => {
    const query = `{ ${times(6, (i) => `a${i}: symbol(symbol: "SPY") { chain { rows { openInterest volume bid ask last iv } } }`)} }`;
    const credential = await app.key({ apiTier: 'free' });
    for (const left of [59, 58]) {
      const { answer, errors } = await app.graphql(query, {}, { credential });
      expect({ status: answer.status, code: errors![0].extensions.code }).toEqual({
        status: 400,
        code: 'invalid_params',
      });
      expect(errors![0].message).toMatch(/^The request costs \d+ requests; the limit is 60 per minute\./);
      expect(answer.headers['x-ratelimit-remaining']).toBe(String(left));
    }
    expect((await app.graphql(query)).answer.status).toBe(200);
  });

  test('a document that fits the minute, but not what is left of it, is 429', async () => {
    const credential = await app.key({ apiTier: 'free' });
    for (let i = 0; i < 59; i++) await app.get('/v2/symbols', { credential });
    const { answer, errors } = await app.graphql(
      bars(
        ', limit: 1000',
        times(30, (i) => `a${i}: close`),
      ),
      {},
      { credential },
    );
    expect({ status: answer.status, code: errors![0].extensions.code }).toEqual({ status: 429, code: 'rate_limited' });
    expect(answer.headers['x-ratelimit-remaining']).toBe('1');
  });

  test('a query over a WebSocket has its data and its cost, from the cache too', async () => {
    const credential = await app.key();
    const query = bars(', limit: 2', 'close');
    for (let i = 0; i < 3; i++) {
      const { text } = await graphTransports['graphql-transport-ws']!(app, credential, { query, variables: '{}' });
      const { payload } = JSON.parse(text);
      expect(payload.data.symbol.bars.rows).toHaveLength(2);
      expect(payload.extensions.cost).toMatchObject({ requests: 1, limit: 6000 });
    }
  });
});
