import { expect, test } from 'vitest';
import { builtInTools } from '../../../src/mcp/built-in-tools.ts';
import { compileContract, routeTable } from '../../../src/rest/route-table.ts';
import { routeFiles } from '../../support/app.ts';
import { folder } from './folder.ts';

const settings = { metaHeaderPrefix: 'x-' };
const toolNames = builtInTools.map(({ name }) => name);
const contract = compileContract(settings);
const table = (files: Record<string, string>) => routeTable(contract, routeFiles(files), settings, toolNames);

/** The problems of a folder, one a line. */
function problems(files: Record<string, string>): string[] {
  try {
    table(files);
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
}

const spot = 'query ($symbol: Ticker!) { symbol(symbol: $symbol) { spot { price } } }';
const withSettings = (value: object | string, document = spot) => ({
  'a.graphql': document,
  'a.json': typeof value === 'string' ? value : JSON.stringify(value, null, 2),
});
const fragments = `{ symbol(symbol: "SPY") { ...F0 } } ${Array.from(
  { length: 101 },
  (_, i) => `fragment F${i} on Symbol { name }`,
).join(' ')}`;

test.each<[string, Record<string, string>, string]>([
  [
    'an unknown field, by its line',
    { 'a.graphql': '{\n  nothing\n}' },
    'a.graphql:2: Cannot query field "nothing" on type "Query".',
  ],
  ['text that is not GraphQL', { 'a.graphql': '{\n\n  symbol(' }, 'a.graphql:3: Syntax Error'],
  ['an empty document', { 'a.graphql': '# nothing' }, 'a.graphql:1: Syntax Error'],
  [
    'two operations',
    { 'a.graphql': 'query A { __typename }\nquery B { __typename }' },
    'a.graphql:2: expected one operation, found 2',
  ],
  [
    'introspection',
    { 'a.graphql': '{ __schema { types { name } } }' },
    'a.graphql:1: __schema: introspection is no route',
  ],
  [
    'introspection by a fragment',
    {
      'a.graphql':
        'query { ...Types symbol(symbol: "SPY") { name } }\nfragment Types on Query { __schema { types { name } } }',
    },
    'a.graphql:2: __schema: introspection is no route',
  ],
  [
    'an alias that is the key of the metadata',
    withSettings(
      { data: 'symbol.gex.history' },
      '{ symbol(symbol: "SPY") { gex { history(date: "2026-11-18") { meta: symbol } } } }',
    ),
    "meta is the key of the answer's metadata; give symbol another alias",
  ],
  ...builtInTools.map(({ name }): [string, Record<string, string>, string] => [
    `the name of the tool ${name}`,
    { [`${name.replaceAll('_', '-')}.graphql`]: spot },
    `a tool of AI clients is named ${name}`,
  ]),
  [
    'a mutation without a method',
    { 'a.graphql': 'mutation { deleteWatchlist(id: "a") { deleted } }' },
    'a.graphql:1: a mutation needs a "method"',
  ],
  [
    'a mutation by GET',
    withSettings({ method: 'GET' }, 'mutation { deleteWatchlist(id: "a") { deleted } }'),
    'a.graphql:1: a mutation needs a "method"',
  ],
  ['a query by DELETE', withSettings({ method: 'DELETE' }), 'a.graphql:1: a query is read by GET or POST'],
  [
    'a subscription by POST',
    withSettings({ method: 'POST' }, 'subscription ($s: [Ticker!]!) { quotes(symbols: $s) { spot } }'),
    'a.graphql:1: a subscription is a stream',
  ],
  ['too many fragments', { 'a.graphql': fragments }, 'a.graphql: The document has 101 fragments; at most 100.'],
  [
    'too many aliases',
    { 'a.graphql': `{ ${Array.from({ length: 101 }, (_, i) => `s${i}: symbol(symbol: "SPY") { name }`).join(' ')} }` },
    'a.graphql: The document selects one field under 101 names',
  ],
  [
    'a document too long',
    { 'a.graphql': `{ __typename } #${'x'.repeat(100_000)}` },
    'a.graphql: The document has 100,016 characters',
  ],
  [
    'fragments that multiply',
    {
      'a.graphql': `{ symbol(symbol: "SPY") { ...F0 } } ${Array.from({ length: 20 }, (_, i) => `fragment F${i} on Symbol { ${i < 19 ? `a: flow { id } ...F${i + 1} ...F${i + 1}` : 'name'} }`).join(' ')}`,
    },
    'a.graphql: The document selects',
  ],
  [
    'one key under two conditions',
    {
      'a.graphql':
        'query ($a: Boolean!, $b: Boolean!) { symbol(symbol: "SPY") {\n name @include(if: $a)\n name @include(if: $b) } }',
    },
    'a.graphql:3: name is selected twice',
  ],
  ['settings that are not JSON', withSettings('{\n  "path": \n}'), 'a.json:3: expected JSON'],
  ['an unknown setting', withSettings({ tier: 'pro', pth: '/x' }), 'a.json:3: pth: is not a setting of a route'],
  ['a setting of another type', withSettings({ method: 'FETCH' }), 'a.json:2: method: expected GET, POST'],
  [
    'settings without a document',
    { 'a.json': '{}' },
    'a.json: expected the settings of a document of the same name, or a manifest',
  ],
  [
    'data that is not selected',
    withSettings({ data: 'symbol.gex' }),
    'a.json:2: data: symbol.gex: there is no gex; symbol has spot',
  ],
  [
    'data below a value',
    withSettings({ data: 'symbol.spot.price.x' }),
    'a.json:2: data: symbol.spot.price.x: price is Float',
  ],
  [
    'data within a list',
    withSettings({ data: 'quotes.rows.spot' }, '{ quotes(symbols: ["SPY"]) { rows { spot } } }'),
    'a.json:2: data: quotes.rows.spot: rows is a list',
  ],
  [
    'fields besides the data',
    withSettings({ data: 'symbol.spot' }, '{ symbol(symbol: "SPY") { name spot { price } } }'),
    'a.json:2: data: symbol.spot leaves out name',
  ],
  [
    'a parameter without a variable',
    withSettings({ parameters: { x: {} } }),
    'a.json:3: parameters.x: the operation has no variable $x',
  ],
  [
    'an example that does not fit',
    withSettings({ parameters: { symbol: { example: '-' } } }),
    'a.json:3: parameters.symbol.example: "-" is not a value',
  ],
  [
    'two parameters of one variable',
    withSettings({ parameters: { a: { variable: 'symbol' }, b: { variable: 'symbol' } } }),
    'a.json:2: parameters: a and b both set $symbol',
  ],
  [
    'a reserved name',
    { 'a.graphql': 'query ($maxItems: Ticker!) { symbol(symbol: $maxItems) { name } }' },
    'a.graphql:1: $maxItems: max_items is no name for a parameter',
  ],
  ['a path that is none', withSettings({ path: '/own/../v2/x' }), 'a.json:2: path: expected a path such as'],
  ['a path with an encoded slash', withSettings({ path: '/own/a%2Fb' }), 'a.json:2: path: expected a path such as'],
  [
    'a path that is a parameter first',
    withSettings({ path: '/{symbol}' }),
    'a.json:2: path: /{symbol} is served by the gateway itself',
  ],
  ['the path of a page', withSettings({ path: '/docs/x' }), 'a.json:2: path: /docs is served by the gateway itself'],
  [
    'the path of the graph',
    withSettings({ path: '/GraphQL' }),
    'a.json:2: path: /GraphQL is served by the gateway itself',
  ],
  [
    'a parameter of the path that is optional',
    withSettings({ path: '/x/{symbol}' }, 'query ($symbol: Ticker = "SPY") { symbol(symbol: $symbol) { name } }'),
    'a.json:2: path: {symbol} must be a variable that is required',
  ],
  [
    'a parameter of the path that is unknown',
    withSettings({ path: '/x/{other}' }),
    'a.json:2: path: the operation has no variable for {other}',
  ],
  [
    'a path of the contract',
    withSettings({ path: '/v2/quotes' }),
    'a.json:2: path: /v2/quotes would shadow /v2/quotes of the contract',
  ],
  [
    'a path that the contract has by another method',
    withSettings({ path: '/v2/watchlists/{symbol}', method: 'POST' }),
    'a.json:2: path: /v2/watchlists/{symbol} would shadow',
  ],
  [
    'a path within a parameter of the contract',
    withSettings({ path: '/v2/gex/SPY/grid' }),
    'a.json:2: path: /v2/gex/SPY/grid would shadow /v2/gex/{symbol}/grid',
  ],
  [
    'the path of the description',
    withSettings({ path: '/v2/openapi.json' }),
    'a.json:2: path: /v2/openapi.json would shadow',
  ],
  [
    'the name of a route of the contract',
    { 'gex-history.graphql': spot },
    'gex-history.graphql: a route of the contract is named gex-history',
  ],
  [
    'one path twice',
    { ...withSettings({ path: '/own/b' }), 'b.graphql': spot },
    'b.graphql: path: GET /own/b overlaps with GET /own/b of a',
  ],
  [
    'paths that some address fits both',
    { ...withSettings({ path: '/own/{symbol}' }), 'b.graphql': spot },
    'b.graphql: path: GET /own/b overlaps with GET /own/{symbol} of a',
  ],
])('refuses %s', (_what, files, problem) => {
  expect(problems(files)).toEqual([expect.stringContaining(problem)]);
});

test.each<[string, Record<string, string>, string]>([
  ['of a document that does not fit', { 'm.json': '{"a":"{ nothing }"}' }, 'm.json: a: Cannot query field "nothing"'],
  ['of a document that is none', { 'm.json': '{"a":"{"}' }, 'm.json: a: Syntax Error'],
  ['with a value that is no text', { 'm.json': '{"a":5}' }, 'm.json: expected the settings'],
  [
    'of another version',
    { 'm.json': '{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}' },
    'm.json: expected the settings',
  ],
  [
    'with an id that another has',
    { 'm.json': '{"a":"{ __typename }"}', 'n.json': '{"a":"{ me { tier } }"}' },
    'n.json: a: another document has this id',
  ],
])('refuses a manifest %s', (_what, files, problem) => {
  expect(problems(files)).toEqual([expect.stringContaining(problem)]);
});

test('every problem of every file is reported, at most 20 in words', () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`r${i}.graphql`, '{ nothing }']));
  const found = problems(files);
  expect(found).toHaveLength(21);
  expect(found.at(-1)).toBe('and 10 more problems');
});

test('one path serves several methods, and a folder of every shape fits', () => {
  expect(problems(folder)).toEqual([]);
  const { own } = table(folder);
  const methods = own.flatMap(({ route }) => (route.path === '/lists/:id' ? [route.method] : []));
  expect(methods.sort()).toEqual(['DELETE', 'PUT']);
});
