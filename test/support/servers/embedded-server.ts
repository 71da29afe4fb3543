// Vitest's global setup of the project `embedded`: one embedded server for the whole run.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbeddedServer } from '../../../src/store/embedded/embedded-server.ts';
import { isInMemory, memoryFolder } from './memory-folder.ts';
import { makeTemplate } from './template-database.ts';

// Nothing of a run is to outlive the machine: no commit, and no new database, waits for the disk.
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_wal_size: '1GB' };

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = memoryFolder();
  const dataDir = mkdtempSync(join(folder, 'tapegraph-test-'));
  // Open for root's server, which runs as another user.
  chmodSync(dataDir, 0o755);
  const server = await openEmbeddedServer({ dataDir, settings });
  const { host, port, user } = server.connection;
  const where = new URLSearchParams({ host: host!, port: String(port) });
  const url = `postgresql://${user}@/{database}?${where}`;
  // Copied files are not written ahead, but wait for two checkpoints, which cost little in memory alone.
  const copying = isInMemory(folder) ? 'strategy file_copy' : '';
  const dropAll = await makeTemplate(project, url, { copying });
  return async () => {
    await dropAll();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
