import type { Random } from '../support/random.ts';
import { badJson, badTexts } from './bad-values.ts';

const good = [
  '{ me { tier } }',
  '{ symbol(symbol: "SPY") { spot { price } } }',
  'query Q($s: [Ticker!]!) { quotes(symbols: $s) { rows { spot } } }',
  'query B($f: PointInTime!, $t: PointInTime!, $l: Int) { symbol(symbol: "SPY") { bars(from: $f, to: $t, limit: $l) { rows { tsMs } meta { cursor } } } }',
  '{ contract(id: "O:SPY261218C00600000") { greeks { latest { mark } } } }',
  'mutation M($n: String!, $s: [Ticker!]!) { putWatchlist(id: "x", name: $n, symbols: $s) { watchlist { id } } }',
  '{ __schema { types { name fields { name type { name ofType { name } } } } } }',
  'query H($d: SessionDate!) { symbol(symbol: "SPY") { gex { history(date: $d, top: 1) { captures { netGex } } } } }',
];

const fields = [
  'me',
  'symbol',
  'quotes',
  'symbols',
  'contract',
  'largeTrades',
  'eod',
  'watchlists',
  'lookup',
  'registry',
  '__typename',
  'none',
];

const quoted = (text: string) => JSON.stringify(text);

/** A text with one character taken out, doubled or replaced. */
function broken(random: Random, text: string): string {
  const at = random.below(text.length);
  const change = random.pick(['', '{', '}', '"', '$', '@', '...', '\0', '#', '💥', '\\', text.slice(at, at + 20)]);
  return text.slice(0, at) + change + text.slice(at + random.below(2));
}

const forms: ((random: Random) => string)[] = [
  (random) => broken(random, random.pick(good)),
  (random) => random.pick(good),
  (random) => random.pick(badTexts),
  // Deep, by every way there is.
  (random) => `{ ${'symbol(symbol: "SPY") { '.repeat(random.pick([3, 20, 500]))}`,
  (random) => {
    const depth = random.pick([5, 20, 200]);
    return `{ contract(id: "O:SPY261218C00600000") { ${'underlying { contracts(first: 1) { edges { node { '.repeat(depth)}id${' } } } }'.repeat(depth)} } }`;
  },
  (random) => `{ me { ${'... on Me { '.repeat(random.pick([10, 1000]))}tier${' }'.repeat(random.pick([10, 1000]))} } }`,
  // Fragments that lead to themselves and each other.
  () => 'query { ...A } fragment A on Query { ...A me { tier } }',
  () => 'query { ...A } fragment A on Query { ...B } fragment B on Query { ...C } fragment C on Query { ...A }',
  () => 'query { me { ...A } } fragment A on Me { ...B } fragment B on Me { ...A ...B }',
  () => 'query { ...None } fragment A on None { x }',
  // Much of one thing.
  (random) => `{ ${Array.from({ length: random.pick([150, 300]) }, (_, i) => `a${i}: me { tier }`).join(' ')} }`,
  (random) => `{ quotes(symbols: [${long(random, '"SPY"')}]) { rows { spot } } }`,
  (random) => `{ me { ${'tier '.repeat(random.pick([500, 6000]))} } }`,
  (random) => `{ me { tier ${'@include(if: true) '.repeat(random.pick([50, 150]))} } }`,
  (random) =>
    `query(${Array.from({ length: random.pick([10, 900]) }, (_, i) => `$v${i}: Int`).join(' ')}) { me { tier } }`,
  (random) =>
    `{ symbols(first: ${random.pick(['-1', '0', '99999999999', '1e9', 'null', '"x"', '[1]', '{a: 1}', '$none'])}) { nodes { symbol } } }`,
  (random) =>
    `{ symbols(first: 500) { nodes { ${'bars(from: "2000-01-01", to: "2030-01-01", limit: 50000) { rows { tsMs } } '.repeat(random.below(2) + 1)} } } }`,
  // Any field with any argument.
  (random) =>
    `{ ${random.pick(fields)}(${random.pick(['symbol', 'symbols', 'id', 'first', 'q', 'class', 'none'])}: ${random.pick([quoted(random.pick(badTexts)), '5', 'null', 'ENUM', '[[["SPY"]]]', '{}'])}) { ${random.pick(fields)} } }`,
  (random) =>
    `{ symbol(symbol: ${quoted(random.pick(badTexts))}) { symbol name spot { price } bars(from: ${quoted(random.pick(badTexts))}, to: "2026-12-01", tz: ${quoted(random.pick(badTexts))}) { meta { cursor } } } }`,
  (random) =>
    `{ contract(id: ${quoted(random.pick(badTexts))}) { id bars(session: ${quoted(random.pick(badTexts))}) { meta { count } } } }`,
  () => 'subscription { none }',
  () => 'query A { me { tier } } query B { me { tier } }',
  () => '{ me { tier } } type X { a: Int }',
  () => `"""${'x'.repeat(3000)}""" { me { tier } }`,
  () => '',
];

const long = (random: Random, text: string) =>
  Array.from({ length: random.pick([180, 181, 2000]) }, () => text).join(',');

/** The JSON of a GraphQL request: document, variables and all of it likely bad. */
export function badGraphqlRequest(random: Random): unknown {
  const query = random.pick(forms)(random);
  const request: Record<string, unknown> = { query };
  if (random.once(2)) {
    request.variables = random.once(4)
      ? badJson(random)
      : Object.fromEntries(['s', 'f', 't', 'l', 'n', 'd', 'v0'].map((name) => [name, badJson(random, 2)]));
  }
  if (random.once(6)) request.operationName = badJson(random, 1);
  if (random.once(8)) request.extensions = badJson(random);
  if (random.once(20)) request.query = badJson(random);
  if (random.once(20)) return [request, request];
  return random.once(20) ? badJson(random) : request;
}
