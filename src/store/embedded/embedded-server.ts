import { existsSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { processExists } from '../../platform/runtime/folders.ts';
import { beforeSuddenEnd } from '../../platform/runtime/sudden-end.ts';
import { driverFailureOf } from '../rows/sql-state.ts';
import { storeError } from '../rows/store-error.ts';
import {
  createCluster,
  dataFolderError,
  isLasting,
  namingDataFolder,
  passwordOf,
  type SpawnedServer,
  spawnServer,
  stopServer,
  superuser,
} from './embedded-cluster.ts';
import { type EmbeddedLocation, findLocation } from './embedded-location.ts';

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
        ({ presence, started } = await joinServer(location, signal, settings));
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
    return { location, ...(await joinServer(location, stop, settings)) };
  } catch (error) {
    throw namingDataFolder(dataDir, error);
  }
}

/** Waits until the time is over or `stop` is aborted. */
async function pause(ms: number, how: { signal: AbortSignal; ref?: boolean }): Promise<void> {
  await delay(ms, undefined, how).catch(() => {});
}

async function joinServer(
  location: EmbeddedLocation,
  stop: AbortSignal,
  settings: Record<string, string>,
): Promise<Joined> {
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

/** This process as a user of a running embedded server. */
interface Presence {
  /** Holds the presence lock while it is connected. */
  client: pg.Client;
  /** Connection settings without the database. */
  connection: pg.ClientConfig;
  postmaster: Postmaster;
}

// Every process that uses the server holds this advisory lock, shared, on a separate connection. The server releases it
// when the process ends in any way; a leaving process that can take it exclusively was the last, and stops the server.
const presenceLock = "hashtext('tapegraph presence')";
const longestStopMs = 60_000;

// Not running: ENOENT, ECONNREFUSED, ECONNRESET. Stopping: 57P01; crashed: 57P02; starting up: 57P03.
const passing = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03']);

/** Throws for a cluster that was copied while its server ran: the copied file leads to the server of the original. */
function requireOwnServer({ home, cluster }: EmbeddedLocation, postmaster: Postmaster): void {
  const original = copiedFrom(postmaster, cluster);
  if (original === null) return;
  throw storeError(
    `The data folder ${home} is a copy of ${dirname(original)}, made while that one's database ran: it may be damaged, and is not opened. ` +
      `Stop every command that uses ${dirname(original)}, copy it again ("Backup" in docs/operations.md), and remove this copy. ` +
      `A snapshot of a whole file system is sound: remove ${join(cluster, 'postmaster.pid')} from it.`,
  );
}

/**
 * Joins the server of `postmaster.pid`; null if it is not running, or if `stop` is aborted first. Throws if that is the
 * server of another data folder.
 */
async function takePart(
  location: EmbeddedLocation,
  postmaster: Postmaster,
  stop: AbortSignal,
): Promise<Presence | null> {
  requireOwnServer(location, postmaster);
  if (!postmaster.port) return null;
  const connection = connectionTo(location, postmaster);
  const options = { application_name: 'tapegraph presence', connectionTimeoutMillis: 10_000 };
  const stream = new Socket();
  const client = new pg.Client({ ...connection, ...options, database: 'postgres', stream: () => stream });
  client.on('error', () => {});
  // The client would wait for a server that does not answer.
  const onStop = () => void stream.destroy();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    await client.connect();
    // Waits while the last user is stopping the server, and then fails with it.
    await client.query(`SELECT pg_advisory_lock_shared(${presenceLock})`);
    return { client, connection, postmaster };
  } catch (error) {
    await client.end().catch(() => {});
    if (stop.aborted) return null;
    const { code, message } = error as { code?: string; message: string };
    if (code === undefined ? driverFailureOf(error) !== null : passing.has(code)) return null;
    throw storeError(`The embedded PostgreSQL in ${location.cluster} refused the connection: ${message}`, error);
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

/**
 * Leaves the server; the last user stops it and returns when it has ended, with its data checkpointed. Checks for
 * `patienceMs` whether it is the last: killed users count until the server has noticed.
 */
async function leave(location: EmbeddedLocation, presence: Presence, patienceMs = 0): Promise<void> {
  if (await leaveAtOnce(location, presence, patienceMs)) await ended(location, presence.postmaster);
  await presence.client.end().catch(() => {});
}

/**
 * For a process that ends immediately: checks for `patienceMs` whether it is the last user, and stops the server
 * without waiting. Returns true if it did.
 */
async function leaveAtOnce(location: EmbeddedLocation, presence: Presence, patienceMs: number): Promise<boolean> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const stopped = await stopIfLast(location, presence);
    if (stopped !== false || performance.now() >= untilMs) return stopped === true;
    await delay(20);
  }
}

/**
 * Releases the presence lock and, if no other process holds it, stops the server. Returns true if it did; null = the
 * server is gone.
 */
async function stopIfLast(location: EmbeddedLocation, { client, postmaster }: Presence): Promise<boolean | null> {
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${presenceLock})`);
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${presenceLock}) AS alone`);
    if (rows[0]?.alone !== true) return false;
    stopServer(location, postmaster.pid);
    return true;
  } catch {
    return null;
  }
}

function connectionTo(location: EmbeddedLocation, postmaster: Postmaster): pg.ClientConfig {
  // The server's own file contains its socket's folder: TMPDIR may differ between two processes.
  const host = process.platform === 'win32' ? '127.0.0.1' : postmaster.socketDir || location.socketDir;
  const password = passwordOf(location);
  return { host, port: postmaster.port, user: superuser, ssl: false, ...(password === null ? {} : { password }) };
}

async function ended(location: EmbeddedLocation, stopped: Postmaster): Promise<void> {
  const giveUpAt = performance.now() + longestStopMs;
  while (performance.now() < giveUpAt) {
    // The file is removed last. A different file means that the next user has already started the server again.
    const now = readPostmaster(location.cluster);
    if (now === null || now.pid !== stopped.pid || !isRunning(now, location.cluster)) return;
    await delay(5);
  }
}

/** Properties of a running (or crashed) PostgreSQL in `postmaster.pid`. */
interface Postmaster {
  pid: number;
  /** The data folder of the server that wrote it: another one if the folder is a copy. */
  dataDir: string;
  /** Port; on Unix only part of the socket's name. */
  port: number;
  /** Folder of its Unix socket; empty on Windows and while unknown. */
  socketDir: string;
  /** Content of the file, to recognize it again. */
  text: string;
}

/** Reads `postmaster.pid` of a cluster; null if there is none, or it is incomplete. */
export function readPostmaster(cluster: string): Postmaster | null {
  return readLock(join(cluster, 'postmaster.pid'));
}

function readLock(path: string): Postmaster | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  // Lines: pid, data folder, start time, port, socket folder, listen address, shared memory key, status.
  const [pid, dataDir, , port, socketDir] = text.split('\n');
  if (!Number(pid)) return null;
  return { pid: Number(pid), dataDir: dataDir ?? '', port: Number(port ?? 0), socketDir: socketDir ?? '', text };
}

/** True if two paths lead to one folder. */
function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/**
 * The cluster from which this one was copied while its server ran, by the file that came with it; null if it is no such
 * copy. A folder that was moved is none: there is nothing left where it was.
 */
function copiedFrom({ dataDir }: Postmaster, cluster: string): string | null {
  const isThere = dataDir !== '' && existsSync(join(dataDir, 'PG_VERSION'));
  return isThere && !isSameFolder(dataDir, cluster) ? dataDir : null;
}

/** True if the process that wrote the file is still this cluster's server, not another one with the same number. */
export function isRunning({ pid }: Postmaster, cluster: string): boolean {
  if (!processExists(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    // The state follows the name, which is in parentheses; a zombie has ended and is not reaped yet.
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
    if (state === 'Z' || state === 'X') return false;
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false;
  } catch {
    return false;
  }
  try {
    // A server's working directory is its data folder. Only its own user (and root) may read that.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return true;
  }
}

/**
 * Removes lock files (`postmaster.pid` and the socket's) left by a crash. The server does so itself, except if the
 * process number now belongs to another process (after a reboot, in a container) or to a zombie: then it does not
 * start.
 */
function removeStaleLocks(cluster: string, socketDir: string): void {
  for (const path of [join(cluster, 'postmaster.pid'), join(socketDir, '.s.PGSQL.5432.lock')]) {
    const lock = readLock(path);
    if (lock === null || isRunning(lock, cluster)) continue;
    const aside = `${path}.stale-${process.pid}`;
    try {
      renameSync(path, aside);
    } catch {
      continue;
    }
    // A file that another starter wrote in the meantime is restored.
    if (readFileSync(aside, 'utf8') === lock.text) rmSync(aside);
    else renameSync(aside, path);
  }
}
