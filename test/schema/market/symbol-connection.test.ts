import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { saveSymbols } from '../../../src/store/market/symbols.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../../support/app.ts';

let app: TestApp;
const all = ['AAPL', 'BRK.B', 'MSFT', 'NVDA', 'SPX', 'SPY', 'XOM', 'XSP'];

beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const query = `query Page($first: Int!, $after: String, $class: SymbolClass, $sector: String, $search: String) {
  symbols(first: $first, after: $after, class: $class, sector: $sector, search: $search) {
    totalCount nodes { symbol } edges { cursor node { symbol } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } }`;

async function page(variables: Record<string, unknown>): Promise<Json> {
  const { data, errors } = await app.graphql(query, { first: 100, ...variables });
  if (errors) throw Object.assign(new Error(errors[0].message), errors[0]);
  return data.symbols;
}
const tickers = ({ nodes }: Json): string[] => nodes.map((node: { symbol: string }) => node.symbol);

describe('symbols', () => {
  test('is the registry, ascending', async () => {
    const first = await page({});
    expect(tickers(first)).toEqual(all);
    expect(first.edges.map((edge: Json) => edge.node.symbol)).toEqual(all);
    expect(first.totalCount).toBe(8);
    expect(first.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
  });

  test.each([1, 2, 3, 7, 8])('pages of %i put together are the whole', async (first) => {
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const next: Json = await page({ first, after });
      expect(next.totalCount).toBe(8);
      expect(next.pageInfo.hasPreviousPage).toBe(after !== null);
      expect(next.pageInfo.endCursor).toBe(next.edges.at(-1).cursor);
      expect(next.pageInfo.startCursor).toBe(next.edges[0].cursor);
      seen.push(...tickers(next));
      after = next.pageInfo.endCursor;
      more = next.pageInfo.hasNextPage;
    }
    expect(seen).toEqual(all);
  });

  test.each([
    [{ class: 'index' }, ['SPX', 'XSP']],
    [{ sector: 'technology' }, ['AAPL', 'MSFT', 'NVDA']],
    [{ sector: 'other' }, ['BRK.B', 'SPX', 'XSP']],
    [{ sector: 'other', class: 'equity' }, ['BRK.B']],
    [{ search: 'sp' }, ['SPX', 'SPY', 'XSP']],
    [{ search: 'inc.' }, all],
    [{ search: 'nothing' }, []],
  ])('%o finds its symbols', async (filter, expected) => {
    const found = await page(filter);
    expect(tickers(found)).toEqual(expected);
    expect(found.totalCount).toBe(expected.length);
  });

  test('a search lists its own ticker first, then tickers that begin with it, then words of names, then parts, in every page', async () => {
    const named = [
      ['A', 'Nova'],
      ['AA', 'Not V'],
      ['V', 'Visa'],
      ['VA', 'A company'],
      ['ZZ', 'Not v either'],
    ].map(([symbol, name]) => ({ ...testSymbols[0]!, symbol: symbol!, name: name! }));
    const own = await testApp({ symbols: named });
    onTestFinished(() => own.close());
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const { data }: Json = await own.graphql(query, { first: 1, after, search: 'V' });
      seen.push(...tickers(data.symbols));
      ({ endCursor: after, hasNextPage: more } = data.symbols.pageInfo);
    }
    expect(seen).toEqual(['V', 'VA', 'AA', 'ZZ', 'A']);
  });

  test('a search goes on behind a symbol whose name has changed', async () => {
    const named = (name: string) => ({ ...testSymbols[0]!, symbol: 'B', name });
    const own = await testApp({
      symbols: [named('Vale'), { ...named('Vodafone'), symbol: 'C' }, { ...named('Nova'), symbol: 'A' }],
    });
    onTestFinished(() => own.close());
    const first: Json = (await own.graphql(query, { first: 1, search: 'v' })).data.symbols;
    expect(tickers(first)).toEqual(['B']);
    await inTransaction(own.store, (tx) => saveSymbols(tx, [named('None')]));
    const { data } = await own.graphql(query, { first: 2, after: first.pageInfo.endCursor, search: 'v' });
    expect(tickers(data.symbols)).toEqual(['C', 'A']);
  });

  test('an empty page has no cursors', async () => {
    const { pageInfo } = await page({ search: 'nothing' });
    expect(pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null });
  });

  test.each([
    ['zero', { first: 0 }, /^first: /],
    ['a made-up cursor', { after: 'AAPL' }, /^after: /],
  ])('%s is refused by name', async (_what, variables, message) => {
    await expect(page(variables)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      extensions: { code: 'invalid_params' },
    });
  });

  test('a cursor of other filters is refused', async () => {
    const { pageInfo } = await page({ first: 1, class: 'index' });
    await expect(page({ after: pageInfo.endCursor })).rejects.toThrow(/^after: /);
    await expect(page({ after: pageInfo.endCursor, class: 'index' })).resolves.toMatchObject({ totalCount: 2 });
  });

  test('a symbol that enters the registry meanwhile neither repeats nor hides others', async () => {
    const { pageInfo } = await page({ first: 3 });
    await inTransaction(app.store, (tx) => saveSymbols(tx, [{ ...testSymbols[0]!, symbol: 'AAA' }]));
    const next = await page({ after: pageInfo.endCursor });
    expect(next.totalCount).toBe(9);
    expect(tickers(next)).toEqual(all.slice(3));
  });

  test('a page is at most 500 symbols, and says that there are more', async () => {
    const many = Array.from({ length: 501 }, (_, i) => ({ ...testSymbols[0]!, symbol: `Q${i}` }));
    await inTransaction(app.store, (tx) => saveSymbols(tx, many));
    const clamped = await page({ first: 10_000, search: 'q' });
    expect(clamped.totalCount).toBe(501);
    expect(clamped.nodes).toHaveLength(500);
    expect(clamped.pageInfo.hasNextPage).toBe(true);
  });
});
