import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const textOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null);
const stampOf = (folder) => join(folder, 'node_modules/.tapegraph-ready');
const lockHashOf = (folder) =>
  createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');

// A folder's node_modules is of the scope "all", "run" (without development packages), or "none". It is "adding" while
// npm adds development packages: if that is killed, what runs is intact, and the rest is installed from nothing.

/** True if node_modules holds what the lock file lists for a scope, also if `npm ci` was run by hand. */
function holds(folder, scope) {
  const hidden = textOf(join(folder, 'node_modules/.package-lock.json'));
  if (hidden === null) return false;
  const installed = JSON.parse(hidden).packages ?? {};
  const wanted = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages ?? {};
  return Object.entries(wanted).every(
    ([path, { optional, devOptional, dev, version }]) =>
      path === '' || optional || devOptional || (dev && scope === 'run') || installed[path]?.version === version,
  );
}

/** The C library of a Linux machine, in npm's words. */
function libraryOfMachine() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

/** Packages made for this machine that npm skipped: it does without an optional one that it could not download. */
export function skippedPackages(folder) {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const isForThisMachine = ({ optional, dev, os, cpu, libc }) =>
    optional &&
    !dev &&
    [os].flat().includes(process.platform) &&
    [cpu].flat().includes(process.arch) &&
    (libc === undefined || [libc].flat().includes(libraryOfMachine()));
  return Object.keys(packages ?? {})
    .filter((path) => isForThisMachine(packages[path]) && !existsSync(join(folder, path, 'package.json')))
    .map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
}

function writeStamp(folder, scope) {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(stampOf(folder), scope === 'all' ? lockHashOf(folder) : `${lockHashOf(folder)} ${scope}`);
}

function scopeOf(folder) {
  const modules = join(folder, 'node_modules');
  // A linked node_modules belongs to its owner.
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) return 'all';
  const stamp = textOf(stampOf(folder));
  if (stamp !== null) {
    const [hash, scope = 'all'] = stamp.split(' ');
    return hash === lockHashOf(folder) ? scope : 'none';
  }
  const found = ['all', 'run'].find((scope) => holds(folder, scope));
  if (found) writeStamp(folder, found);
  return found ?? 'none';
}

/** True if a folder lacks packages of a scope, "run" or "all". */
export function packagesAreMissing(folder, wanted) {
  const scope = scopeOf(folder);
  return scope === 'none' || (wanted === 'all' && scope !== 'all');
}

/** Installs a scope's packages with `npm`, and writes down that it has. */
export async function installPackages(npm, folder, wanted) {
  if (scopeOf(folder) !== 'run') {
    try {
      await npm(folder, ['ci', wanted === 'run' ? '--omit=dev' : '--include=dev']);
      return writeStamp(folder, wanted);
    } catch (error) {
      // Existing packages must not be taken for a manual install.
      writeStamp(folder, 'none');
      throw error;
    }
  }
  // Adds to what is there: `npm ci` would take the packages of a running server away.
  writeStamp(folder, 'adding');
  try {
    await npm(folder, ['install', '--no-save', '--include=dev']);
    writeStamp(folder, 'all');
  } catch (error) {
    // npm has undone what it had begun.
    if (error.npmStatus > 0) writeStamp(folder, 'run');
    throw error;
  }
}
