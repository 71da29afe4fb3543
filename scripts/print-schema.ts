// Prints the interfaces that clients are written against: the graph to schema.graphql, the routes to routes.txt. With
// --check only reports whether the files are up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, lexicographicSortSchema, printSchema, type SelectionSetNode } from 'graphql';
import { responseKey } from '../src/graphql/execution/document.ts';
import type { CompiledRoute } from '../src/rest/contract/compiled-route.ts';
import { compiledRoutes, routes } from '../src/rest/routes.ts';
import { schema } from '../src/schema/index.ts';

/** Keys of a selection, those of objects with their path; `?`: only on request. */
function keysOf({ selections }: SelectionSetNode, at = ''): string[] {
  return selections.flatMap((node) => {
    if (node.kind !== Kind.FIELD) throw new Error('fragments are expanded');
    const key = `${at}${responseKey(node)}${node.directives?.length ? '?' : ''}`;
    return node.selectionSet && !node.directives?.length ? keysOf(node.selectionSet, `${key}.`) : [key];
  });
}

/** The keys of an answer's `meta`. */
function metaKeys({ route, operation }: CompiledRoute): string[] {
  let set = operation.definition.selectionSet;
  for (const key of [...route.answer.split('.').filter(Boolean), 'meta']) {
    const node = set.selections.find((each) => each.kind === Kind.FIELD && responseKey(each) === key);
    set = (node as { selectionSet: SelectionSetNode }).selectionSet;
  }
  return keysOf(set).sort();
}

/**
 * One line per route: method, path, operation name, requirements on its caller, the rule of its symbol; then the keys
 * of each answer's `meta`.
 */
function printRoutes(): string {
  // Columns have a fixed width, so that a new route changes one line.
  const lines = routes.map(({ method, path, name, needs, symbolRule }) =>
    [method.padEnd(6), path.padEnd(40), name.padEnd(28), needs.padEnd(21), symbolRule].join(' '),
  );
  const metas = compiledRoutes.map((each) => `meta of ${each.route.name}: ${metaKeys(each).join(' ')}`);
  return `${[...lines, '', ...metas].join('\n')}\n`;
}

/** The first line in which two texts differ, 1-based. */
function firstDifference(before: string, after: string): number {
  const lines = after.split('\n');
  return before.split('\n').findIndex((line, index) => line !== lines[index]) + 1 || lines.length;
}

const prints = {
  'schema.graphql': `${printSchema(lexicographicSortSchema(schema))}\n`,
  'routes.txt': printRoutes(),
};
for (const [name, printed] of Object.entries(prints)) {
  const file = join(import.meta.dirname, '..', name);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, printed);
    continue;
  }
  const committed = existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\r\n', '\n') : '';
  if (committed === printed) continue;
  const line = firstDifference(committed, printed);
  console.error(`${name} differs from what is served from line ${line} on: npm run schema prints it anew`);
  process.exitCode = 1;
}
