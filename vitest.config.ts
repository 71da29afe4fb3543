import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { NotRunReporter } from './test/support/not-run.ts';
import { noCitus } from './test/support/servers/citus-cluster.ts';
import { memoryFolder } from './test/support/servers/memory-folder.ts';
import { noServer } from './test/support/servers/postgres-server.ts';

/** A name says in which tiers a file runs: `fast.test.ts`, `x.slow.test.ts`, `x.browser.test.ts`, `x.server.test.ts`. */
const named = (tag: string) => `test/**/*.${tag}{,.slow}.test.ts`;
const slow = 'test/**/*.slow.test.ts';
const browser = named('browser');
const onCluster = 'test/citus/**/*.test.ts';
const embedded = ['test/support/servers/embedded-server.ts'];

// What `npm test` runs.
const fast = {
  extends: true as const,
  test: {
    name: 'fast',
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, slow, browser, onCluster],
    globalSetup: embedded,
  },
};

// What `npm run test:all` adds: processes that are killed and drained, upgrades, fuzzing, client generators, real tapes.
// What also concerns a server runs once: there, if it answers.
const long = (isServerThere: boolean) => ({
  extends: true as const,
  test: {
    name: 'slow',
    testTimeout: 180_000,
    hookTimeout: 300_000,
    include: [slow],
    exclude: [...configDefaults.exclude, ...(isServerThere ? [named('server')] : [])],
    globalSetup: embedded,
  },
});

const inBrowser = {
  extends: true as const,
  test: {
    name: 'browser',
    include: [browser],
    globalSetup: [...embedded, 'test/support/built-pages.ts'],
  },
};

// What a PostgreSQL server can do otherwise than the embedded one: connections, permissions, statements of an older
// version, the order of a language, one pass over the routes.
const server = {
  extends: true as const,
  test: {
    name: 'server',
    include: [named('server')],
    globalSetup: ['test/support/servers/postgres-server.ts'],
  },
};

// A store distributed over a Citus cluster: its own tests, and what pages, follows and writes of the contract.
const citus = {
  extends: true as const,
  test: {
    name: 'citus',
    testTimeout: 120_000,
    hookTimeout: 300_000,
    include: process.env.CITUS_TESTS?.split(',') ?? [onCluster, named('citus')],
    globalSetup: ['test/support/servers/citus-server.ts'],
  },
};

export default defineConfig(async () => {
  const notRun = new NotRunReporter();
  const withoutServer = await noServer();
  const projects: object[] = [fast, long(withoutServer === null), inBrowser];
  for (const [project, why] of [
    [server, withoutServer],
    [citus, noCitus()],
  ] as const) {
    if (why === null) projects.push(project);
    else notRun.add(`the project ${project.test.name}`, why);
  }
  return {
    test: {
      projects,
      reporters: ['default', notRun],
      onConsoleLog: (line: string) => notRun.takeLine(line),
      setupFiles: ['test/support/property-seed.ts'],
      env: {
        // Processes that tests start load what Node compiled before, as the launcher has it: half the time of a start.
        NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/tapegraph', import.meta.url)),
        TMPDIR: memoryFolder(),
      },
      // The files of a worker share its modules: loading them anew for each is a sixth of the time.
      isolate: false,
      // Three workers for two cores, because tests wait for other processes. A percentage would end at the cores.
      maxWorkers: Math.ceil(1.5 * availableParallelism()),
      testTimeout: 60_000,
      hookTimeout: 120_000,
      // What is waited for comes; on a busy machine, late.
      expect: { poll: { timeout: 20_000 } },
      // Two copies of graphql in one process refuse each other's schemas: everyone gets this one.
      alias: [
        { find: /^graphql$/, replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)) },
      ],
    },
  };
});
