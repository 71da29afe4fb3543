// The PostgreSQL and the Redis of a soak: of its own, so that they can be cut, stopped and killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createCluster, spawnServer, stopServer, superuser } from '../../src/store/embedded/embedded-cluster.ts';
import { type EmbeddedLocation, findLocation } from '../../src/store/embedded/embedded-location.ts';
import { isRunning, readPostmaster } from '../../src/store/embedded/embedded-server.ts';

const port = 5432;

/** A PostgreSQL server on a Unix socket below the data folder. */
export interface OwnPostgres {
  url: string;
  start(): Promise<void>;
  /** Fast shutdown: ends its connections, and everything committed is on disk. */
  stop(): Promise<void>;
  /** Ends every process of it at once. */
  kill(): Promise<void>;
  /** Ends the connections of the gateway. */
  cutConnections(): Promise<void>;
}

/** Makes a cluster in the folder; `start` starts it. */
export async function makePostgres(folder: string): Promise<OwnPostgres> {
  const location: EmbeddedLocation = findLocation(folder);
  await createCluster(location);
  const url = `postgresql://${superuser}@/postgres?${new URLSearchParams({ host: location.socketDir })}`;
  const running = () => {
    const postmaster = readPostmaster(location.cluster);
    return postmaster && isRunning(postmaster, location.cluster) ? postmaster : null;
  };
  const ended = async () => {
    while (running()) await delay(20);
  };
  const query = async (sql: string) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return {
    url,
    async start() {
      let { said, hasEnded } = spawnServer(location, port);
      const answers = () =>
        query('select 1').then(
          () => true,
          () => false,
        );
      for (let tries = 1; !(await answers()); ) {
        // A killed server's process may still be listed for an instant, and its lock then counts.
        if (hasEnded() && tries++ === 20) throw new Error(`PostgreSQL did not start: ${said()}`);
        await delay(100);
        if (hasEnded()) ({ said, hasEnded } = spawnServer(location, port));
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
    cutConnections: () =>
      query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $$client backend$$',
      ),
  };
}

/** A Redis server on a loopback port, which keeps nothing. */
export interface OwnRedis {
  url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Ends the connections of its clients. */
  cutConnections(): Promise<void>;
}

/** A TCP port of this machine that is free now. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return found;
}

async function redisCommand(redisPort: number, ...args: [string, ...string[]]): Promise<boolean> {
  const redis = new Redis(redisPort, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    await redis.call(...args);
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/** Prepares a Redis; `start` starts it. */
export async function makeRedis(folder: string): Promise<OwnRedis> {
  const dir = join(folder, 'redis');
  mkdirSync(dir, { recursive: true });
  const redisPort = await freePort();
  let server: ChildProcess | null = null;
  return {
    url: `redis://127.0.0.1:${redisPort}`,
    async start() {
      server = spawn(
        'redis-server',
        ['--port', String(redisPort), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'],
        { stdio: 'ignore' },
      );
      while (!(await redisCommand(redisPort, 'PING'))) await delay(50);
    },
    async kill() {
      if (!server || server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      server = null;
    },
    async cutConnections() {
      await redisCommand(redisPort, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
  };
}
