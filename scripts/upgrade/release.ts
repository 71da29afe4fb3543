// A release of the past, made ready to run beside this one.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The release before stores and caches were changed: the oldest that a store may come from. */
export const oldRelease = 'c949165';

/** Where a release lies, or why it cannot be run here. */
export type Release = { folder: string; absent: null } | { folder: null; absent: string };

const root = join(import.meta.dirname, '..', '..');
const modules = join(root, 'node_modules');
const cache = join(root, '.cache');
// Files that a gateway and a command line need.
const parts = ['src', 'bin', 'prisma', 'prisma.config.ts', 'scripts', 'proto', 'package.json', 'package-lock.json'];

// Packages that bore another name then: name now → name then.
const renamed: Readonly<Record<string, string>> = { 'prisma-cli': 'prisma' };

type Packages = Record<string, { version: string; dev?: boolean; optional?: boolean; devOptional?: boolean }>;

const packagesOf = (lockFile: string): Packages => JSON.parse(readFileSync(lockFile, 'utf8')).packages;

function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0;
}

function checkOut(commit: string, folder: string): void {
  const archive = join(folder, 'release.tar');
  execFileSync('git', ['archive', '--output', archive, commit, ...parts], { cwd: root });
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
}

/**
 * The packages of the release that are not installed here in its version, as `name@version`; null when one is within
 * another.
 */
function missingPackages(folder: string): string[] | null {
  const installed = packagesOf(join(modules, '.package-lock.json'));
  const missing: string[] = [];
  for (const [path, { version, dev, optional, devOptional }] of Object.entries(
    packagesOf(join(folder, 'package-lock.json')),
  )) {
    if (path === '' || dev || optional || devOptional || installed[path]?.version === version) continue;
    if (path.lastIndexOf('node_modules/') > 0) return null;
    missing.push(`${path.slice('node_modules/'.length)}@${version}`);
  }
  return missing;
}

/** Links the installed packages, each by itself: the folder of the links takes further ones. */
function linkPackages(target: string): void {
  for (const name of readdirSync(modules).filter((each) => !each.startsWith('.') || each === '.bin')) {
    const names = name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => join(name, each)) : [name];
    for (const each of names) {
      mkdirSync(dirname(join(target, each)), { recursive: true });
      symlinkSync(join(modules, each), join(target, renamed[each] ?? each), 'junction');
    }
  }
}

function installInto(target: string, packages: string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-packages-'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const flags = ['--no-save', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  try {
    execFileSync('npm', ['install', ...flags, ...packages], { cwd: folder, stdio: 'pipe' });
    // Not through a link to another version.
    for (const each of packages) rmSync(join(target, each.slice(0, each.lastIndexOf('@'))), { force: true });
    // Copied, not linked: they find the packages that they extend among the linked ones.
    cpSync(join(folder, 'node_modules'), target, { recursive: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeReady(folder: string): void {
  const missing = missingPackages(folder);
  // Otherwise the release's own script installs everything.
  if (missing !== null) {
    const target = join(folder, 'node_modules');
    linkPackages(target);
    if (missing.length > 0) installInto(target, missing);
    const lockHash = createHash('sha256')
      .update(readFileSync(join(folder, 'package-lock.json')))
      .digest('hex');
    writeFileSync(join(target, '.tapegraph-ready'), lockHash);
  }
  execFileSync(process.execPath, [join(folder, 'scripts/ready.mjs')], { cwd: folder, stdio: 'pipe' });
}

/**
 * Makes a release ready in `.cache/`, where later runs find it. Needs the repository's history, and npm when packages
 * are missing.
 */
export function prepareRelease(commit = oldRelease): Release {
  if (!existsSync(join(root, '.git')) || !hasCommit(commit))
    return { folder: null, absent: `commit ${commit} is not in this repository's history` };
  const packages = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
    .slice(0, 8);
  const folder = join(cache, `release-${commit}-${packages}`);
  if (existsSync(folder)) return { folder, absent: null };
  mkdirSync(cache, { recursive: true });
  // Its links are to packages of another installation.
  for (const name of readdirSync(cache).filter((each) => each.startsWith(`release-${commit}-`)))
    rmSync(join(cache, name), { recursive: true, force: true });
  const made = mkdtempSync(join(cache, 'making-'));
  try {
    checkOut(commit, made);
    makeReady(made);
    // Two may make it at once: the first to be done gives it its name.
    if (!existsSync(folder)) renameSync(made, folder);
    return { folder, absent: null };
  } catch (error) {
    if (existsSync(folder)) return { folder, absent: null };
    if (process.env.CI === 'true') throw error;
    return { folder: null, absent: `release ${commit} could not be made ready: ${(error as Error).message}` };
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
