import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutation, mutated } from './choose.ts';

const root = join(import.meta.dirname, '../..');

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
}

/** The full name of a commit. */
export function commitOf(name: string): string {
  return git(root, 'rev-parse', `${name}^{commit}`);
}

/** Packages are linked where the machine can link files and both trees want the same ones; else npm installs them. */
function linkPackages(tree: string, folder: string): void {
  const lock = (of: string) => readFileSync(join(of, folder, 'package-lock.json'), 'utf8');
  const from = join(root, folder, 'node_modules');
  const to = join(tree, folder, 'node_modules');
  if (existsSync(to) || !existsSync(from) || lock(root) !== lock(tree)) return;
  spawnSync('cp', ['-al', from, to], { stdio: 'ignore' });
}

/** Takes out what an interrupted run has left in a tree. */
export function restore(tree: string): void {
  git(tree, 'checkout', '--quiet', '--', 'src', 'vitest.config.ts');
}

/** A worktree of a commit, ready to run its tests. */
export function treeOf(commit: string, folder: string): string {
  const home = join(folder, commit.slice(0, 12));
  const tree = join(home, 'clone');
  if (existsSync(tree)) return tree;
  mkdirSync(home, { recursive: true });
  git(root, 'worktree', 'add', '--quiet', '--detach', tree, commit);
  // Some tests read what lies beside a clone.
  const shared = join(root, '../shared');
  if (existsSync(shared) && !existsSync(join(home, 'shared'))) symlinkSync(shared, join(home, 'shared'));
  for (const each of ['.', 'scripts/node', 'test/clients']) linkPackages(tree, each);
  execFileSync('npm', ['run', '--silent', 'pretest'], { cwd: tree, stdio: 'inherit' });
  return tree;
}

/** True if the location of a mutation is unchanged in the tree. */
export function isIn(tree: string, mutation: Mutation): boolean {
  const path = join(tree, mutation.file);
  return existsSync(path) && mutated(readFileSync(path, 'utf8'), mutation) !== null;
}

/** Runs `act` while files of the tree have other texts, and puts back what was there. */
export async function withTexts<T>(tree: string, texts: ReadonlyMap<string, string>, act: () => Promise<T>) {
  const paths = [...texts.keys()].map((file) => join(tree, file));
  const originals = paths.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : null));
  for (const [file, text] of texts) writeFileSync(join(tree, file), text);
  try {
    return await act();
  } finally {
    for (const [i, path] of paths.entries()) {
      if (originals[i] === null) rmSync(path);
      else writeFileSync(path, originals[i]!);
    }
  }
}
