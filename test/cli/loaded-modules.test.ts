import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestStore, testStore } from '../support/store.ts';
import { launcher } from './command-line.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

// Prints each module's address on stderr as it is loaded.
const listing = `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({ load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context); } });
`;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The modules that a command loads: paths in the project. */
function modulesOf(args: readonly string[]): string[] {
  const preload = `--import=data:text/javascript,${encodeURIComponent(listing)}`;
  const ran = spawnSync(process.execPath, [preload, launcher, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: store.databaseUrl },
  });
  expect(ran).toMatchObject({ status: 0 });
  const urls = ran.stderr.split('\n').filter((line) => line.startsWith('file:'));
  return urls.map((url) => fileURLToPath(url).slice(root.length));
}

const layersOf = (modules: readonly string[]) =>
  new Set(modules.flatMap((path) => /^src\/(\w+)\//.exec(path)?.[1] ?? []));
const gateway = ['schema', 'resolvers', 'rest', 'graphql', 'mcp', 'live', 'sample', 'tape', 'observe'];

it.each([['--help'], ['--version'], ['serve --help'], ['ingest --help']])(
  'tapegraph %s loads neither the gateway nor the database',
  (line) => {
    const modules = modulesOf(line.split(' '));
    expect(modules).toContain('src/cli/run.ts');
    for (const layer of [...gateway, 'access']) expect(layersOf(modules)).not.toContain(layer);
    expect(modules.filter((path) => /^(generated\/store|node_modules\/pg)\//.test(path))).toEqual([]);
  },
);

it.each([
  ['account set me', 'src/access/identity/accounts.ts'],
  ['account list', 'src/access/identity/accounts.ts'],
  ['key create --account me', 'src/access/identity/api-keys.ts'],
  ['key list', 'src/access/identity/api-keys.ts'],
  ['session create --account me', 'src/access/identity/site-session.ts'],
])('tapegraph %s loads the store and its own part of access, but not the gateway', (line, own) => {
  const modules = modulesOf(line.split(' '));
  expect(modules).toEqual(expect.arrayContaining(['src/store/rows/connection.ts', own]));
  for (const layer of gateway) expect(layersOf(modules)).not.toContain(layer);
  expect(modules.filter((path) => /^(src\/access\/limits|node_modules\/ioredis)\//.test(path))).toEqual([]);
});
