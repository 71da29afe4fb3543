// Empty stores on an embedded server of this process, in memory where there is a file system of it, without fsync.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbeddedServer } from '../../src/store/embedded/embedded-server.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { isInMemory, memoryFolder } from '../support/servers/memory-folder.ts';
import { databaseUrl, onServer } from '../support/servers/template-database.ts';
import type { NewStore } from './explore.ts';

const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_wal_size: '1GB' };

/** Starts the server; `close` ends it and removes its folder. */
export async function openStores(): Promise<{ newStore: NewStore; close: () => Promise<void> }> {
  const folder = memoryFolder();
  const dataDir = mkdtempSync(join(folder, 'tapegraph-model-'));
  chmodSync(dataDir, 0o755);
  const server = await openEmbeddedServer({ dataDir, settings });
  const { host, port, user } = server.connection;
  const url = `postgresql://${user}@/{database}?${new URLSearchParams({ host: host!, port: String(port) })}`;
  const template = 'model_template';
  await onServer(url, `create database ${template}`);
  await (await openStore({ databaseUrl: databaseUrl(url, template), dataDir: '', poolSize: 2 })).close();
  let made = 0;
  return {
    async newStore() {
      const database = `model_${++made}`;
      const strategy = isInMemory(folder) ? 'strategy file_copy' : '';
      await onServer(url, `create database ${database} template ${template} ${strategy}`);
      const own = databaseUrl(url, database);
      const store = await openStore({ databaseUrl: own, dataDir: '', migrate: false });
      const close = async () => {
        await store.close();
        await onServer(url, `drop database if exists ${database} with (force)`);
      };
      return { ...store, databaseUrl: own, close };
    },
    async close() {
      await server.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
