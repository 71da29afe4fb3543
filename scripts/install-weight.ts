// Measures the packages a server needs: the MB on disk that `npm start` installs, and the files loaded before it
// listens. Fails above the limits, and if the source imports a development package. `--list`: the heaviest packages.
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { type ImportSite, importsOf } from './source-text.ts';

const root = join(import.meta.dirname, '..');

/** MB that the packages may take on disk. */
const limitMb = 300;

/** MB of their modules that may be loaded at start. */
const startLimitMb = 9;

interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}
type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** The package that `name` means to the one at `from`: in its own node_modules, or in one further up. */
function resolved(packages: LockedPackages, from: string, name: string): string | null {
  for (
    let folder = from;
    folder !== '';
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))
  ) {
    const path = `${folder}/node_modules/${name}`;
    if (path in packages) return path;
  }
  const path = `node_modules/${name}`;
  return path in packages ? path : null;
}

/**
 * Paths of the packages that are installed without development packages: what production packages depend on, optional
 * peers too.
 */
export function productionPackages(packages: LockedPackages): string[] {
  const found = new Set<string>();
  const visit = (path: string): void => {
    const { dependencies, optionalDependencies, peerDependencies } = packages[path]!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const needed = resolved(packages, path, name);
      if (needed === null || found.has(needed)) continue;
      found.add(needed);
      visit(needed);
    }
  };
  visit('');
  return [...found].sort();
}

/**
 * Bytes that a package takes on disk, without the packages within it; 0 where it is not installed, as those of other
 * systems.
 */
function bytesOf(folder: string): number {
  if (!statSync(folder, { throwIfNoEntry: false })) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : bytesOf(path);
    else if (entry.isFile()) {
      const { blocks, size } = statSync(path);
      bytes += blocks ? blocks * 512 : size;
    }
  }
  return bytes;
}

/** The package that an import names; null for a file, a part of Node, or an import of types alone. */
function packageOf({ specifier, typeOnly }: ImportSite): string | null {
  if (typeOnly || specifier === null || /^(\.|node:)/.test(specifier)) return null;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Packages that the source imports at run time and `dependencies` does not list, each after the file that does. */
export function developmentImports(files: Readonly<Record<string, string>>, dependencies: readonly string[]): string[] {
  return Object.entries(files).flatMap(([file, text]) =>
    importsOf(text)
      .map(packageOf)
      .filter((name) => name !== null && !dependencies.includes(name))
      .map((name) => `${file} imports ${name}, which is no production dependency`),
  );
}

/** MB of the packages' modules that a server loads before it listens. */
async function loadedMb(): Promise<number> {
  let bytes = 0;
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:') && url.includes('/node_modules/')) bytes += statSync(new URL(url)).size;
      return next(url, context);
    },
  });
  const { loadGateway } = await import('../src/cli/server/load-gateway.ts');
  await loadGateway();
  return bytes / 1e6;
}

function report(packages: LockedPackages): number {
  const weights = productionPackages(packages).map((path) => ({ path, mb: bytesOf(join(root, path)) / 1e6 }));
  const totalMb = weights.reduce((sum, { mb }) => sum + mb, 0);
  const heaviest = weights
    .toSorted((one, other) => other.mb - one.mb)
    .slice(0, process.argv.includes('--list') ? 20 : 5);
  for (const { path, mb } of heaviest)
    console.log(`${mb.toFixed(1).padStart(8)} MB  ${path.replace('node_modules/', '')}`);
  const installed = weights.filter(({ mb }) => mb > 0).length;
  console.log(`${totalMb.toFixed(0)} MB in ${installed} packages without development packages; at most ${limitMb} MB.`);
  return totalMb;
}

if (import.meta.main) {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const totalMb = report(JSON.parse(read('package-lock.json')).packages);
  const startMb = await loadedMb();
  console.log(`${startMb.toFixed(1)} MB of packages are loaded at start; at most ${startLimitMb} MB.`);
  const sources = globSync('{src,bin,generated/store}/**/*.{ts,mjs}', { cwd: root, exclude: ['**/client/**'] });
  const files = Object.fromEntries(sources.map((file) => [file, read(file)]));
  const found = developmentImports(files, Object.keys(JSON.parse(read('package.json')).dependencies));
  for (const each of found) console.error(each);
  process.exitCode = totalMb <= limitMb && startMb <= startLimitMb && sources.length > 0 && found.length === 0 ? 0 : 1;
}
