// Vitest's global setup of the project `embedded`: one embedded server for the whole run.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbeddedServer } from '../../../src/store/embedded/embedded-server.ts';
import { makeTemplate, onServer } from './template-database.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tapegraph-test-'));
  // Open for root's server, which runs as another user.
  chmodSync(dataDir, 0o755);
  const server = await openEmbeddedServer({ dataDir });
  const { host, port, user } = server.connection;
  const where = new URLSearchParams({ host: host!, port: String(port) });
  const url = `postgresql://${user}@/{database}?${where}`;
  // Nothing of a run is to outlive the machine: no commit waits for the disk.
  await onServer(url, `alter role ${user} set synchronous_commit = off`);
  const dropAll = await makeTemplate(project, url);
  return async () => {
    await dropAll();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
