import type { Random } from '../support/random.ts';

const many = (random: Random, counts: readonly number[], text: (index: number) => string) =>
  Array.from({ length: random.pick(counts) }, (_, index) => text(index)).join(' ');

/**
 * Documents that multiply: few bytes that stand for much work, by aliases within fragments, lists and introspection.
 */
const multiplying: ((random: Random) => string)[] = [
  (random) => {
    const [a, b] = [random.pick([2, 20, 66]), random.pick([2, 20, 66])];
    const aliased = (count: number, field: string) =>
      Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');
    return `{ ${aliased(a, '__schema { ...F }')} } fragment F on __Schema { ${aliased(b, 'types { ...G }')} } fragment G on __Type { ${aliased(a, 'description')} }`;
  },
  (random) =>
    `{ ${many(random, [2, 10], (i) => `r${i}: registry { ${many(random, [2, 10], (j) => `s${j}: rows { ${many(random, [5, 170], (k) => `n${k}: name`)} }`)} }`)} }`,
  (random) =>
    `{ symbol(symbol: "SPY") { ${many(random, [1, 2], (i) => `b${i}: bars(from: "2026-11-16", to: "2026-12-02", timeframe: "1m") { ${many(random, [1, 20], (j) => `r${j}: rows { ${many(random, [3, 150], (k) => `c${k}: close`)} }`)} }`)} } }`,
  (random) =>
    `{ ...A0 } ${many(random, [5, 30, 90], (i) => `fragment A${i} on Query { ...A${i + 1} ...A${i + 1} }`)} fragment A30 on Query { me { tier } }`,
  (random) =>
    `{ symbols(first: 500) { nodes { ${'bars(from: "2000-01-01", to: "2030-01-01", limit: 50000) { rows { tsMs } } '.repeat(random.below(2) + 1)} } } }`,
  () =>
    '{ symbols(first: 500) { nodes { chain { rows { contract iv } } quote { spot } gex { latest { strikes { strike gex } } } } } }',
  (random) =>
    `{ __type(name: "Symbol") { ${'fields { type { '.repeat(random.pick([3, 12, 60]))}name${' } }'.repeat(random.pick([3, 12, 60]))} } }`,
];

/**
 * A document of few bytes that asks for much work. Only the admission of documents stands between it and the processor.
 */
export function multiplyingDocument(random: Random): string {
  return random.pick(multiplying)(random);
}
