import { afterAll, beforeAll, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { flatBar } from '../support/market.ts';
import { statementsOf, withoutCommits } from '../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York, of a session that the store already holds whole: the case with the most to
// read.
const nowMs = Date.parse('2026-11-20T17:00Z');
const sizes = [1, 10, 200];
let app: TestApp;

/** Symbols of a size of their own, so that each size is read with nothing cached: `S10X0`… in sector `of 10`. */
function symbolsOf(size: number): string[] {
  return Array.from(
    { length: size },
    (_, i) => `S${size}`.padEnd(4, 'X') + String(i % 100).padStart(2, '0') + (i < 100 ? '' : '.B'),
  );
}

beforeAll(async () => {
  const entries = sizes.flatMap((size) =>
    symbolsOf(size).map((symbol) => ({ ...testSymbols[0]!, symbol, sector: `of ${size}` })),
  );
  app = await testApp({ nowMs, symbols: entries });
  const days = toBarColumns(
    ['2026-11-18', '2026-11-19', '2026-11-20'].map((date, i) => flatBar(exchangeInstant(date), 100 + i)),
  );
  const minutes = toBarColumns(
    [570, 600, 800].map((minute, i) => flatBar(exchangeInstant('2026-11-20', minute), 50 + i)),
  );
  await inTransaction(app.store, async (tx) => {
    await writeBars(
      tx,
      '1d',
      entries.map(({ symbol }) => ({ symbol, bars: days })),
    );
    await writeBars(
      tx,
      '1m',
      entries.map(({ symbol }) => ({ symbol, bars: minutes })),
    );
  });
  // The caller and the registry are known from here on.
  await app.graphql('{ symbol(symbol: "S1XX00") { name } }');
});
afterAll(() => app.close());

const nested = `query Nested($sector: String!) { symbols(first: 200, sector: $sector) { nodes {
  symbol name sector access { allowed } quote { spot officialClose node { spot { ts } } } spot { price } } } }`;

test('a nested query over 1, 10 and 200 symbols takes the same number of SQL statements, cold and warm', async () => {
  const counts: { cold: number; warm: number }[] = [];
  for (const size of sizes) {
    const ask = async () => {
      const { data, errors } = await app.graphql(nested, { sector: `of ${size}` });
      expect(errors).toBeUndefined();
      expect(data.symbols.nodes).toHaveLength(size);
      for (const node of data.symbols.nodes)
        expect(node).toMatchObject({
          access: { allowed: true },
          quote: { spot: 51, officialClose: 101 },
          spot: { price: 51 },
        });
    };
    const count = async () => withoutCommits(await statementsOf(ask)).length;
    counts.push({ cold: await count(), warm: await count() });
  }
  expect(counts[1]).toEqual(counts[0]);
  expect(counts[2]).toEqual(counts[0]);
  // Days, minutes, seconds without a bar, what of them is not cached, live quotes: more would read the same again.
  expect(counts[0]!.cold).toBeGreaterThan(0);
  expect(counts[0]!.cold).toBeLessThanOrEqual(7);
  expect(counts[0]!.warm).toBeLessThan(counts[0]!.cold);
});

test('quotes of 1, 10 and 180 symbols take the same number over REST', async () => {
  const counts: number[] = [];
  for (const size of sizes) {
    const list = symbolsOf(size).slice(0, 180).join(',');
    const statements = await statementsOf(async () => {
      const { body } = await app.get(`/v2/quotes?symbols=${list}`);
      expect(body.data.at(-1)).toMatchObject({ spot: 51 });
    });
    counts.push(withoutCommits(statements).length);
  }
  expect(new Set(counts).size, `${counts}`).toBe(1);
});
