import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Mutation } from './choose.ts';

const wordsOf = (path: string) => new Set(path.split(/[/.-]/).filter((word) => !['src', 'test', 'ts'].includes(word)));

/** Number that is higher the more likely a test file is about a source file: it imports it, or shares its words. */
function nearness(source: string, test: string, text: string): number {
  const words = wordsOf(test);
  const shared = [...wordsOf(source)].filter((word) => words.has(word)).length;
  const isNamed = basename(test) === basename(source).replace('.ts', '.test.ts');
  return shared + (isNamed ? 3 : 0) + (text.includes(`../${source}'`) ? 6 : 0);
}

/** Test files in the order in which they are likely to kill one of the mutations. */
export function byNearness(mutations: readonly Mutation[], tree: string, tests: readonly string[]): string[] {
  const sources = [...new Set(mutations.map(({ file }) => file))];
  const near = new Map<string, number>();
  for (const test of tests) {
    const text = readFileSync(join(tree, test), 'utf8');
    near.set(test, Math.max(0, ...sources.map((source) => nearness(source, test, text))));
  }
  return tests.toSorted((a, b) => near.get(b)! - near.get(a)!);
}
