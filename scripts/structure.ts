// Figures of the structure of a source tree, to compare two of them: `node scripts/structure.ts [FOLDER]`.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { functionLengths } from './function-lengths.ts';
import { floors } from './layer-rules.ts';
import { codeOnly, importsOf } from './source-text.ts';

/** Folders of src/ that hold what the project exists for: the market's data, figures, graph and contract. */
const ownSubject =
  /^src\/(intake\/(?:tape|ingest)|core|resolvers|schema|rest\/(routes|contract|fragments)|store\/(series|market|chain|gex|flow|offexchange|account|journal))\//;

const root = process.argv[2] ?? join(import.meta.dirname, '..');
const listed = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules', '**/generated'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
const files = listed('src/**/*.{ts,graphql,sql,css}');
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const code = new Map([...texts].filter(([file]) => file.endsWith('.ts')).map(([file, text]) => [file, codeOnly(text)]));

const linesOf = (text: string) => text.split('\n').length - 1;
const linesIn = (chosen: readonly string[]) => chosen.reduce((sum, file) => sum + linesOf(texts.get(file)!), 0);
const matches = (pattern: RegExp, within: RegExp = /^/) =>
  [...code].reduce((sum, [file, text]) => sum + (within.test(file) ? (text.match(pattern)?.length ?? 0) : 0), 0);

/** Number of files in the fullest folder, and its name. */
function fullestFolder(): string {
  const counts = Map.groupBy(files, dirname);
  const [name, held] = [...counts].sort((a, b) => b[1].length - a[1].length)[0]!;
  return `${held.length} (${name})`;
}

/** Number of files that are part of a circle of imports, those of types included. */
function filesInCircles(): number {
  const edges = new Map([...code.keys()].map((file) => [file, targetsOf(file)]));
  const reaches = (from: string, to: string) => {
    const seen = new Set<string>();
    const next = [...(edges.get(from) ?? [])];
    for (let file = next.pop(); file !== undefined; file = next.pop()) {
      if (file === to) return true;
      if (seen.has(file)) continue;
      seen.add(file);
      next.push(...(edges.get(file) ?? []));
    }
    return false;
  };
  return [...code.keys()].filter((file) => reaches(file, file)).length;
}

function targetsOf(file: string): string[] {
  return importsOf(texts.get(file)!)
    .filter(({ specifier }) => specifier?.startsWith('.'))
    .map(({ specifier }) => posix.join(dirname(file), specifier!));
}

/** Numbers of lines of the TypeScript files, ascending. */
const lengths = [...code.keys()].map((file) => linesOf(texts.get(file)!)).sort((a, b) => a - b);

/** Files that import each file. */
const importersOf = new Map<string, Set<string>>();
for (const file of code.keys())
  for (const target of targetsOf(file)) importersOf.set(target, (importersOf.get(target) ?? new Set()).add(file));

const roomOf = (file: string) => file.split('/')[1]!;
const floorOf = (file: string) => floors.find((floor) => floor.includes(roomOf(file)))?.[0] ?? roomOf(file);

/** Number of files that other rooms import. */
const publicFiles = [...importersOf].filter(
  ([file, importers]) => file.startsWith('src/') && [...importers].some((from) => floorOf(from) !== floorOf(file)),
).length;

/** Number of files that one file alone imports, which is of their own room. */
const ofOneImporter = [...importersOf].filter(([file, importers]) => {
  const [only] = importers;
  return importers.size === 1 && roomOf(only!) === roomOf(file);
}).length;

/** Number of comments that begin with each of these words. */
function openings(words: readonly string[]): string {
  const comments = [...texts.values()].flatMap((text) => text.match(/(?:\/\*\*?|\/\/)\s*(?:\*\s*)?\w+/g) ?? []);
  return words.map((word) => `${word} ${comments.filter((each) => each.endsWith(` ${word}`)).length}`).join(', ');
}

const functions = [...code.values()].flatMap((text) => functionLengths(text).map(({ lines }) => lines));
const longer = (limit: number) => functions.filter((lines) => lines > limit).length;
const own = files.filter((file) => ownSubject.test(file));

const rows: [string, string | number][] = [
  ['lines of src', linesIn(files)],
  ['files of src', files.length],
  ['TypeScript files', lengths.length],
  ['median of their lines', lengths[lengths.length >> 1]!],
  ['of at most 50 lines', lengths.filter((lines) => lines <= 50).length],
  ['of over 500 lines', lengths.filter((lines) => lines > 500).length],
  ['with one importer, in their own room', ofOneImporter],
  ['that other rooms import', publicFiles],
  [
    'share of lines that hold market data, figures, graph and contract',
    `${((100 * linesIn(own)) / linesIn(files)).toFixed(1)} %`,
  ],
  ['files of src/platform/runtime', files.filter((file) => file.startsWith('src/platform/runtime/')).length],
  ['files in the fullest folder', fullestFolder()],
  ['files in circles of imports', filesInCircles()],
  ['functions of over 60 lines, those inside them included', longer(60)],
  ['functions of over 80 lines', longer(80)],
  ['lines of the longest function', Math.max(...functions)],
  ['failures made outside of the catalogue', matches(/\bnew Failure\(/g, /^(?!src\/platform\/wire\/failure\.ts)/)],
  ['batched edges', matches(/\bbatched\(/g, /^src\/(resolvers|live)\//)],
  ['calls of Prisma models', matches(/\bprisma\.\w+\.\w+\(/g)],
  ['SQL files', files.filter((file) => file.endsWith('.sql')).length],
  ['queries with SQL in code', matches(/\.query(?:<[^(]*>)?\(/g, /^src\/store\//)],
  ['comments that begin with', openings(['What', 'Whether', 'How', 'Of'])],
];
const widest = Math.max(...rows.map(([name]) => name.length));
for (const [name, value] of rows) console.log(`${name.padEnd(widest)}  ${value}`);
