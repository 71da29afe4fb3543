// Vitest's global setup: one embedded server for the whole run, with a migrated database to make each test file's from.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/connection.ts';
import { openEmbeddedServer } from '../../src/store/embedded-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How to reach the run's embedded server; `database` is the migrated template. */
    embeddedServer: { host: string; port: number; user: string; template: string };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tapegraph-test-'));
  // Open for root's server, which runs as another user.
  chmodSync(dataDir, 0o755);
  const server = await openEmbeddedServer({ dataDir });
  const store = await openStore({ databaseUrl: null, dataDir, poolSize: 2 });
  await store.close();
  const { host, port, user, database } = server.connection;
  project.provide('embeddedServer', { host: host!, port: port!, user: user!, template: database! });
  return async () => {
    // Whatever a test file left open would keep the server: it goes with the run.
    const client = new pg.Client({ ...server.connection, database: 'postgres' });
    await client.connect();
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = $1',
      ['tapegraph'],
    );
    await client.end();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
