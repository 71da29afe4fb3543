import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { editedByGuide, guidePatch } from './guide-example.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const left = ['node_modules', '.git', '.data', '.cache', 'coverage'];
const guide = /## Adding a route\n(.*?)\n## /s.exec(readFileSync(join(root, 'docs/architecture.md'), 'utf8'))![1]!;

/** A copy of this tree with the example of the guide. */
let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'tapegraph-guide-'));
  cpSync(root, copy, { recursive: true, filter: (path) => !left.includes(basename(path)) });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(copy, 'node_modules'), 'junction');
  run('git', 'apply', guidePatch);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Runs a command in the copy, without what vitest tells its own processes. Returns what it printed. */
function run(command: string, ...args: string[]): string {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$)/.test(name),
  );
  const path = [join(copy, 'node_modules/.bin'), process.env.PATH].join(process.platform === 'win32' ? ';' : ':');
  const env = { ...Object.fromEntries(inherited), PATH: path, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, env, encoding: 'utf8' });
  expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

const tests = (...args: string[]) => run('vitest', 'run', '--project', 'fast', '--maxWorkers', '1', ...args);

describe('the guide to adding a route', { timeout: 600_000 }, () => {
  test('names the files of src/ that its example edits, at most five', () => {
    const inSource = editedByGuide.filter((path) => path.startsWith('src/'));
    expect(inSource.length).toBeLessThanOrEqual(5);
    const named = [...guide.matchAll(/^\d\. `([^`]+)`/gm)].map(([, path]) => `src/${path}`);
    expect(named.sort()).toEqual(inSource.sort());
    for (const path of editedByGuide.filter((each) => each.startsWith('test/'))) expect(guide).toContain(`\`${path}\``);
  });

  test('gives a route that has its types, and is printed', () => {
    run('tsc', '--noEmit');
    run('node', 'scripts/print-schema.ts');
    expect(readFileSync(join(copy, 'routes.txt'), 'utf8')).toMatch(/^GET +\/v2\/flow\/:symbol\/totals +flow-totals /m);
    expect(readFileSync(join(copy, 'schema.graphql'), 'utf8')).toContain('type FlowTotalsPage');
  });

  test('gives a route that is served, is shown at /docs and passes the contract tests', () => {
    tests('test/rest/flow/totals.test.ts', 'test/contract/public-names.test.ts');
    const suites = ['openapi', 'entitlement-matrix', 'stored-operations', 'sent-texts', 'http-rules'];
    const named = '/v2/flow/:symbol/totals|a source that is not configured';
    const passed = tests(...suites.map((name) => `test/contract/${name}.test.ts`), '-t', named);
    expect(passed).toMatch(/Test Files +5 passed/);
  });
});
