import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/embedded-server.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two copies of graphql in one process refuse each other's schemas: everyone gets this one.
    alias: [
      { find: /^graphql$/, replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)) },
    ],
  },
});
