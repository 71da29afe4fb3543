import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Reader } from '../rows/reader.ts';

/** The channel that notifies every process of changes of stored data by any process. */
export const changesChannel = 'market_data';
/** Maximum payload of a PostgreSQL notification, bytes. */
export const longestPayloadBytes = 7999;
const longestPauseMs = 5_000;
// An idle connection does not detect that its other end is gone or hangs: it is probed at this interval, and dropped if
// the answer takes this long. Notifications are missed for at most both together.
const heartbeatMs = 2_000;
const patienceMs = 2_000;
// Maximum time to open a connection, or to close one in an orderly way, ms.
const connectMs = 3_000;
const endMs = 1_000;

/** A store with its connection pool. */
interface PoolOwner {
  pool: pg.Pool;
}

/** A store whose standbys depend on its listeners' notifications. */
interface ListeningStore extends PoolOwner {
  replicas: { changed(): void; heard(count: number): void; deaf(count: number): void } | null;
}

/**
 * Sends `payload` (at most 7,999 bytes) to every listener of `channel`, in all processes. Inside a transaction it is
 * sent on commit, and not on rollback.
 */
export async function notify(
  target: PoolOwner | Pick<Reader, 'query'>,
  channel: string,
  payload: string,
): Promise<void> {
  if (Buffer.byteLength(payload) > longestPayloadBytes)
    throw new RangeError(`A notification on ${channel} is over ${longestPayloadBytes} bytes.`);
  const connection = 'pool' in target ? target.pool : target;
  await connection.query({ text: 'SELECT pg_notify($1, $2)', values: [channel, payload] });
}

const listenerName = 'tapegraph listener';

/** True if a process listens to this database: checked before this one does, to detect another server. */
export async function othersListen({ pool }: PoolOwner): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()) AS found',
    [listenerName],
  );
  return rows[0]!.found;
}

interface Listener {
  /** Ends the connection, even if the other end no longer answers. */
  end(): Promise<void>;
}

/** A connection that listens to `channel` and is probed regularly; `onEnd` is called when it has failed. */
async function connect(
  { options }: pg.Pool,
  channel: string,
  onPayload: (payload: string) => void,
  onEnd: () => void,
): Promise<Listener> {
  const socket = new Socket();
  const client = new pg.Client({
    ...options,
    application_name: listenerName,
    connectionTimeoutMillis: connectMs,
    query_timeout: patienceMs,
    stream: () => socket,
  });
  client.on('error', () => {});
  client.on('notification', (message) => {
    if (message.channel === channel) onPayload(message.payload ?? '');
  });
  const end = async () => {
    await Promise.race([client.end().catch(() => {}), delay(endMs, undefined, { ref: false })]);
    socket.destroy();
  };
  try {
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  } catch (error) {
    await end();
    throw error;
  }
  const heartbeat = setInterval(() => void client.query('SELECT 1').catch(() => socket.destroy()), heartbeatMs);
  heartbeat.unref();
  client.once('end', () => {
    clearInterval(heartbeat);
    onEnd();
  });
  return { end };
}

/**
 * Listens to `channel` on a connection of its own, until the returned function is called; returns once it listens.
 * `onLost` is called when the connection breaks or hangs (noticed within 4 s) and again when it listens again:
 * notifications in between were missed, so dependent caches must be dropped both times.
 */
export async function listen(
  store: ListeningStore,
  channel: string,
  onPayload: (payload: string) => void,
  onLost: () => void,
): Promise<() => Promise<void>> {
  let closed = false;
  const { replicas } = store;
  // Before listeners are called: data that they read must not be from a standby that lacks the change.
  const heard = (payload: string) => {
    replicas?.changed();
    onPayload(payload);
  };
  const open = () => connect(store.pool, channel, heard, () => void reconnect());
  let listener = await open();
  replicas?.heard(1);
  replicas?.changed();

  async function reconnect(): Promise<void> {
    if (closed) return;
    replicas?.deaf(1);
    onLost();
    for (let pauseMs = 50; !closed; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      await delay(pauseMs, undefined, { ref: false });
      const fresh = closed ? null : await open().catch(() => null);
      if (fresh === null) continue;
      listener = fresh;
      if (closed) await fresh.end();
      else {
        replicas?.changed();
        replicas?.deaf(-1);
        onLost();
      }
      return;
    }
  }

  return async () => {
    closed = true;
    replicas?.heard(-1);
    await listener.end();
  };
}
