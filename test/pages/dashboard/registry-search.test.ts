import { expect, test, vi } from 'vitest';
import { RegistrySearch } from '../../../src/pages/dashboard/client/data/dashboard-controller.ts';
import type { Ask } from '../../../src/pages/dashboard/client/data/graph-client.ts';
import { registryQuery } from '../../../src/pages/dashboard/client/data/operations.ts';

const registry = [
  { symbol: 'AAPL', name: 'Apple Inc.' },
  { symbol: 'SPX', name: 'S&P 500 Index' },
  { symbol: 'SPY', name: 'SPDR S&P 500 ETF Trust' },
];
const { signal } = new AbortController();

/** A graph that answers with the registry, or with its first page alone. */
const graph = (hasNextPage: boolean) =>
  vi.fn(async (query: string) => ({
    data: { symbols: { nodes: query === registryQuery ? registry : [registry[1]], pageInfo: { hasNextPage } } },
    errors: [],
  }));
const searchOf = (asked: ReturnType<typeof graph>) => new RegistrySearch(asked as unknown as Ask);
const tickers = (found: readonly { symbol: string }[]) => found.map(({ symbol }) => symbol);

test('the registry is asked for once, however much is typed', async () => {
  const asked = graph(false);
  const search = searchOf(asked);
  const [first, second] = await Promise.all([search.find('sp', signal), search.find('spy', signal)]);
  expect([tickers(first), tickers(second)]).toEqual([['SPX', 'SPY'], ['SPY']]);
  expect(tickers(await search.find(' apple', signal))).toEqual(['AAPL']);
  expect(asked).toHaveBeenCalledTimes(1);
});

test('the ticker that was typed comes first, then those that begin with it, then words of names, then parts of them', async () => {
  const nodes = [
    { symbol: 'AA', name: 'Roma Media' },
    { symbol: 'AAA', name: 'Fund of MA' },
    { symbol: 'AB', name: 'Roma Plc' },
    { symbol: 'MA', name: 'Mastercard' },
    { symbol: 'MAA', name: 'An apartment company' },
    { symbol: 'V', name: 'Visa, not MA' },
  ].toReversed();
  const asked = vi.fn(async () => ({ data: { symbols: { nodes, pageInfo: { hasNextPage: false } } }, errors: [] }));
  expect(tickers(await searchOf(asked as never).find('ma', signal))).toEqual(['MA', 'MAA', 'V', 'AAA', 'AB', 'AA']);
});

test('of a registry that is larger than an answer, the server finds what is typed', async () => {
  const asked = graph(true);
  const search = searchOf(asked);
  expect(tickers(await search.find('spx', signal))).toEqual(['SPX']);
  await search.find('spx', signal);
  expect(asked).toHaveBeenCalledTimes(3);
});

test('a registry that could not be had is asked for again, and under another key', async () => {
  const asked = graph(false);
  asked.mockRejectedValueOnce(new Error('away'));
  const search = searchOf(asked);
  await expect(search.find('spy', signal)).rejects.toThrow('away');
  expect(tickers(await search.find('spy', signal))).toEqual(['SPY']);
  search.forget();
  await search.find('spy', signal);
  expect(asked).toHaveBeenCalledTimes(3);
});

test('who stops waiting leaves the question to the others', async () => {
  const asked = graph(false);
  const search = searchOf(asked);
  const stop = new AbortController();
  const stopped = search.find('s', stop.signal);
  const other = search.find('spy', signal);
  stop.abort(new Error('typed on'));
  await expect(stopped).rejects.toThrow('typed on');
  expect(tickers(await other)).toEqual(['SPY']);
});
