import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { driverFailureOf } from '../rows/sql-state.ts';
import { storeError } from '../rows/store-error.ts';
import { passwordOf, stopServer, superuser } from './embedded-cluster.ts';
import type { EmbeddedLocation } from './embedded-location.ts';
import { copiedFrom, isRunning, type Postmaster, readPostmaster } from './postmaster-file.ts';

/** This process as a user of a running embedded server. */
export interface Presence {
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
export async function takePart(
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
export async function leave(location: EmbeddedLocation, presence: Presence, patienceMs = 0): Promise<void> {
  if (await leaveAtOnce(location, presence, patienceMs)) await ended(location, presence.postmaster);
  await presence.client.end().catch(() => {});
}

/**
 * For a process that ends immediately: checks for `patienceMs` whether it is the last user, and stops the server
 * without waiting. Returns true if it did.
 */
export async function leaveAtOnce(
  location: EmbeddedLocation,
  presence: Presence,
  patienceMs: number,
): Promise<boolean> {
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
