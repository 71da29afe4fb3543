// Copies of a store that the oldest release filled, for each of which only what a test does to it counts.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type OwnGateway, type Settings, startGateway } from '../../scripts/own-gateway.ts';
import { type Filled, fillStore, startRelease } from '../../scripts/upgrade/fill.ts';
import { findLocation } from '../../src/store/embedded/embedded-location.ts';
import { isRunning, openEmbeddedServer, readPostmaster } from '../../src/store/embedded/embedded-server.ts';

/** Whose gateway. */
export type Version = 'old' | 'new';

/** A store by which gateways of both versions are started. */
export interface OldStore {
  settings: Settings;
  /** A gateway by a clock; ended with the store unless it was ended before. */
  gateway(version: Version, clock: string): Promise<OwnGateway>;
}

/** The stores of a test file. */
export interface OldStores {
  filled: Filled;
  /** Release and log of the gateways. */
  release: string;
  /** A copy of the filled store. */
  copy(): Promise<OldStore>;
  /** Ends every gateway and removes every store. */
  remove(): Promise<void>;
}

// Limits that tests reach; the rest is as released.
const limits = Object.fromEntries(['FREE', 'BASIC', 'PRO', 'ANONYMOUS'].map((tier) => [`RATE_${tier}`, '1000000']));

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph upgrade '));
  // Root's embedded server runs as another user.
  chmodSync(folder, 0o755);
  return folder;
}

/** Ends an embedded server whose gateway was killed. */
async function stopEmbedded(folder: string): Promise<void> {
  const { cluster } = findLocation(folder);
  const postmaster = readPostmaster(cluster);
  if (!postmaster || !isRunning(postmaster, cluster)) return;
  // A process group of its own: its children go with it.
  process.kill(-postmaster.pid, 'SIGKILL');
  while (isRunning(postmaster, cluster)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Makes the sample market's data an operator's own, by the names of its files: simulated data would not be served
 * beside the vendor files' (store-origin.slow.test.ts).
 */
async function ownData(dataDir: string): Promise<void> {
  const server = await openEmbeddedServer({ dataDir });
  const client = new pg.Client(server.connection);
  await client.connect();
  await client.query(`UPDATE ingested_files SET name = regexp_replace(name, '[\\\\/]sample[\\\\/]', '/own/')`);
  await client.query(`DELETE FROM store_facts WHERE key = 'sample'`);
  await client.end();
  await server.close();
}

/** Fills a store in a folder. */
export async function fillOldStores(release: string, everything: boolean): Promise<OldStores> {
  const folders: string[] = [];
  const gateways: OwnGateway[] = [];

  async function newStore(from: Settings | null): Promise<Settings> {
    const folder = newFolder();
    folders.push(folder);
    // With owners and modes, as docs/operations.md copies a store that is stopped.
    if (from) execFileSync('cp', ['-a', `${from.TAPEGRAPH_DATA}/.`, folder]);
    return { ...limits, TAPEGRAPH_DATA: folder };
  }

  const log = (settings: Settings) => join(settings.TAPEGRAPH_DATA!, 'gateways.log');
  const first = await newStore(null);
  const filled = await fillStore(release, first, { everything, logFile: log(first) });
  await ownData(first.TAPEGRAPH_DATA!);
  return {
    filled,
    release,
    async copy() {
      const settings = await newStore(first);
      return {
        settings,
        async gateway(version, clock) {
          const gateway =
            version === 'old'
              ? await startRelease(release, settings, clock, log(settings))
              : await startGateway(settings, ['--clock', clock], log(settings));
          gateways.push(gateway);
          return gateway;
        },
      };
    },
    async remove() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      for (const folder of folders) await stopEmbedded(folder);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}
