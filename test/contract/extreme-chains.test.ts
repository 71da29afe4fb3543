import { Readable } from 'node:stream';
import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { schema } from '../../src/schema/index.ts';
import { type TestApp, testApp } from '../support/app.ts';

/*
 * Chains that hold whatever the live tape takes: prices from 0 to the largest, greeks of any size, expiries of the day
 * itself and of decades ahead. Every figure computed from them is a number or null.
 */
const session = '2026-11-16';
const openMs = exchangeInstant(session, 570);
let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await testApp({ nowMs: exchangeInstant(session, 1000) });
  key = await app.key();
});
afterAll(() => app?.close());

/** Values of required arguments; fields that require others are omitted. */
const given: Readonly<Record<string, string>> = { time: '"TIME"', date: `"${session}"` };

/** A field of a type with all below it, `depth` levels of objects deep; null if nothing of it can be selected. */
function selected({ name, type, args }: GraphQLField<unknown, unknown>, depth: number): string | null {
  const required = args.filter(isRequiredArgument);
  if (required.some((each) => given[each.name] === undefined)) return null;
  const written = required.map((each) => `${each.name}: ${given[each.name]}`).join(', ');
  const head = written === '' ? name : `${name}(${written})`;
  const named = getNamedType(type);
  if (isLeafType(named)) return head;
  if (!isObjectType(named) || depth === 0 || named.name === 'Symbol' || named.name === 'OptionContract') return null;
  const below = Object.values(named.getFields()).flatMap((field) => selected(field, depth - 1) ?? []);
  return below.length === 0 ? null : `${head} { ${below.join(' ')} }`;
}

/** A document for each field of a type that a symbol has under `edge`. */
const documentsOf = (edge: string, type: string) =>
  Object.values((schema.getType(type) as GraphQLObjectType).getFields())
    .flatMap((field) => selected(field, 3) ?? [])
    .map((field) => `{ symbol(symbol: "AAPL") { ${edge} { ${field} } } }`);

const extremes = (...values: number[]) => fc.constantFrom(...values);
const price = fc.oneof(
  extremes(0, 1e-4, 0.01, 1, 100, 600, 1e6, 429_496),
  fc.double({ min: 0, max: 1e6, noNaN: true }),
  fc.constant(null),
);
const greek = fc.oneof(
  extremes(0, -0, 1, -1, 1e-300, -1e-300, 1e308, -1e308, 0.5, 10),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
);
const count = fc.oneof(extremes(0, 1, 2 ** 31 - 1, 2 ** 31, 0.5), fc.nat(100_000), fc.constant(null));
const row = fc.record({
  expiry: fc.constantFrom('261116', '261117', '261218', '270115', '461221', '991218'),
  right: fc.constantFrom('C', 'P'),
  strike: fc.constantFrom(1, 500, 90_000, 100_000, 110_000, 600_000, 99_999_999),
  open_interest: count,
  volume: count,
  bid: price,
  ask: price,
  last: price,
  fmv: price,
  iv: greek,
  delta: greek,
  gamma: greek,
  theta: greek,
  vega: greek,
});
const chains = fc.record({
  spot: fc.oneof(extremes(1e-300, 1e-4, 0.01, 100, 600, 1e6, 1e9, 1e308, -1), fc.constant(null)),
  prior: fc.oneof(extremes(1e-300, 1e-4, 100, 1e9, 1e308, -1), fc.constant(null)),
  gammaSource: fc.constantFrom('solve' as const, 'vendor' as const),
  rows: fc.uniqueArray(row, {
    minLength: 1,
    maxLength: 24,
    selector: ({ expiry, right, strike }) => `${expiry} ${right} ${strike}`,
  }),
});

let minute = 0;

async function take({ spot, prior, gammaSource, rows }: typeof chains extends fc.Arbitrary<infer T> ? T : never) {
  const tsMs = openMs + ++minute * 60_000;
  const line = {
    type: 'chain',
    underlying: 'AAPL',
    captured_at_ms: tsMs,
    spot,
    prior_close_spot: prior,
    rows: rows.map(({ expiry, right, strike, ...figures }) => ({
      contract: `O:AAPL${expiry}${right}${String(strike).padStart(8, '0')}`,
      ...figures,
    })),
  };
  await follow(app.store, Readable.from([Buffer.from(`${JSON.stringify(line)}\n`)]), {
    source: 'tape',
    fromStart: false,
    everyMs: 0,
    now: () => tsMs + 1000,
    stop: new AbortController().signal,
    gammaSource,
    rate: 0.045,
    onBadLine: () => {},
  });
  app.clock.nowMs = tsMs + 2000;
  return tsMs;
}

test('have figures that are numbers or null at every endpoint', { timeout: 120_000 }, async () => {
  const documents = [
    ...documentsOf('gex', 'SymbolGex'),
    ...documentsOf('volatility', 'SymbolVolatility'),
    ...documentsOf('chain', 'Chain'),
  ];
  await fc.assert(
    fc.asyncProperty(chains, async (chain) => {
      const tsMs = await take(chain);
      for (const path of [
        `/v2/chain/AAPL?at=${tsMs}`,
        `/v2/chain/AAPL/expirations`,
        `/v2/gex/AAPL/grid?at=${tsMs}&by_expiry=true`,
        `/v2/gex/AAPL/grid`,
        `/v2/gex/AAPL/history?date=${session}`,
        `/v2/gex/AAPL/reference`,
        `/v2/gex/AAPL/change?from=${tsMs - 60_000}&to=${tsMs}`,
        `/v2/options/AAPL/vol/term?at=${tsMs}`,
        `/v2/options/AAPL/vol/surface?at=${tsMs}`,
        '/v2/quotes?symbols=AAPL',
      ]) {
        const { status, bytes } = await app.get(path);
        expect([path, status, status === 500 ? bytes.toString() : '']).toEqual([
          path,
          expect.toBeOneOf([200, 404]),
          '',
        ]);
      }
      for (const query of documents) {
        const { errors = [] } = await app.graphql(query.replace('TIME', String(tsMs)), {}, { credential: key });
        const failed = errors.filter(({ extensions }) => extensions.code !== 'not_found');
        expect([query, failed]).toEqual([query, []]);
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 25), endOnFailure: true },
  );
});
