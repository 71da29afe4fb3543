import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { encodeId } from '../../src/schema/node-id.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { filledContract, filledNowMs, fillMarket } from '../support/filled-market.ts';
import {
  type ArgumentValues,
  changed,
  documentOf,
  type Greed,
  greedyDocuments,
  pathsById,
} from '../support/greedy-documents.ts';

// A page of 1,000 bars is what one request buys. No document may buy three times as much, whatever it multiplies.
const most = 3;

// Dearest document that the search changes further: one ten times as large buys ten times as much for ten times as
// many requests.
const mostRequests = 20;

const ids = Object.fromEntries(
  Object.entries({
    ...Object.fromEntries(['Symbol', 'SymbolGex', 'SymbolFlow', 'SymbolVolatility'].map((type) => [type, 'SPX'])),
    ...Object.fromEntries(['SymbolOffExchange', 'Quote', 'Spot', 'VolatilitySurface'].map((type) => [type, 'SPY'])),
    GexCapture: `SPX:${Date.parse('2026-11-30T20:55Z')}:expiry:all`,
    OptionContract: filledContract('SPY'),
    Watchlist: 'long',
  }).map(([type, key]) => [type, `"${encodeId(type, key)}"`]),
);
const idsOf = (argument: string, written: (id: string) => string[]) =>
  Object.entries(ids).map(([type, id]): [string, string[]] => [`${argument}.${type}`, written(id)]);

const values: ArgumentValues = {
  ...Object.fromEntries([
    ...idsOf('node.id', (id) => [id]),
    ...idsOf('nodes.ids', (id) => [`[${id}]`, `[${`${id} `.repeat(100)}]`]),
    ...idsOf('refetch.nodeId', (id) => [id]),
  ]),
  'node.id': [ids.Symbol!],
  'nodes.ids': [`[${ids.Symbol}]`],
  'refetch.nodeId': [ids.Watchlist!],
  symbol: ['"SPY"', '"SPX"', '"AAPL"'],
  symbols: ['["SPY"]', `[${'"SPY" "SPX" "AAPL" "MSFT" '.repeat(45)}]`],
  'contract.id': [`"${filledContract('SPY')}"`],
  'watchlist.id': ['"long"'],
  'history.from': [],
  'history.to': [],
  OptionTimeframe: ['"1m"', '"5m"'],
  q: ['"SPY"'],
  plane: ['live'],
  from: ['"2026-11-25"', '"2020-01-01"'],
  to: ['"2026-12-02"'],
  date: ['"2026-11-30"'],
  session: ['"2026-11-30"'],
  time: ['"2026-11-30"'],
  timeframe: ['"1m"', '"1d"', '"5m"'],
  minPremiumUsd: ['0'],
};

let app: TestApp;
let credential: string;
beforeAll(async () => {
  app = await testApp({ nowMs: filledNowMs });
  await fillMarket(app.store);
  credential = await app.session();
  const put = `mutation Put($symbols: [Ticker!]!) { putWatchlist(id: "long", name: "long", symbols: $symbols) { meta { plane } } }`;
  const symbols = Array.from({ length: 500 }, (_, i) => ['SPY', 'SPX', 'AAPL', 'MSFT'][i % 4]);
  expect((await app.graphql(put, { symbols }, { credential })).errors).toBeUndefined();
});
afterAll(() => app.close());

function leavesOf(data: Json): number {
  if (data === null || typeof data !== 'object') return 1;
  return Object.values(data).reduce((sum: number, value) => sum + leavesOf(value), 0);
}

interface Bought {
  document: string;
  requests: number;
  leaves: number;
  bytes: number;
}

/** Work that a document's answer does per request charged; null if it is rejected. */
async function bought(document: string): Promise<Bought | null> {
  if (document.length > documentLimits.characters) return null;
  const { data, extensions, answer } = await app.graphql(document, {}, { credential });
  if (!data) {
    expect([400, 200]).toContain(answer.status);
    return null;
  }
  const { requests } = extensions.cost;
  return { document, requests, leaves: leavesOf(data) / requests, bytes: answer.bytes.length / requests };
}

const page = `{ symbol(symbol: "SPY") { bars(from: "2026-11-25", to: "2026-12-02", limit: 1000) {
  rows { tsMs open high low close volume vwap tradeCount symbol } meta { rowCount cursor plane caps { tier applied } } } } }`;

test('no document buys three times the values, or the bytes, of a page of 1,000 bars for a request', async () => {
  const ofPage = (await bought(page))!;
  expect(ofPage.leaves).toBeGreaterThan(9000);
  const seed = Number(process.env.SEARCH_SEED ?? 20261120);
  const count = Number(process.env.SEARCH_COUNT ?? 80);
  const found: (Bought & { greeds: readonly Greed[] })[] = [];
  const ask = async (greeds: readonly Greed[]) => {
    const answer = await bought(documentOf(greeds, values));
    if (answer) found.push({ ...answer, greeds });
    return answer === null || (answer.leaves <= most * ofPage.leaves && answer.bytes <= most * ofPage.bytes);
  };
  // As many more as it takes until enough were answered: what a limit refuses buys nothing.
  for (let more = 0; more < 4 && found.length <= count / 3; more++)
    await fc.assert(fc.asyncProperty(greedyDocuments, ask), { seed: seed + more, numRuns: count });
  expect(found.length).toBeGreaterThan(count / 3);
  // From the greediest, one change after the other: what buys more is what is changed next.
  const others = fc.sample(greedyDocuments, { seed, numRuns: count }).flat();
  for (const by of ['leaves', 'bytes'] as const) {
    for (let round = 0; round < count / 2; round++) {
      const best = found.filter(({ requests }) => requests <= mostRequests).sort((a, b) => b[by] - a[by])[round % 5]!;
      expect(await ask(changed(best.greeds, others[round % others.length]!, round)), best.document).toBe(true);
    }
  }
  for (const by of ['leaves', 'bytes'] as const) {
    const [worst] = found.sort((a, b) => b[by] - a[by]);
    const ratio = worst![by] / ofPage[by];
    if (process.env.SEARCH_SEED) console.log(by, ratio.toFixed(2), worst!.document.slice(0, 600));
    expect(ratio).toBeLessThan(most);
  }
}, 240_000);

test('nor one that begins at ids', async () => {
  const ofPage = (await bought(page))!;
  const seed = Number(process.env.SEARCH_SEED ?? 20261120);
  const count = Number(process.env.SEARCH_COUNT ?? 80);
  let answered = 0;
  const ask = async (greeds: readonly Greed[]) => {
    const answer = await bought(documentOf(greeds, values, pathsById));
    if (answer) answered += 1;
    return answer === null || (answer.leaves <= most * ofPage.leaves && answer.bytes <= most * ofPage.bytes);
  };
  await fc.assert(fc.asyncProperty(greedyDocuments, ask), { seed, numRuns: count });
  expect(answered).toBeGreaterThan(count / 8);
}, 240_000);
