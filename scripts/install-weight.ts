// What `npm ci --omit=dev` brings, in MB on disk; fails above the limit. `--list` names the heaviest packages.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** MB that the packages may take on disk. */
const limitMb = 300;

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

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: LockedPackages;
  };
  const weights = productionPackages(packages).map((path) => ({ path, mb: bytesOf(join(root, path)) / 1e6 }));
  const totalMb = weights.reduce((sum, { mb }) => sum + mb, 0);
  const heaviest = weights
    .toSorted((one, other) => other.mb - one.mb)
    .slice(0, process.argv.includes('--list') ? 20 : 5);
  for (const { path, mb } of heaviest)
    console.log(`${mb.toFixed(1).padStart(8)} MB  ${path.replace('node_modules/', '')}`);
  const installed = weights.filter(({ mb }) => mb > 0).length;
  console.log(`${totalMb.toFixed(0)} MB in ${installed} packages without development packages; at most ${limitMb} MB.`);
  process.exitCode = totalMb <= limitMb ? 0 : 1;
}
