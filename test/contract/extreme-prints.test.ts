import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { type TestApp, testApp } from '../support/app.ts';

/*
 * Prints and quotes of whatever size and price the live tape takes: every figure that is made of them is a number or
 * null.
 */
const session = '2026-11-16';
const startMs = exchangeInstant(session, 570);
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: exchangeInstant(session, 960) });
});
afterAll(() => app?.close());

const oneOf = (...values: number[]) => fc.constantFrom(...values);
const price = fc.oneof(
  oneOf(0.0001, 0.01, 1, 600, 429_496, 1e6, 1e9, 1e12, Number.MAX_SAFE_INTEGER),
  fc.double({ min: 1e-4, max: 1e6, noNaN: true }),
);
const size = fc.oneof(
  oneOf(0, 1e-6, 0.5, 1, 100, 2 ** 31 - 1, 2 ** 31, 1e10, 1e15, Number.MAX_SAFE_INTEGER),
  fc.nat(1e6),
);
const stock = fc.record({
  type: fc.constant('stock_print'),
  symbol: fc.constant('AAPL'),
  exchange: oneOf(4, 11),
  trf_id: oneOf(0, 202),
  price,
  size,
  conditions: fc.constantFrom([], [2], [10], [12], [37], [53]),
  correction: oneOf(0, 0, 0, 1),
});
const contract = fc.constantFrom('O:AAPL261116C00200000', 'O:AAPL261218P00200000', 'O:AAPL270115C99999999');
const option = fc.record({
  type: fc.constant('option_print'),
  contract,
  exchange: oneOf(302, 312),
  price,
  size,
  conditions: fc.constantFrom([], [209], [219], [232]),
});
const quote = fc.record({
  type: fc.constant('option_quote'),
  contract,
  bid_price: fc.oneof(oneOf(0), price),
  ask_price: fc.oneof(oneOf(0), price),
});
const index = fc.record({ type: fc.constant('index_value'), symbol: fc.constant('SPX'), value: price });
const chain = fc.constant({
  type: 'chain',
  underlying: 'AAPL',
  spot: 200,
  rows: [{ contract: 'O:AAPL261218P00200000', open_interest: 100, bid: 5, ask: 5.1 }],
});

let number = 0;
let nowMs = startMs;

test('have figures that are numbers or null at every endpoint', { timeout: 120_000 }, async () => {
  const lines = fc.array(fc.oneof(stock, stock, option, option, quote, index, chain), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(lines, async (given) => {
      const texts = given.map((line) => {
        nowMs += 7001;
        number++;
        const at = line.type === 'chain' ? { captured_at_ms: nowMs } : { sip_timestamp: `${nowMs}000000` };
        return JSON.stringify({ ...line, ...at, id: String(number), sequence_number: number });
      });
      app.clock.nowMs = nowMs + 1000;
      await follow(app.store, Readable.from([Buffer.from(`${texts.join('\n')}\n`)]), {
        source: 'tape',
        fromStart: false,
        everyMs: 0,
        now: () => app.clock.nowMs,
        stop: new AbortController().signal,
        gammaSource: 'solve' as const,
        rate: 0.045,
        onBadLine: () => {},
      });
      for (const path of [
        ...['1s', '1m', '5m', '1h', '1d'].map(
          (timeframe) => `/v2/stocks/AAPL/bars?from=${session}&to=2026-11-17&timeframe=${timeframe}`,
        ),
        `/v2/stocks/SPX/bars?from=${session}&to=2026-11-17&timeframe=1m`,
        '/v2/quotes?symbols=AAPL,SPX',
        '/v2/symbols/AAPL/spot',
        '/v2/screener/movers',
        '/v2/flow/AAPL/cross-section',
        '/v2/flow/large-trades?symbol=AAPL',
        '/v2/options/O%3AAAPL261218P00200000/bars',
        '/v2/options/O%3AAAPL261218P00200000/greeks',
        '/v2/chain/AAPL',
        '/v2/gex/AAPL/grid',
      ]) {
        const { status, bytes } = await app.get(path);
        expect([path, status, status >= 500 ? bytes.toString() : '']).toEqual([path, expect.toBeOneOf([200, 404]), '']);
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 25), endOnFailure: true },
  );
});
