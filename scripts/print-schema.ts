// Prints the graph to schema.graphql; with --check only says whether the file is what would be printed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/schema/index.ts';

const file = join(import.meta.dirname, '..', 'schema.graphql');
const printed = `${printSchema(lexicographicSortSchema(schema))}\n`;

/** The first line in which two texts differ, 1-based. */
function firstDifference(before: string, after: string): number {
  const lines = after.split('\n');
  return before.split('\n').findIndex((line, index) => line !== lines[index]) + 1 || lines.length;
}

if (process.argv.includes('--check')) {
  const committed = existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\r\n', '\n') : '';
  if (committed !== printed) {
    console.error(
      `schema.graphql differs from the graph from line ${firstDifference(committed, printed)} on: npm run schema prints it anew`,
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, printed);
}
