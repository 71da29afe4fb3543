import { afterAll, beforeAll, expect, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { saveOptionBars } from '../../src/store/chain/option-bars.ts';
import { saveCrossSections } from '../../src/store/flow/cross-sections.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../support/app.ts';
import {
  coverage,
  largeTrade,
  leg,
  measures,
  rankedList,
  storeLargeTrades,
  storeRankedLists,
} from '../support/flow.ts';
import { saveSolves } from '../support/greeks.ts';
import { flatBar } from '../support/market.ts';
import { storeOffExchange } from '../support/off-exchange.ts';
import { statementsOf, withoutCommits } from '../support/statements.ts';

// Friday 2026-11-20, 17:00 in New York.
const nowMs = Date.parse('2026-11-20T22:00Z');
const sizes = [1, 10, 200];
const session = '2026-11-20';
let app: TestApp;

/** Symbols of a size of their own: `S10X00`… in sector `of 10`. Their roots are the symbols without the dot. */
function symbolsOf(size: number): string[] {
  return Array.from({ length: size }, (_, i) => `${'ABC'[sizes.indexOf(size)]}${String(i).padStart(4, '0')}`);
}

beforeAll(async () => {
  const entries = sizes.flatMap((size) =>
    symbolsOf(size).map((symbol) => ({ ...testSymbols[0]!, symbol, sector: `of ${size}` })),
  );
  app = await testApp({ nowMs, symbols: entries });
  const covered = coverage(session, 960);
  const legs = entries.map(({ symbol }) => leg(`O:${symbol}261218C00100000`, exchangeInstant(session, 600)));
  await storeLargeTrades(
    app.store,
    legs.map((one) => largeTrade([one], 1, covered)),
  );
  await storeRankedLists(
    app.store,
    legs.map((one) => rankedList(one.contract.root, 'free', session, [one])),
  );
  await inTransaction(app.store, async (tx) => {
    const sample = { tsMs: exchangeInstant(session, 600), iv: 0.2, delta: 0.5, gamma: 0.01, mark: 2 };
    for (const { symbol } of entries) {
      const contract = `O:${symbol}261218C00100000`;
      const byStrike = [{ strikeThousandths: 100_000, measures: measures(1) }];
      await saveCrossSections(tx, [{ symbol, seq: 1, coverage: covered, byStrike, byExpiration: [] }]);
      await saveSolves(tx, symbol, { [contract]: [{ ...sample, markSource: 'mid', bid: null, ask: null }] });
    }
    await saveOptionBars(
      tx,
      'eod_reconciled',
      entries.map(({ symbol }) => ({
        underlying: symbol,
        contract: `O:${symbol}261218C00100000`,
        sessionDate: session,
        bars: toBarColumns([flatBar(exchangeInstant(session, 600), 2)]),
      })),
    );
  });
  const day = { categories: ['regular_way'], buckets: 1, levels: 1 };
  for (const { symbol } of entries) await storeOffExchange(app.store, symbol, { '2026-11-19': day });
  // The caller and the registry are known from here on.
  await app.graphql('{ symbol(symbol: "A0000") { name } }');
});
afterAll(() => app.close());

const edges = {
  'flow, down to the greeks and bars of its contracts': `flow {
    largeTrades(limit: 1) { events { update { event { legs { contract { greeks { latest { mark } series { mark } meta { note } } bars(limit: 10) { columns { close } } } } } } } }
    crossSection { snapshot { seq } }
    eod(session: "${session}") { prints { contract { id } } } }`,
  'off-exchange': `offExchange { activity { rows { date } } composition { rows { date } }
    concentration { rows { date } } profile { rows { date } meta { suppressedCount } } }`,
};

test.each(Object.entries(edges))(
  '%s: 1, 10 and 200 symbols take the same number of SQL statements',
  async (name, edge) => {
    const counts: number[] = [];
    for (const size of sizes) {
      const statements = await statementsOf(async () => {
        const { data, errors } = await app.graphql(
          `query Q($sector: String!) { symbols(first: 200, sector: $sector) { nodes { ${edge} } } }`,
          { sector: `of ${size}` },
        );
        expect(errors).toBeUndefined();
        expect(data.symbols.nodes).toHaveLength(size);
        for (const node of data.symbols.nodes) expect(leaves(node)).not.toContain(undefined);
        expect(leaves(data.symbols.nodes).length).toBeGreaterThan(4 * size - 1);
      });
      counts.push(withoutCommits(statements).length);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[2]).toBe(counts[0]);
    // Events and legs, kept solves, series and bars of their contracts, twice their captures, snapshot, list and
    // prints; what is stored and four tables.
    expect(counts[0]).toBe(name === 'off-exchange' ? 5 : 10);
  },
);

/** Every value at the bottom of an answer. */
function leaves(value: Json): Json[] {
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(leaves) : [value];
}
