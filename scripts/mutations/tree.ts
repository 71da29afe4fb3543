import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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
  git(tree, 'checkout', '--quiet', '--', 'src');
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

/** Whether the place of a mutation is in the tree as it was when it was chosen. */
export function isIn(tree: string, mutation: Mutation): boolean {
  const path = join(tree, mutation.file);
  return existsSync(path) && mutated(readFileSync(path, 'utf8'), mutation) !== null;
}

/** Runs `act` while the mutations are in the tree, and takes them out again. Those of one file go in from its end. */
export async function withMutations<T>(tree: string, mutations: Mutation[], act: () => Promise<T>): Promise<T> {
  const original = new Map<string, string>();
  for (const mutation of mutations.toSorted((a, b) => b.start - a.start)) {
    const path = join(tree, mutation.file);
    const text = readFileSync(path, 'utf8');
    const changed = mutated(text, mutation);
    if (changed === null) continue;
    if (!original.has(path)) original.set(path, text);
    writeFileSync(path, changed);
  }
  try {
    return await act();
  } finally {
    for (const [path, text] of original) writeFileSync(path, text);
  }
}
