import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { createCluster, spawnServer, stopServer, superuser } from '../../../src/store/embedded/embedded-cluster.ts';
import { type EmbeddedLocation, findLocation } from '../../../src/store/embedded/embedded-location.ts';
import { isRunning, readPostmaster } from '../../../src/store/embedded/embedded-server.ts';

/** A PostgreSQL server of a test's own, which it may stop, kill, and start again. Gone when the test ends. */
export interface OwnPostgres {
  url(database?: string): string;
  /** Starts it and waits until it answers. */
  start(): Promise<void>;
  /** Ends its connections and stops it, everything committed being on disk. */
  stop(): Promise<void>;
  /** Kills every process of it at once. */
  kill(): Promise<void>;
  /** One statement in `postgres`, or the database given, on a connection made for it. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Starts a standby that streams from this server, copied from its files while it is stopped; both are started. */
  standby(): Promise<OwnPostgres>;
}

const port = 5432;

function newLocation(): EmbeddedLocation {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-pg-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return findLocation(folder);
}

function serverIn(location: EmbeddedLocation): OwnPostgres {
  const own = serverAt(location);
  onTestFinished(() => own.kill());
  return own;
}

function serverAt(location: EmbeddedLocation): OwnPostgres {
  const url = (database = 'postgres') =>
    `postgresql://${superuser}@/${database}?${new URLSearchParams({ host: location.socketDir })}`;
  const running = () => {
    const postmaster = readPostmaster(location.cluster);
    return postmaster && isRunning(postmaster, location.cluster) ? postmaster : null;
  };
  const ended = async () => {
    while (running()) await delay(10);
  };
  const query = async (sql: string, database?: string) => {
    const client = new pg.Client({ connectionString: url(database), connectionTimeoutMillis: 5000 });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const own: OwnPostgres = {
    url,
    query,
    async start() {
      const { said, hasEnded } = spawnServer(location, port);
      while (!(await query('select 1').catch(() => null))) {
        if (hasEnded()) throw new Error(`the server did not start: ${said()}`);
        await delay(20);
      }
    },
    async stop() {
      const postmaster = running();
      if (postmaster) stopServer(location, postmaster.pid);
      await ended();
    },
    async kill() {
      const postmaster = running();
      // A process group of its own: its children go with it.
      if (postmaster) process.kill(-postmaster.pid, 'SIGKILL');
      await ended();
    },
    async standby() {
      await own.stop();
      const other = newLocation();
      // With owners and modes, which PostgreSQL is strict about.
      execFileSync('cp', ['-a', location.cluster, other.cluster]);
      writeFileSync(join(other.cluster, 'standby.signal'), '');
      const primary = `host=${location.socketDir} port=${port} user=${superuser}`;
      writeFileSync(join(other.cluster, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
      await own.start();
      const second = serverIn(other);
      await second.start();
      return second;
    },
  };
  return own;
}

/** Starts a new, empty server on a Unix socket. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const location = newLocation();
  await createCluster(location);
  const own = serverIn(location);
  await own.start();
  return own;
}
