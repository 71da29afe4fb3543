// Writes what is generated for running, so that a start needs no development package; with --check only reports what
// differs. The captured answers beside it come from a running server: scripts/capture-examples.ts.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { GeneratedFiles } from './generate/generated-files.ts';

const folder = join(import.meta.dirname, '../generated');

/** Files that others write. */
const others = ['README.md', 'pages/examples.json', 'pages/answers.json'];

// In this order: the operations' types come from the graph, which needs the client.
const makers: readonly (() => Promise<GeneratedFiles>)[] = [
  async () => (await import('./generate/store-client.ts')).storeClient(),
  async () => (await import('./generate/chart-library.ts')).chartLibrary(),
  async () => (await import('./generate/operation-types.ts')).operationTypes(),
];

/** Brings `generated/` up to date, or only finds what is not: one line per file that differs. */
async function differences(isCheck: boolean): Promise<string[]> {
  const found: string[] = [];
  const known = new Set(others);
  for (const make of makers) {
    for (const [path, bytes] of await make()) {
      known.add(path);
      const file = join(folder, path);
      if (existsSync(file) && readFileSync(file).equals(bytes)) continue;
      found.push(path);
      if (isCheck) continue;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    }
  }
  const present = globSync('**/*.*', { cwd: folder }).map((path) => path.split(sep).join('/'));
  for (const path of present.filter((each) => !known.has(each))) {
    found.push(`${path} (nothing makes it)`);
    if (!isCheck) rmSync(join(folder, path));
  }
  return found;
}

const isCheck = process.argv.includes('--check');
const found = await differences(isCheck);
for (const each of found) console.error(isCheck ? `generated/${each} is out of date` : `generated/${each}`);
if (isCheck && found.length > 0) {
  console.error('npm run generate makes it again.');
  process.exitCode = 1;
}
