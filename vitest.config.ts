import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { noCitus } from './test/support/servers/citus-cluster.ts';
import { serverAnswers } from './test/support/servers/postgres-server.ts';

// What is about an embedded server itself.
const embeddedOnly = [
  'test/store/engine/embedded-*.test.ts',
  'test/store/kill.test.ts',
  'test/store/engine/codec.test.ts',
];

const projects = [
  {
    extends: true as const,
    test: {
      name: 'embedded',
      include: ['test/**/*.test.ts'],
      exclude: [...configDefaults.exclude, 'test/citus/**'],
      globalSetup: ['test/support/servers/embedded-server.ts'],
    },
  },
  // The store and the contract once more, on a PostgreSQL server.
  {
    extends: true as const,
    test: {
      name: 'server',
      include: ['store', 'contract', 'fuzz', 'rest', 'schema', 'graphql', 'upgrade'].map(
        (folder) => `test/${folder}/**/*.test.ts`,
      ),
      exclude: [...configDefaults.exclude, ...embeddedOnly],
      globalSetup: ['test/support/servers/postgres-server.ts'],
      // Most generated requests end before the store: a part of them will do.
      env: { FUZZ_COUNT: process.env.FUZZ_COUNT ?? '2000', TEST_STORE: 'server' },
    },
  },
];

// Of the contract on Citus: what pages, follows and writes through a client's eyes. What ends before the store, or reads
// as the routes of `test/citus` do, is not asked again.
const contractOnCitus = [
  'test/contract/cursor-walks.test.ts',
  'test/contract/replayed-clock.test.ts',
  'test/contract/stream-endpoints.test.ts',
  'test/rest/stream.test.ts',
];

// A store distributed over a Citus cluster.
const citusIsMissing = noCitus();
if (citusIsMissing !== null) console.warn(`The tests on Citus are skipped: ${citusIsMissing}.`);
const citus = {
  extends: true as const,
  test: {
    name: 'citus',
    testTimeout: 60_000,
    hookTimeout: 180_000,
    include: process.env.CITUS_TESTS?.split(',') ?? ['test/citus/**/*.test.ts', ...contractOnCitus],
    globalSetup: ['test/support/servers/citus-server.ts'],
  },
};

export default defineConfig(async () => ({
  test: {
    projects: [
      ...((await serverAnswers()) ? projects : projects.slice(0, 1)),
      ...(citusIsMissing === null ? [citus] : []),
    ],
    setupFiles: ['test/support/property-seed.ts'],
    // One worker a core: a test waits for its database most of the time.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two copies of graphql in one process refuse each other's schemas: everyone gets this one.
    alias: [
      { find: /^graphql$/, replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)) },
    ],
  },
}));
