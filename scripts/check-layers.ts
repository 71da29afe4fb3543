// Holds the import rules of layer-rules.ts over the sources of a project: `node scripts/check-layers.ts [folder]`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import {
  ambient,
  edge,
  emptyNames,
  exceptions,
  figureAmbient,
  figureCode,
  filesPerFolder,
  floors,
  folders,
  restrictedImports,
  rooms,
  sharedParts,
  sharedRoom,
  typeOnlyImports,
} from './layer-rules.ts';
import { codeOnly, type ImportSite, importsOf, lineOf } from './source-text.ts';

const root = process.argv[2] ?? join(import.meta.dirname, '..');

function sourcesUnder(folder: string): string[] {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !file.includes('/generated/') && !file.includes('node_modules/'));
}

/** Folders of a file below src/, the outermost first; a file directly in src/ stands for itself. */
function placeOf(file: string): string[] {
  const parts = file.split('/').slice(1);
  return parts.length > 1 ? parts.slice(0, -1) : parts;
}

/** The room of src/ that a file belongs to. */
function roomOf(file: string): string {
  return placeOf(file)[0]!;
}

/** True if a place is one of those named, or within it. */
function isWithin(place: readonly string[], named: readonly string[]): boolean {
  return named.some((one) => one.split('/').every((part, i) => place[i] === part));
}

const findings: string[] = [];
const roomEdges = new Map<string, Set<string>>();
/** Which files each file imports. */
const fileEdges = new Map<string, string[]>();

/** Judges an import between two folders of the innermost folder that holds both files. */
function checkFolder(file: string, target: string, { line, specifier }: ImportSite): void {
  const [from, to] = [placeOf(file), placeOf(target)];
  const depth = from.findIndex((part, i) => part !== to[i]);
  if (depth <= 0 || to[depth] === undefined) return;
  const shared = from.slice(0, depth).join('/');
  const known = folders[shared];
  if (known && !known[from[depth]!]?.includes(to[depth]))
    findings.push(`${file}:${line}  ${shared}/${from[depth]} may not import ${shared}/${to[depth]} (${specifier})`);
}

/** True if a file may import `target`, which is in another room. */
function mayImport(room: string, target: string, { typeOnly }: ImportSite): boolean {
  const allowed = rooms[room] ?? [];
  if (allowed === '*') return true;
  const shared = sharedParts[room] ?? [sharedRoom];
  return isWithin(placeOf(target), [...shared, ...allowed, ...(typeOnly ? (typeOnlyImports[room] ?? []) : [])]);
}

/** Files that other rooms may import: those listed, null without a list; and those that they import. */
const publicFiles = { listed: listedFiles(), used: new Set<string>() };

function listedFiles(): ReadonlySet<string> | null {
  const path = join(root, 'scripts/public-files.txt');
  if (!existsSync(path)) return null;
  const lines = readFileSync(path, 'utf8').split('\n');
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')));
}

/** Judges if a file of another room is public. */
function checkPublic(file: string, target: string, { line, specifier }: ImportSite): void {
  const [from, to] = [roomOf(file), roomOf(target)];
  if (floors.some((floor) => floor.includes(from) && floor.includes(to))) return;
  const path = target.slice('src/'.length);
  publicFiles.used.add(path);
  if (publicFiles.listed?.has(path) === false)
    findings.push(`${file}:${line}  ${path} is private to ${to}; list it in scripts/public-files.txt (${specifier})`);
}

function checkImport(file: string, site: ImportSite): void {
  const room = roomOf(file);
  const at = `${file}:${site.line}`;
  const { specifier } = site;
  if (specifier === null) {
    findings.push(`${at}  imports something computed; name it, so that it can be checked`);
    return;
  }
  const restricted = restrictedImports.find((rule) => room !== rule.folder && rule.specifier.test(specifier));
  if (restricted) {
    findings.push(`${at}  only src/${restricted.folder} may import ${restricted.what} (${specifier})`);
    return;
  }
  if (!specifier.startsWith('.')) return;
  const target = posix.join(dirname(file), specifier);
  // Generated code belongs to the room that its folder names.
  const isGenerated = target.startsWith(`generated/${room}/`);
  if (!isGenerated && !target.startsWith('src/')) {
    findings.push(`${at}  src/${room} may not import what is outside src (${specifier})`);
    return;
  }
  if (!existsSync(join(root, target))) findings.push(`${at}  imports a file that is not there (${specifier})`);
  if (isGenerated) return;
  fileEdges.set(file, [...(fileEdges.get(file) ?? []), target]);
  checkFolder(file, target, site);
  const targetRoom = roomOf(target);
  if (targetRoom === room) return;
  if (!mayImport(room, target, site)) {
    findings.push(`${at}  ${room} may not import ${targetRoom} (${specifier})`);
    return;
  }
  checkPublic(file, target, site);
  if (!site.typeOnly) roomEdges.set(room, (roomEdges.get(room) ?? new Set()).add(targetRoom));
}

/** Readings that a file of src/ must not do. */
function forbiddenIn(path: string): typeof ambient {
  const isEdge = edge.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one));
  return [...(isEdge ? [] : ambient), ...(figureCode.test(path) ? figureAmbient : [])];
}

function checkAmbient(file: string, text: string, code: string): void {
  const path = file.slice('src/'.length);
  for (const { what, code: pattern } of forbiddenIn(path)) {
    if (exceptions.some((exception) => exception.file === path && exception.what === what)) continue;
    for (const match of code.matchAll(pattern)) {
      findings.push(`${file}:${lineOf(text, match.index)}  reads ${what}; take it as a parameter`);
    }
  }
}

function checkText(file: string, check: (text: string, code: string) => void): void {
  const text = readFileSync(join(root, file), 'utf8');
  try {
    check(text, codeOnly(text));
  } catch (error) {
    findings.push(`${file}  cannot be followed: it holds ${(error as Error).message}`);
  }
}

function checkNames(file: string): void {
  const empty = file.split('/').find((part) => emptyNames.test(part));
  if (empty !== undefined) findings.push(`${file}  ${empty} says nothing of what it holds; name it for that`);
}

function checkDefaultExports(file: string, text: string, code: string): void {
  if (file.endsWith('.config.ts')) return;
  for (const match of code.matchAll(/\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/g)) {
    findings.push(`${file}:${lineOf(text, match.index)}  exports a default; export a name`);
  }
}

function checkFolders(files: readonly string[]): void {
  for (const [folder, held] of Map.groupBy(files, (file) => dirname(file)))
    if (held.length > filesPerFolder)
      findings.push(
        `${folder}  holds ${held.length} files; at most ${filesPerFolder}: divide it by what they are about`,
      );
}

/** Reports every cycle among `edges`. Files in a cycle cannot be read one at a time. */
function checkCycles(what: string, edges: ReadonlyMap<string, Iterable<string>>): void {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      findings.push(`src  ${what} import each other: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`);
      return;
    }
    if (done.has(name)) return;
    for (const next of edges.get(name) ?? []) visit(next, [...path, name]);
    done.add(name);
  };
  for (const name of edges.keys()) visit(name, []);
}

const sources = sourcesUnder('src');
let imports = 0;
for (const file of sources) {
  for (const [i, folder] of placeOf(file).entries()) {
    const above = placeOf(file).slice(0, i).join('/');
    const known = i === 0 ? rooms : folders[above];
    if (known && !Object.hasOwn(known, folder))
      findings.push(`${file}  src/${posix.join(above, folder)} is not known; see scripts/layer-rules.ts`);
  }
  checkText(file, (text, code) => {
    const sites = importsOf(text);
    imports += sites.length;
    for (const site of sites) checkImport(file, site);
    checkAmbient(file, text, code);
  });
}
for (const file of [...sources, ...['test', 'scripts', 'bench'].flatMap(sourcesUnder)]) {
  checkNames(file);
  checkText(file, (text, code) => checkDefaultExports(file, text, code));
}
for (const path of publicFiles.listed ?? [])
  if (!publicFiles.used.has(path)) findings.push(`scripts/public-files.txt  no other room imports ${path}`);
checkFolders(sources);
checkCycles('rooms', roomEdges);
checkCycles('files', fileEdges);
// A check that looked at nothing has not passed.
if (sources.length === 0 || imports === 0)
  findings.push(`src  ${sources.length} modules with ${imports} imports were found: nothing was checked`);

const distinct = [...new Set(findings)];
for (const finding of distinct) console.error(finding);
console.error(`layers: ${sources.length} modules, ${imports} imports, ${distinct.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;
