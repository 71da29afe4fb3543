// Vitest's global setup of the project `embedded`: one embedded server for the whole run.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbeddedServer } from '../../../src/store/embedded/embedded-server.ts';
import { memoryFolder } from './memory-folder.ts';
import { makeTemplate } from './template-database.ts';

// Nothing of a run is to outlive the machine: no commit, and no new database, waits for the disk.
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_wal_size: '1GB' };

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(memoryFolder(), 'tapegraph-test-'));
  // Open for root's server, which runs as another user.
  chmodSync(dataDir, 0o755);
  const server = await openEmbeddedServer({ dataDir, settings });
  const { host, port, user } = server.connection;
  const where = new URLSearchParams({ host: host!, port: String(port) });
  const url = `postgresql://${user}@/{database}?${where}`;
  // Files are copied at a third of the price of pages: nothing is written ahead.
  const dropAll = await makeTemplate(project, url, { copying: 'strategy file_copy' });
  return async () => {
    await dropAll();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
