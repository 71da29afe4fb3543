import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveSplits } from '../../../src/store/market/splits.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import type { Json, TestApp } from '../../support/app.ts';
import { filledApp, filledContract, filledNowMs } from '../../support/filled-market.ts';
import { newYork } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

let app: TestApp;
let owner: string;
/** Strikes from 580; the first of four is not quoted. */
const quoted = 'O:SPY261218C00601000';
const index = filledContract('SPX', 'P').replace('600000', '603000');
const expired = 'O:SPY261127C00601000';

/** Rows as id, account, instrument, side, quantity and clock time of 2026-11-30. */
const trades = [
  ['a', 'main', 'SPY', 'buy', 10, '09:40'],
  ['b', 'main', 'SPY', 'Sell short', 4, '10:10'],
  ['c', 'other', 'SPY', 'buy', 100, '10:20'],
  ['d', 'main', quoted, 'buy to open', 3, '09:50'],
  ['e', 'main', quoted, 'SELL', 1, '11:00'],
  ['f', 'main', index, 'sell', 2, '10:00'],
  ['g', 'main', expired, 'buy', 5, '09:31'],
  ['h', 'main', 'AAPL', 'buy', 0.1, '09:31'],
  ['i', 'main', 'AAPL', 'buy', 0.2, '09:32'],
  ['j', 'main', 'AAPL', 'sell', 0.3, '09:33'],
  ['k', 'main', 'MSFT', 'gift', 7, '09:33'],
] as const;

beforeAll(async () => {
  app = await filledApp();
  owner = await app.session();
  const lines = trades.map(([id, account_id, symbol, side, qty, clock]) =>
    JSON.stringify({ id, account_id, symbol, side, qty, price: 1, ts: newYork('2026-11-30', clock) }),
  );
  const { errors } = await app.graphql(
    'mutation ($body: ImportBody!) { importJournal(importId: "1", body: $body) { result { created } } }',
    { body: lines.join('\n') },
    { credential: owner },
  );
  expect(errors).toBeUndefined();
});
afterAll(() => app.close());

async function positions(args: string, fields: string, credential = owner): Promise<Json> {
  const document = `{ journalPositions(first: 50${args}) { at total undirected rows { instrument ${fields} } } }`;
  const { data, errors } = await app.graphql(document, {}, { credential });
  expect(errors).toBeUndefined();
  return data.journalPositions;
}

const quantities = ({ rows }: Json) => Object.fromEntries(rows.map((row: Json) => [row.instrument, row.qty]));

test('positions are what was bought less what was sold, now and at an instant, of all accounts or one', async () => {
  const now = await positions('', 'qty');
  expect([now.at, now.total, now.undirected]).toEqual([filledNowMs, 3, 1]);
  expect(quantities(now)).toEqual({ SPY: 106, [quoted]: 2, [index]: -2 });
  expect(quantities(await positions(', accountId: "main"', 'qty'))).toEqual({ SPY: 6, [quoted]: 2, [index]: -2 });
  const then = await positions(', at: "2026-11-30T10:10"', 'qty');
  expect(then.at).toBe(newYork('2026-11-30', '10:10'));
  expect(quantities(then)).toEqual({ SPY: 6, [quoted]: 3, [index]: -2 });
  expect((await positions(', at: "2026-11-30T09:35"', 'qty')).rows).toEqual([]);
});

test('greeks of a position are those of its contract in the chain of the instant, times quantity and multiplier', async () => {
  const fields = 'qty symbol { symbol quote { spot } } contract { id } greeks { delta gamma theta vega note }';
  for (const [at, qty] of [
    ['', 2],
    ['2026-11-30T10:10', 3],
  ] as const) {
    const { rows } = await positions(at && `, at: "${at}"`, fields);
    const of = (instrument: string) => rows.find((row: Json) => row.instrument === instrument);
    const chain = 'chainRow { delta gamma theta vega }';
    const { data } = await app.graphql(
      `{ asOf(${at ? `at: "${at}"` : 'tz: "UTC"'}) { a: contract(id: "${quoted}") { ${chain} } b: contract(id: "${index}") { ${chain} } spy: symbol(symbol: "SPY") { quote { spot } } } }`,
      {},
      { credential: owner },
    );
    for (const [instrument, held, { chainRow }] of [
      [quoted, qty, data.asOf.a],
      [index, -2, data.asOf.b],
    ] as const) {
      const { contract, greeks } = of(instrument);
      expect(contract.id).toBe(instrument);
      expect(greeks.note).toBeNull();
      for (const name of ['delta', 'gamma', 'theta', 'vega'])
        expect(greeks[name]).toBeCloseTo(100 * held * chainRow[name], 9);
    }
    const shares = of('SPY');
    expect(shares.greeks).toEqual({ delta: shares.qty, gamma: 0, theta: 0, vega: 0, note: null });
    expect(shares.symbol).toEqual({ symbol: 'SPY', quote: data.asOf.spy.quote });
  }
});

test('shares are those of the instant: a split multiplies what was bought before it', async () => {
  await inTransaction(app.store, (tx) =>
    saveSplits(tx, [{ symbol: 'SPY', exDate: '2026-12-01', ratio: 3, declared: null }]),
  );
  expect(quantities(await positions('', 'qty')).SPY).toBe(318);
  expect(quantities(await positions(', at: "2026-11-30T16:00"', 'qty')).SPY).toBe(106);
});

test('greeks of an index that may not be read fail at their path; quantities stand. Nobody else sees them', async () => {
  const credential = await app.session({ siteTier: 'free' });
  const empty = await positions('', 'qty', credential);
  expect([empty.total, empty.rows]).toEqual([0, []]);
  await app.graphql(
    `mutation { createJournalTrade(trade: { accountId: "a", symbol: "${index}", side: "buy", qty: 1, price: 2 }) { trade { id } } }`,
    {},
    { credential },
  );
  const { data, errors } = await app.graphql(
    '{ journalPositions(first: 5) { rows { instrument qty greeks { delta } } } }',
    {},
    { credential },
  );
  expect(data.journalPositions.rows).toEqual([{ instrument: index, qty: 1, greeks: null }]);
  expect(errors).toMatchObject([{ extensions: { code: 'not_entitled_tier' } }]);
});

test('forty positions take no more statements than one', async () => {
  const counts = [];
  for (const size of [1, 40]) {
    const credential = await app.session();
    const lines = Array.from({ length: size }, (_, i) => {
      const symbol = `O:${size === 1 ? 'NVDA' : 'MSFT'}261218C00${581 + (i % 38)}000`;
      return JSON.stringify({
        id: `${i}`,
        account_id: 'a',
        symbol,
        side: 'buy',
        qty: 1,
        price: 1,
        ts: filledNowMs - i,
      });
    });
    await app.graphql(
      'mutation ($body: ImportBody!) { importJournal(importId: "1", body: $body) { result { created } } }',
      { body: lines.join('\n') },
      { credential },
    );
    const document = '{ journalPositions(first: 50) { rows { symbol { quote { spot } } greeks { delta } } } }';
    const ask = async () => expect((await app.graphql(document, {}, { credential })).errors).toBeUndefined();
    counts.push(withoutCommits(await statementsOf(ask)).length);
  }
  expect(counts[1]).toBeLessThanOrEqual(counts[0]!);
});
