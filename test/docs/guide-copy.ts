import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { sharedDataFolder } from '../support/shared-data.ts';
import type { GuideExample } from './guide-example.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const left = ['node_modules', '.git', '.data', '.cache', 'coverage'];

/** A section of docs/architecture.md. */
export function guideSection(title: string): string {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  return new RegExp(`## ${title}\\n(.*?)\\n## `, 's').exec(text)![1]!;
}

/** Files of src/ that a guide's numbered list names, sorted. */
export function namedByGuide(guide: string): string[] {
  return [...guide.matchAll(/^\d\. `([^`]+)`/gm)].map(([, path]) => `src/${path}`).sort();
}

/** A copy of this tree with examples of guides. */
export interface GuideCopy {
  /** Runs a command in the copy and expects it to succeed. Returns what it printed. */
  run(command: string, ...args: string[]): string;
  /** Runs test files of the copy, named without `test/` and ending; of these the tests that match `-t`. */
  tests(files: readonly string[], ...options: string[]): string;
  /** The text of a file of the copy. */
  read(path: string): string;
  remove(): void;
}

/** Copies this tree and applies examples to it. */
export function guideCopy(...examples: readonly GuideExample[]): GuideCopy {
  const copy = mkdtempSync(join(tmpdir(), 'tapegraph-guide-'));
  cpSync(root, copy, { recursive: true, filter: (path) => !left.includes(basename(path)) });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(copy, 'node_modules'), 'junction');
  // Without what vitest tells its own processes.
  const run = (command: string, ...args: string[]) => {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$)/.test(name),
    );
    const path = [join(copy, 'node_modules/.bin'), process.env.PATH].join(process.platform === 'win32' ? ';' : ':');
    const env = {
      ...Object.fromEntries(inherited),
      PATH: path,
      NO_COLOR: '1',
      TAPEGRAPH_SHARED_DATA: sharedDataFolder,
    };
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, env, encoding: 'utf8' });
    expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  // One line of context is enough: the lists that an example extends get new neighbours.
  for (const { patch } of examples) run('git', 'apply', '-C1', patch);
  return {
    run,
    tests: (files, ...options) => {
      const paths = files.map((file) => `test/${file}.test.ts`);
      return run('vitest', 'run', '--project', 'fast', '--maxWorkers', '1', ...paths, ...options);
    },
    read: (path) => readFileSync(join(copy, path), 'utf8'),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}
