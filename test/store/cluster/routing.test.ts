import type pg from 'pg';
import { expect, test } from 'vitest';
import { divisible, oneNode, Routing } from '../../../src/store/cluster/routing.ts';

interface Values {
  symbols: readonly string[];
  dates: readonly string[];
  from: number;
}

const text = `SELECT w.nth FROM (SELECT unnest($1::text[]) AS symbol, unnest($2::text[]) AS date) AS w
  JOIN bars AS b ON b.symbol = w.symbol WHERE EXISTS (SELECT FROM other WHERE underlying = b.symbol AND ts > $3)`;
const statement = divisible<Values>('bars', text, ['symbols', 'dates', 'from']);
const values: Values = { symbols: ['A', 'B', 'A'], dates: ['1', '2', '3'], from: 7 };
const spread = new Routing(() => 2);

/** Answers a statement with a row for each of its keys. */
const answer = async ({ values: sent }: pg.QueryConfig) => ({
  rows: (sent![1] as string[]).map((date, i) => ({ nth: i + 1, date })),
});

test('on several nodes a statement about keys is sent once a symbol, and says which at every comparison of it', () => {
  const [one, other, ...more] = spread.split(statement, values);
  expect(more).toEqual([]);
  expect(one!.query.values).toEqual([['A', 'A'], ['1', '3'], 7]);
  expect(other!.query.values).toEqual([['B'], ['2'], 7]);
  expect(one!.query.text).toContain('ON b.symbol = w.symbol AND b.symbol = ($1::text[])[1] WHERE');
  expect(one!.query.text).toContain('underlying = b.symbol AND underlying = ($1::text[])[1] AND ts > $3');
  expect(one!.query.name).not.toBe(statement.all(values).name);
});

test('on one node it is sent as it is', async () => {
  expect(oneNode.split(statement, values)).toEqual([{ query: statement.all(values), numbers: null }]);
  expect(statement.all(values)).toEqual({ name: 'bars', text, values: [values.symbols, values.dates, 7] });
  expect(await oneNode.rows(statement, values, answer)).toHaveLength(3);
});

test('a statement that is not about keys of symbols is sent as it is', () => {
  const all = divisible<{ symbol: string }>('all', 'SELECT FROM bars AS b JOIN s ON b.symbol = s.symbol', ['symbol']);
  const ids = divisible<{ ids: string[] }>('ids', 'SELECT FROM (SELECT unnest($1::text[]) AS id) AS w', ['ids']);
  expect(spread.split(all, { symbol: 'A' })).toMatchObject([{ numbers: null }]);
  expect(spread.split(ids, { ids: ['A', 'B'] })).toMatchObject([{ numbers: null }]);
});

test('rows come symbol by symbol, with the numbers that their keys have among all', async () => {
  expect(await spread.rows(statement, values, answer)).toEqual([
    { nth: 1, date: '1' },
    { nth: 3, date: '3' },
    { nth: 2, date: '2' },
  ]);
});

test('so many statements are sent at once, and no more', async () => {
  let [sent, most] = [0, 0];
  const symbols = Array.from({ length: 9 }, (_, i) => `S${i}`);
  await spread.rows(statement, { symbols, dates: symbols, from: 1 }, async (query) => {
    most = Math.max(most, ++sent);
    await new Promise((resolve) => setTimeout(resolve, 1));
    sent--;
    return answer(query);
  });
  expect(most).toBe(2);
});

test('a set of keys is routed when it is of one symbol of a table that is spread', () => {
  const columns = ['session_date', 'symbol'];
  const of = (routing: Routing, table: string, symbols: string[]) =>
    routing.ofOneSymbol(table, columns, [symbols.map(() => '2026-11-19'), symbols]);
  expect(of(spread, 'bar_blocks', ['A', 'A'])).toBe(' AND t.symbol = ($2::text[])[1]');
  expect([
    of(spread, 'bar_blocks', ['A', 'B']),
    of(spread, 'symbols', ['A', 'A']),
    of(oneNode, 'bar_blocks', ['A', 'A']),
  ]).toEqual(['', '', '']);
});
