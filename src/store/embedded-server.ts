import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createCluster, passwordOf, spawnServer, stopServer, superuser } from './embedded-cluster.ts';
import { findPlace, type Place } from './embedded-place.ts';
import { isRunning, type Postmaster, readPostmaster, removeStalePostmaster } from './postmaster-file.ts';
import { storeRefused } from './store-refused.ts';

/** A PostgreSQL of our own, shared by every process that opened the same data folder. */
export interface EmbeddedServer {
  /** How to connect with `pg`; the database is the store's. */
  connection: pg.ClientConfig;
  /** Whether this process started it (false: it was running). */
  started: boolean;
  /** Leaves it; the last to leave stops it and waits until it has ended. */
  close(): Promise<void>;
}

// Every process that uses the server holds this advisory lock, shared, on a connection of its own. The server frees it
// when the process ends, however it ends; whoever leaves and then gets it exclusively was the last and stops the server.
const presenceLock = "hashtext('tapegraph presence')";
const storeDatabase = 'tapegraph';
const patienceMs = 60_000;
const pollMs = 20;

/** Joins the embedded server of a data folder, or starts it (creating its cluster first). `log` gets a line when something is remarkable. */
export async function openEmbeddedServer({
  dataDir,
  log = () => {},
}: {
  dataDir: string;
  log?: (line: string) => void;
}): Promise<EmbeddedServer> {
  const place = findPlace(dataDir);
  let presence = await join(place);
  const { started, connection } = presence;
  let closing = false;
  let recovery = Promise.resolve();

  const watch = () => {
    presence.client.once('end', () => {
      if (!closing) recovery = recover();
    });
  };
  const recover = async () => {
    log('The embedded database went away; starting it again.');
    while (!closing) {
      try {
        presence = await join(place);
        watch();
        return;
      } catch (error) {
        log(`The embedded database does not come back: ${(error as Error).message}`);
        await delay(5_000, undefined, { ref: false });
      }
    }
  };
  await createStoreDatabase(presence.client);
  watch();

  const close = async () => {
    if (closing) return;
    closing = true;
    await recovery;
    await leave(place, presence);
  };
  return { connection: { ...connection, database: storeDatabase }, started, close };
}

interface Presence {
  client: pg.Client;
  connection: pg.ClientConfig;
  postmaster: Postmaster;
  started: boolean;
}

async function join(place: Place): Promise<Presence> {
  const giveUpAt = performance.now() + patienceMs;
  let attempts = 0;
  let server: ReturnType<typeof spawnServer> | null = null;
  for (;;) {
    const postmaster = readPostmaster(place.cluster);
    const client = postmaster === null ? null : await tryHold(place, postmaster);
    if (client !== null)
      return {
        client,
        connection: connectionTo(place, postmaster!),
        postmaster: postmaster!,
        started: server !== null && !server.hasEnded(),
      };
    if (server?.hasEnded() || performance.now() > giveUpAt) {
      // It may have met another starter, or the last connections of a server that was killed: those pass.
      if (++attempts > 5 || performance.now() > giveUpAt) throw notAnswering(place, postmaster, server?.said());
      server = null;
      await delay(100 * attempts);
      continue;
    }
    const running = postmaster !== null && isRunning(postmaster, place.cluster);
    if (!running && server === null) {
      if (postmaster !== null) removeStalePostmaster(place.cluster, postmaster);
      passwordOf(place);
      createCluster(place);
      server = spawnServer(place, await choosePort());
    }
    await delay(pollMs);
  }
}

function notAnswering(place: Place, postmaster: Postmaster | null, said: string | undefined): Error {
  const who = postmaster === null ? 'did not start' : `(process ${postmaster.pid}) does not answer`;
  return storeRefused(
    `The embedded PostgreSQL in ${place.cluster} ${who}. Its log, ${place.logFile}, ends:\n${said ?? '(nothing)'}`,
  );
}

function connectionTo(place: Place, postmaster: Postmaster): pg.ClientConfig {
  // The server's own file says where its socket is: TMPDIR may differ between two processes.
  const host = process.platform === 'win32' ? '127.0.0.1' : postmaster.socketDir || place.socketDir;
  const password = passwordOf(place);
  return { host, port: postmaster.port, user: superuser, ssl: false, ...(password === null ? {} : { password }) };
}

/** A connection that holds the presence lock; null when the server is not (or no longer, or not yet) there. */
async function tryHold(place: Place, postmaster: Postmaster): Promise<pg.Client | null> {
  if (!postmaster.port) return null;
  const client = new pg.Client({
    ...connectionTo(place, postmaster),
    database: 'postgres',
    application_name: 'tapegraph presence',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    // Waits while the last user is stopping the server, and then fails with it.
    await client.query(`select pg_advisory_lock_shared(${presenceLock})`);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    if (isPassing(error)) return null;
    throw storeRefused(
      `The embedded PostgreSQL in ${place.cluster} refused the connection: ${(error as Error).message}`,
      error,
    );
  }
}

// Not there: ENOENT, ECONNREFUSED, ECONNRESET. Starting up, or stopping: 57P03, 57P01; crashed: 57P02.
function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== undefined)
    return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'].includes(code);
  return /terminated|timeout|not queryable/i.test(message ?? '');
}

async function createStoreDatabase(client: pg.Client): Promise<void> {
  const found = await client.query('select 1 from pg_database where datname = $1', [storeDatabase]);
  if (found.rowCount !== 0) return;
  await client.query(`create database ${storeDatabase}`).catch((error: { code?: string }) => {
    // Another process was quicker.
    if (error.code !== '42P04' && error.code !== '23505') throw error;
  });
}

async function leave(place: Place, { client, postmaster }: Presence): Promise<void> {
  try {
    await client.query(`select pg_advisory_unlock_shared(${presenceLock})`);
    const last = await client.query(`select pg_try_advisory_lock(${presenceLock}) as alone`);
    if (last.rows[0]?.alone === true) {
      stopServer(place, postmaster.pid);
      await ended(place, postmaster);
    }
  } catch {
    // The server has gone already: there is nothing to leave.
  }
  await client.end().catch(() => {});
}

async function ended(place: Place, { text, pid }: Postmaster): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  // The file goes last. A new one means that the next user has already started the server again.
  while (performance.now() < giveUpAt) {
    const now = readPostmaster(place.cluster);
    if (now === null || now.pid !== pid || now.text.split('\n')[2] !== text.split('\n')[2]) return;
    if (!isRunning(now, place.cluster)) return;
    await delay(5);
  }
}

/** Any free port on Windows; elsewhere the number only names the socket. */
async function choosePort(): Promise<number> {
  if (process.platform !== 'win32') return 5432;
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
