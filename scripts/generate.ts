// Writes the generated files, so that a start requires no development package; with --check only reports differences,
// with --pages makes the files of the pages alone. The captured answers beside them come from a running server, by
// scripts/capture-examples.ts: of them, --check reports routes without one.
import { globSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { GeneratedFiles } from './generate/generated-files.ts';
import { generatedFolder, storedFiles } from './generate/stored-files.ts';

const root = join(import.meta.dirname, '..');

/** Files that others write. */
const others = ['README.md', 'pages/examples.json', 'pages/answers.json'];

/** Makes files of one folder. */
interface Maker {
  folder: string;
  make: () => Promise<GeneratedFiles>;
}

const pageAssets: Maker = {
  folder: generatedFolder,
  make: async () => (await import('./generate/page-assets.ts')).pageAssets(),
};

// In this order: the tables of formats need the vendors; the operations' types come from the graph, which needs the
// client.
const makers: readonly Maker[] = [
  {
    folder: generatedFolder,
    make: async () => (await import('./generate/modules.ts')).vendorsModule(),
  },
  {
    folder: 'docs',
    make: async () => (await import('./generate/format-tables.ts')).formatTables(),
  },
  {
    folder: generatedFolder,
    make: async () => (await import('./generate/store-client.ts')).storeClient(),
  },
  {
    folder: 'src/schema',
    make: async () => (await import('./generate/modules.ts')).schemaModule(),
  },
  {
    folder: 'src/rest',
    make: async () => (await import('./generate/modules.ts')).routesModule(),
  },
  {
    folder: generatedFolder,
    make: async () => (await import('./generate/operation-types.ts')).operationTypes(),
  },
  pageAssets,
  {
    folder: 'clients/python/tapegraph',
    make: async () => (await import('./generate/python-client.ts')).pythonClient(),
  },
  {
    folder: 'clients/typescript/src/generated',
    make: async () => (await import('./generate/typescript-client.ts')).typescriptClient(),
  },
];

/** Files below `within` that nothing makes. */
function leftOver(within: string, known: ReadonlySet<string>): string[] {
  const present = globSync(`${within}/**/*.*`, { cwd: root }).map((path) => path.split(sep).join('/'));
  return present.filter((path) => !known.has(path));
}

/** Brings the generated files up to date, or only finds what is not: one line per file that differs. */
async function differences(isCheck: boolean, arePagesAlone: boolean): Promise<string[]> {
  const found: string[] = [];
  const known = new Set(others.map((path) => `${generatedFolder}/${path}`));
  for (const { folder, make } of arePagesAlone ? [pageAssets] : makers) {
    const files = storedFiles(await make(), folder);
    for (const { path } of files) known.add(`${folder}/${path}`);
    for (const file of files.filter(({ isCurrent }) => !isCurrent())) {
      found.push(`${folder}/${file.path}`);
      if (!isCheck) file.write();
    }
  }
  for (const path of leftOver(arePagesAlone ? `${generatedFolder}/pages/assets` : generatedFolder, known)) {
    found.push(`${path} (nothing makes it)`);
    if (!isCheck) rmSync(join(root, path));
  }
  return found;
}

/** Routes without a captured answer, and answers of routes that are gone: one line each. */
async function captureDifferences(): Promise<string[]> {
  const { routes } = await import('../src/rest/routes.ts');
  const { capturedExamples } = await import('../src/pages/reference/example-answers.ts');
  const captured = new Set(Object.keys(capturedExamples.routes));
  const names = new Set(routes.map(({ name }) => name));
  return [
    ...[...names].filter((name) => !captured.has(name)).map((name) => `no answer of ${name}`),
    ...[...captured].filter((name) => !names.has(name)).map((name) => `an answer of ${name}, which is no route`),
  ];
}

const isCheck = process.argv.includes('--check');
const found = await differences(isCheck, process.argv.includes('--pages'));
for (const each of found) console.error(isCheck ? `${each} is out of date` : each);
if (isCheck && found.length > 0) {
  console.error('npm run generate makes it again.');
  process.exitCode = 1;
}
if (isCheck) {
  const uncaptured = await captureDifferences();
  for (const each of uncaptured) console.error(`generated/pages/examples.json has ${each}`);
  if (uncaptured.length > 0) {
    console.error('node scripts/capture-examples.ts makes it again.');
    process.exitCode = 1;
  }
}
