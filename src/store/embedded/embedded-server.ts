import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { beforeSuddenEnd } from '../../platform/runtime/sudden-end.ts';
import { storeError } from '../rows/store-error.ts';
import { dataFolderError, isLasting, namingDataFolder } from './data-folder-error.ts';
import { createCluster, passwordOf, type SpawnedServer, spawnServer } from './embedded-cluster.ts';
import { type EmbeddedLocation, findLocation } from './embedded-location.ts';
import { leave, leaveAtOnce, type Presence, takePart } from './embedded-presence.ts';
import { isRunning, type Postmaster, readPostmaster, removeStaleLocks } from './postmaster-file.ts';

/** An embedded PostgreSQL, shared by all processes that opened the same data folder. */
export interface EmbeddedServer {
  /** Connection settings for `pg`; the database is the store's. */
  connection: pg.ClientConfig;
  /** True if this process started it; false: it was already running. */
  started: boolean;
  /** Leaves it; the last user stops it and waits until it has ended. */
  close(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** Folder of the cluster; created if absent. */
  dataDir: string;
  /** Called with a line to log. */
  log?: (line: string) => void;
  /** Aborted when it is no longer needed: a waiting open rejects with the reason. */
  stop?: AbortSignal | undefined;
  /** PostgreSQL settings that differ from the defaults, if this starts the server. */
  settings?: Record<string, string>;
}

const storeDatabase = 'tapegraph';
const patienceMs = 60_000;
const pollMs = 20;
const pauseAfterFailureMs = 5_000;
const mostAttempts = 6;
/** Time for a server to notice that its users were killed, ms. */
const killedUsersMs = 5_000;
/** Time for which a process that ends immediately checks whether it is the last user, ms. */
const lastLookMs = 300;

/**
 * Joins the embedded server of a data folder, or starts it, creating its cluster first. A server that ends unexpectedly
 * is restarted. It runs independently of the process that started it, until its last user has left.
 */
export async function openEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { dataDir, log = () => {}, stop = new AbortController().signal, settings = {} } = options;
  const { location, ...joined } = await joinIn(dataDir, stop, settings);
  let { presence, started } = joined;
  const closing = new AbortController();
  const { signal } = closing;
  let recovery = Promise.resolve();

  const watch = () => {
    presence.client.once('end', () => {
      if (!signal.aborted) recovery = recover();
    });
  };
  const recover = async () => {
    log('The embedded database stopped; restarting it.');
    while (!signal.aborted) {
      try {
        ({ presence, started } = await join(location, signal, settings));
        watch();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log(`Restarting the embedded database failed: ${(error as Error).message}`);
        await pause(pauseAfterFailureMs, { signal, ref: false });
      }
    }
  };
  const forget = beforeSuddenEnd(async () => {
    closing.abort();
    await leaveAtOnce(location, presence, lastLookMs);
  });
  const close = async () => {
    if (signal.aborted) return;
    closing.abort();
    await recovery;
    await leave(location, presence);
    forget();
  };

  watch();
  try {
    await createStoreDatabase(presence.client);
  } catch (error) {
    await close();
    throw error;
  }
  return { connection: { ...presence.connection, database: storeDatabase }, started, close };
}

/** Stops the server of a data folder if it has no user: killed processes leave it behind. Returns when it has ended. */
export async function stopIfUnused(dataDir: string): Promise<void> {
  const location = findLocation(dataDir);
  const stop = AbortSignal.timeout(killedUsersMs);
  while (!stop.aborted) {
    const postmaster = readPostmaster(location.cluster);
    if (postmaster === null || !isRunning(postmaster, location.cluster)) return;
    const presence = await takePart(location, postmaster, stop);
    if (presence) return leave(location, presence, killedUsersMs);
    // It is starting or stopping.
    await pause(pollMs, { signal: stop });
  }
}

/** This process as a user of a server. */
interface Joined {
  presence: Presence;
  started: boolean;
}

async function joinIn(
  dataDir: string,
  stop: AbortSignal,
  settings: Record<string, string>,
): Promise<Joined & { location: EmbeddedLocation }> {
  try {
    const location = findLocation(dataDir);
    return { location, ...(await join(location, stop, settings)) };
  } catch (error) {
    throw namingDataFolder(dataDir, error);
  }
}

/** Waits until the time is over or `stop` is aborted. */
async function pause(ms: number, how: { signal: AbortSignal; ref?: boolean }): Promise<void> {
  await delay(ms, undefined, how).catch(() => {});
}

async function join(location: EmbeddedLocation, stop: AbortSignal, settings: Record<string, string>): Promise<Joined> {
  const giveUpAt = performance.now() + patienceMs;
  let server: SpawnedServer | null = null;
  let attempts = 0;
  while (!stop.aborted) {
    const postmaster = readPostmaster(location.cluster);
    const presence = postmaster && (await takePart(location, postmaster, stop));
    if (presence !== null) return { presence, started: server !== null && !server.hasEnded() };
    if (performance.now() > giveUpAt) throw notAnswering(location, postmaster, server?.said());
    if (server?.hasEnded()) {
      // Another starter, or the last connections of a killed server, may be in the way: both are temporary.
      const said = server.said();
      if (isLasting(said)) throw dataFolderError(location.home, said);
      if (attempts >= mostAttempts) throw notAnswering(location, postmaster, said);
      server = null;
      await pause(50 * attempts, { signal: stop });
    } else if (server === null && !(postmaster !== null && isRunning(postmaster, location.cluster))) {
      attempts++;
      server = await start(location, stop, settings);
    }
    await pause(pollMs, { signal: stop });
  }
  // A server that this process started, and that does not answer yet, has no other users.
  server?.stop();
  while (server && !server.hasEnded() && performance.now() < giveUpAt) await delay(pollMs);
  throw stop.reason;
}

async function start(
  location: EmbeddedLocation,
  stop: AbortSignal,
  settings: Record<string, string>,
): Promise<SpawnedServer> {
  removeStaleLocks(location.cluster, location.socketDir);
  passwordOf(location);
  await createCluster(location, stop);
  return spawnServer(location, await choosePort(), settings);
}

function notAnswering(location: EmbeddedLocation, postmaster: Postmaster | null, said: string | undefined): Error {
  const what = postmaster === null ? 'did not start' : `(process ${postmaster.pid}) does not answer`;
  const log = said === undefined ? `Its log is ${location.logFile}.` : `Its log, ${location.logFile}, ends:\n${said}`;
  return storeError(`The embedded PostgreSQL in ${location.cluster} ${what}. ${log}`);
}

async function createStoreDatabase(client: pg.Client): Promise<void> {
  const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [storeDatabase]);
  if (found.rowCount !== 0) return;
  await client.query(`CREATE DATABASE ${storeDatabase}`).catch((error: { code?: string }) => {
    // Another process was faster.
    if (error.code !== '42P04' && error.code !== '23505') throw error;
  });
}

/** Any free port on Windows; elsewhere the number is only part of the socket's name. */
async function choosePort(): Promise<number> {
  if (process.platform !== 'win32') return 5432;
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
