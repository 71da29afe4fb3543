import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledContract } from '../support/filled-market.ts';
import { randomOf } from '../support/random.ts';
import { statementsOf, withoutCommits } from '../support/statements.ts';

let app: TestApp;
beforeAll(async () => {
  app = await filledApp({ env: { FEDERATION: 'true' } });
}, 60_000);
afterAll(() => app.close());

type Credential = { credential?: string };

const entitiesQuery = (selection: string) =>
  `query ($of: [_Any!]!) { _entities(representations: $of) { __typename ${selection} } }`;
/** The objects of representations. */
const entities = (of: readonly unknown[], selection: string, sending?: Credential) =>
  app.graphql(entitiesQuery(selection), { of }, sending);

const symbol = (ticker: unknown) => ({ __typename: 'Symbol', symbol: ticker });
const contract = (id: unknown) => ({ __typename: 'OptionContract', id });
const watchlist = (id: unknown) => ({ __typename: 'Watchlist', id });
const codes = (errors: Json[] = []) => errors.map(({ path, extensions }) => [path.join('.'), extensions.code]);
const pageOf = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, i) => make(i));

async function putWatchlist(id: string, credential: string): Promise<void> {
  const query = 'mutation ($id: ID!) { putWatchlist(id: $id, name: "Mine", symbols: ["SPY"]) { meta { plane } } }';
  expect((await app.graphql(query, { id }, { credential })).errors).toBeUndefined();
}

/** A subgraph that refers to our objects, and adds a field to one of them. */
const book = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@shareable"])
  scalar Ticker
  scalar OptionContractId
  type Query { positions: [Position!]! }
  type Position { size: Float! symbol: Symbol! contract: OptionContract watched: [Watchlist!]! page: PageInfo! }
  type Symbol @key(fields: "symbol") { symbol: Ticker! note: String }
  type OptionContract @key(fields: "id", resolvable: false) { id: OptionContractId! }
  type Watchlist @key(fields: "id", resolvable: false) { id: ID! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`;

describe('the subgraph', () => {
  test('refuses objects of several types as a table, and gives any other list', async () => {
    const table = (query: string, variables: object) =>
      app.send('POST', '/graphql', { body: JSON.stringify({ query, variables }), headers: { accept: 'text/csv' } });
    const refused = await table(entitiesQuery('... on Symbol { symbol quote { spot } }'), { of: [symbol('SPY')] });
    expect([refused.status, refused.body.errors[0].message]).toEqual([
      400,
      'The answer has no list of objects. Accept application/json.',
    ]);
    const quotes = await table('{ quotes(symbols: ["SPY"]) { rows { symbol } } }', {});
    expect([quotes.status, quotes.bytes.toString()]).toEqual([200, 'symbol\r\nSPY\r\n']);
  });

  test('composes with another one by Apollo’s library, its SDL read without a credential', async () => {
    const { data } = await app.graphql('{ _service { sdl } }', {}, { credential: null } as never);
    const composed = composeServices([
      { name: 'tapegraph', url: app.url, typeDefs: parse(data._service.sdl) },
      { name: 'book', url: 'http://127.0.0.1:1', typeDefs: parse(book) },
    ]);
    expect(composed.errors).toBeUndefined();
    const fields = composed.schema!.type('Symbol') as unknown as { field: (name: string) => object | undefined };
    expect(['quote', 'gex', 'note'].map((name) => fields.field(name) !== undefined)).toEqual([true, true, true]);
    expect(data._service.sdl).toContain(schema.getType('Symbol')!.description);
  });

  test('is there only by the setting, and leaves the schema text as it is', async () => {
    const plain = await testApp({ store: app.store });
    const { errors } = await plain.graphql('{ _service { sdl } }');
    expect(errors?.[0].message).toContain('Cannot query field "_service"');
    const text = async (of: TestApp) => (await of.get('/schema.graphql')).bytes.toString();
    expect(await text(app)).toBe(await text(plain));
    plain.live.close();
    await plain.access.close();
  });
});

describe('_entities', () => {
  test('gives what the fields of Query give, in order', async () => {
    const credential = await app.session();
    await putWatchlist('mine', credential);
    const id = filledContract('SPY');
    // The ids have different types, so that they cannot have one key.
    const own = {
      symbol: 'symbol title: name quote { spot } gex { latest { netGex } }',
      contract: 'contractId: id strike expiry underlying { symbol }',
      watchlist: 'listId: id name tickers',
    };
    const { data: direct } = await app.graphql(
      `{ symbol(symbol: "SPY") { ${own.symbol} } contract(id: "${id}") { ${own.contract} } watchlist(id: "mine") { ${own.watchlist} } }`,
      {},
      { credential },
    );
    const { data, errors } = await entities(
      [watchlist('mine'), symbol('spy'), contract(id.toLowerCase()), symbol('AAPL'), watchlist('none')],
      `... on Symbol { ${own.symbol} } ... on OptionContract { ${own.contract} } ... on Watchlist { ${own.watchlist} }`,
      { credential },
    );
    expect(errors).toBeUndefined();
    expect(data._entities).toEqual([
      { __typename: 'Watchlist', ...direct.watchlist },
      { __typename: 'Symbol', ...direct.symbol },
      { __typename: 'OptionContract', ...direct.contract },
      expect.objectContaining({ symbol: 'AAPL', title: 'AAPL Inc.' }),
      null,
    ]);
  });

  test('refuses what the ordinary fields refuse, at its item; the others stand', async () => {
    const selection = '... on Symbol { quote { spot } offExchange { activity { rows { date } } } }';
    const seen = new Set<string>();
    for (const apiTier of ['free', 'basic', 'pro'] as const)
      for (const classification of ['non_professional', null] as const) {
        const credential = await app.key({ apiTier, classification });
        const tickers = ['SPY', 'NVDA', 'SPX'];
        const { data, errors } = await entities(tickers.map(symbol), selection, { credential });
        for (const [index, ticker] of tickers.entries()) {
          const direct = await app.graphql(
            `{ symbol(symbol: "${ticker}") { quote { spot } offExchange { activity { rows { date } } } } }`,
            {},
            { credential },
          );
          expect(data._entities[index]).toEqual({ __typename: 'Symbol', ...direct.data.symbol });
          const here = codes(errors).flatMap(([path, code]) =>
            path!.startsWith(`_entities.${index}.`) ? [[path!.replace(`_entities.${index}`, 'symbol'), code]] : [],
          );
          expect(here).toEqual(codes(direct.errors));
          for (const [, code] of here) seen.add(code!);
        }
      }
    expect([...seen].sort()).toEqual(['attestation_required', 'not_entitled_tier']);
  });

  test('gives no list of another account, and shares no answer between accounts', async () => {
    const [owner, other] = [await app.session(), await app.session()];
    await putWatchlist('secret', owner);
    const read = async (credential: string) =>
      (await entities([watchlist('secret')], '... on Symbol { symbol }', { credential })).data._entities;
    expect(await read(owner)).toEqual([{ __typename: 'Watchlist' }]);
    expect(await read(other)).toEqual([null]);
    expect((await app.graphql(entitiesQuery(''), { of: [] }, { credential: null } as never)).answer.status).toBe(401);
  });

  test('reads any number of objects with as many statements as one', async () => {
    const credential = await app.session();
    await putWatchlist('mine', credential);
    const selection =
      '... on Symbol { quote { spot } gex { latest { netGex } } } ... on OptionContract { chainRow { openInterest } }';
    const page = (count: number) =>
      pageOf(count, (i) => [
        symbol(['SPY', 'MSFT', 'NVDA'][i % 3]),
        contract(filledContract('SPY')),
        watchlist('mine'),
      ]);
    const count = async (of: number) =>
      withoutCommits(
        await statementsOf(async () => {
          expect((await entities(page(of).flat(), selection, { credential })).errors).toBeUndefined();
        }),
      ).length;
    await count(1);
    await count(3);
    expect(await count(300)).toBeLessThanOrEqual(await count(3));
  });

  const hostile: [string, unknown, string][] = [
    ['no type', { symbol: 'SPY' }, '__typename'],
    ['an unknown type', { __typename: 'Colour', id: '1' }, '"Colour"'],
    ['a type without a key', { __typename: 'GexCapture', netGex: 5 }, '"GexCapture"'],
    ['the root', { __typename: 'Query' }, '"Query"'],
    ['a word of the language', { __typename: 'constructor', symbol: 'SPY' }, '"constructor"'],
    ['a type that is no text', { __typename: { toString: 'x' }, symbol: 'SPY' }, '__typename'],
    ['no key', { __typename: 'Symbol' }, 'symbol of Symbol'],
    ['another key', { __typename: 'Symbol', id: 'U3ltYm9sOlNQWQ' }, 'symbol of Symbol'],
    ['a key of another type', symbol({ symbol: 'SPY' }), 'symbol of Symbol'],
    ['a list', [symbol('SPY')], '__typename'],
    ['a text', 'SPY', '__typename'],
    ['a number', 5, '__typename'],
    ['no ticker', symbol('1;DROP TABLE symbols'), 'ticker'],
    ['no contract', contract('O:SPY'), 'OSI'],
    ['an id that nobody can have', watchlist('\u0001'), 'representations'],
    ['an id of 100 kB', watchlist('x'.repeat(100_000)), 'representations'],
    ['a ticker of 100 kB', symbol('X'.repeat(100_000)), 'ticker'],
  ];
  test.each(hostile)(
    'refuses a list with %s by one error, which says what is wrong with it',
    async (_what, bad, says) => {
      const { data, errors } = await entities([symbol('SPY'), bad, bad], '');
      expect(data).toBeNull();
      expect(codes(errors)).toEqual([['_entities', 'invalid_params']]);
      expect(errors?.[0].message).toContain(says);
      expect(errors?.[0].message.length).toBeLessThan(400);
    },
  );

  test('a contract of no registered symbol is null with an error; the others stand', async () => {
    const of = [contract(filledContract('SPY')), contract('O:QQQ261218C00600000')];
    const { data, errors } = await entities(of, '... on OptionContract { strike }');
    expect(data._entities).toEqual([{ __typename: 'OptionContract', strike: 600_000 }, null]);
    expect(codes(errors)).toEqual([['_entities.1', 'not_found']]);
  });

  test('refuses more than 1,000 before it reads one', async () => {
    const credential = await app.session();
    const refused = async (count: number) => {
      const { data, errors } = await entities(
        pageOf(count, () => ({ __typename: 'Colour' })),
        '',
        { credential },
      );
      expect(data ?? null).toBeNull();
      expect(errors).toHaveLength(1);
      return errors![0].message;
    };
    expect(await refused(1001)).toContain(
      'representations: the document names 1,001 ids over all its fields; at most 1,000.',
    );
    // A body holds no more values.
    expect(await refused(10_000)).toContain('values');
    expect(
      (
        await entities(
          pageOf(1000, () => symbol('SPY')),
          '',
        )
      ).data._entities,
    ).toHaveLength(1000);
  });

  test('costs no more than its estimate says, whatever is in the list', async () => {
    const random = randomOf(20_261_126);
    const credential = await app.key({ apiTier: 'basic' });
    const made: (() => object)[] = [
      () => symbol(random.pick(['SPY', 'NVDA', 'SPX', 'ZZZ'])),
      () => contract(random.pick([filledContract('SPY'), filledContract('SPX'), 'O:QQQ261218C00600000'])),
      () => watchlist('none'),
      () => ({ __typename: random.pick(['Symbol', 'Colour']) }),
    ];
    const parts = [
      '... on Symbol { name quote { spot } gex { latest(topStrikes: 3) { strikes { strike gex } } } }',
      '... on OptionContract { strike chainRow { openInterest } underlying { name } }',
      '... on Watchlist { tickers }',
    ];
    for (let i = 0; i < 40; i++) {
      const of = pageOf(random.below(60), () => random.pick(random.once(4) ? made : made.slice(0, 3))());
      const query = entitiesQuery(parts.filter(() => random.once(2)).join(' '));
      const body = JSON.stringify({ query, variables: { of } });
      const { maximum } = (await app.send('POST', '/graphql?cost', { body, credential })).body;
      const { headers, body: answer } = await app.send('POST', '/graphql', { body, credential });
      expect(Number(headers['x-ratelimit-consumed']), body).toBeLessThanOrEqual(maximum.requests);
      if (answer.data) expect(answer.extensions.cost.actual, body).toBeLessThanOrEqual(maximum.points);
    }
  });

  test('charges each object as fetched by its id, and foresees it', async () => {
    const credential = await app.session();
    const points = async (query: string, variables: object) => {
      const { extensions } = await app.graphql(query, variables as Record<string, unknown>, { credential });
      return extensions.cost;
    };
    const lists = pageOf(50, (i) => watchlist(`w${i}`));
    const one = await points(entitiesQuery(''), { of: lists.slice(0, 1) });
    const fifty = await points(entitiesQuery(''), { of: lists });
    // A list costs a point to read, as by `refetch`.
    expect(fifty.requested).toBeGreaterThanOrEqual(one.requested + 4);
    const ask = { query: entitiesQuery('... on Symbol { quote { spot } }'), variables: { of: [symbol('SPX')] } };
    const free = await app.key({ apiTier: 'free' });
    const estimate = await app.send('POST', '/graphql?cost', { body: JSON.stringify(ask), credential: free });
    expect(estimate.body.refused).toMatchObject([{ path: '_entities.quote', code: 'not_entitled_tier' }]);
    const several = { ...ask, variables: { of: [symbol('SPX'), symbol('SPY')] } };
    const open = await app.send('POST', '/graphql?cost', { body: JSON.stringify(several), credential: free });
    expect(open.body.undecided).toContain('_entities.quote');
    const list = (of: readonly unknown[]) =>
      app.send('POST', '/graphql?cost', { body: JSON.stringify({ ...ask, variables: { of } }), credential });
    const items = (await list(pageOf(30, () => symbol('SPY')))).body.fields[0].items;
    expect(items).toEqual({ maximum: 30, expected: 30, boundBy: '_entities(representations)' });
  });
});
