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

/** Test files in the order in which they are likely to kill a mutation. */
export function byNearness(mutation: Mutation, tree: string, tests: readonly string[]): string[] {
  const near = new Map<string, number>();
  for (const test of tests) near.set(test, nearness(mutation.file, test, readFileSync(join(tree, test), 'utf8')));
  return tests.toSorted((a, b) => near.get(b)! - near.get(a)!);
}
