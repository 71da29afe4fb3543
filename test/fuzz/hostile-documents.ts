import type { Random } from '../support/random.ts';
import { hostileText } from './values.ts';

const quoted = (text: string) => JSON.stringify(text);

const many = (random: Random, counts: readonly number[], text: (index: number) => string, between = ' ') =>
  Array.from({ length: random.pick(counts) }, (_, index) => text(index)).join(between);

/** Documents that are deep, long, circular, or wrong in a way of their own. */
const odd: ((random: Random) => string)[] = [
  (random) => hostileText(random),
  (random) => `{ ${'symbol(symbol: "SPY") { '.repeat(random.pick([3, 20, 500]))}`,
  (random) => {
    const depth = random.pick([5, 20, 200]);
    return `{ contract(id: "O:SPY261218C00600000") { ${'underlying { contracts(first: 1) { edges { node { '.repeat(depth)}id${' } } } }'.repeat(depth)} } }`;
  },
  (random) => `{ me { ${'... on Me { '.repeat(random.pick([10, 1000]))}tier${' }'.repeat(random.pick([10, 1000]))} } }`,
  (random) =>
    `{ me(a: ${'['.repeat(random.pick([10, 150, 2000]))}${']'.repeat(random.pick([10, 150, 2000]))}) { tier } }`,
  (random) =>
    `{ me(a: ${'{a: '.repeat(random.pick([10, 150, 2000]))}1${'}'.repeat(random.pick([10, 150, 2000]))}) { tier } }`,
  (random) =>
    `query($v: ${'['.repeat(random.pick([10, 150, 2000]))}Int${']'.repeat(random.pick([10, 150, 2000]))}) { me { tier } }`,
  () => 'query { ...A } fragment A on Query { ...A me { tier } }',
  () => 'query { ...A } fragment A on Query { ...B } fragment B on Query { ...C } fragment C on Query { ...A }',
  () => 'query { me { ...A } } fragment A on Me { ...B } fragment B on Me { ...A ...B }',
  () => 'query { ...None } fragment A on None { x }',
  (random) => `{ ${many(random, [150, 300], (i) => `a${i}: me { tier }`)} }`,
  (random) => `{ quotes(symbols: [${many(random, [180, 181, 2000], () => '"SPY"', ',')}]) { rows { spot } } }`,
  (random) => `{ me { ${'tier '.repeat(random.pick([500, 6000]))} } }`,
  (random) => `{ me { tier ${'@include(if: true) '.repeat(random.pick([50, 150]))} } }`,
  (random) => `query(${many(random, [10, 900], (i) => `$v${i}: Int`, ', ')}) { me { tier } }`,
  (random) =>
    `{ symbols(first: ${random.pick(['-1', '0', '99999999999', '1e9', 'null', '"x"', '[1]', '{a: 1}', '$none'])}) { nodes { symbol } } }`,
  (random) =>
    `{ symbol(symbol: ${quoted(hostileText(random))}) { symbol spot { price } bars(from: ${quoted(hostileText(random))}, to: "2026-12-01", tz: ${quoted(hostileText(random))}) { meta { cursor } } } }`,
  (random) =>
    `{ contract(id: ${quoted(hostileText(random))}) { id bars(session: ${quoted(hostileText(random))}) { meta { count } } } }`,
  (random) =>
    `mutation { putWatchlist(id: ${quoted(hostileText(random))}, name: ${quoted(hostileText(random))}, symbols: ["SPY"]) { watchlist { id } } }`,
  () => 'subscription { none }',
  () => 'subscription { quotes(symbols: ["SPY"]) { spot } bars(symbol: "SPY") { close } }',
  () => 'query A { me { tier } } query B { me { tier } }',
  () => 'query A { me { tier } } query A { me { tier } }',
  () => '{ me { tier } } type X { a: Int }',
  () => '{ me { tier } } extend schema @link(url: "x")',
  () => `"""${'x'.repeat(3000)}""" { me { tier } }`,
  () => `{ symbol(symbol: "\\u{110000}") { symbol } }`,
  () => `{ symbol(symbol: "\\ud800") { symbol } }`,
  () => '{ __proto__ { constructor } }',
  () => '#'.repeat(30_000),
  () => '',
];

/** A document that is hostile: to the parser, to validation, or by the work that it asks for. */
export function hostileDocument(random: Random): string {
  return random.pick(odd)(random);
}

const inserted = [
  '',
  '{',
  '}',
  '(',
  ')',
  '"',
  '$',
  '@',
  '...',
  '\0',
  '#',
  '💥',
  '\\',
  '\ud800',
  '!',
  ':',
  '"""',
  '9'.repeat(400),
];

/** A document with one or two places broken: a character taken out, doubled or replaced, a part repeated. */
export function brokenDocument(random: Random, text: string): string {
  let broken = text;
  for (let i = 0; i <= random.below(2); i++) {
    const at = random.below(broken.length + 1);
    const part = broken.slice(at, at + random.below(30));
    broken = broken.slice(0, at) + random.pick([...inserted, part]) + broken.slice(at + random.below(2));
  }
  return broken;
}
