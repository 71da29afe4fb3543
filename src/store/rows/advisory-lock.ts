import type pg from 'pg';
import type { Store } from './connection.ts';
import { statement } from './statement.ts';

const locking = statement('locks/lock-session', { key: 'text' }, { pg_advisory_lock: 'void' });
const trying = statement('locks/try-lock-session', { key: 'text' }, { free: 'bool' });

/** Runs `work` under an advisory lock: no other process runs work of the same name. Waits for the lock. */
export async function exclusively<T>(store: Store, name: string, work: () => Promise<T>): Promise<T> {
  const client = await store.pool.connect();
  try {
    await locking.count(client, { key: name });
    return await work();
  } finally {
    // The connection holds the lock, and releases it by closing.
    client.release(true);
  }
}

/**
 * Runs `work` unless another process runs work of the same name. Its signal is aborted when the connection that holds
 * the advisory lock is lost: then another process may start.
 */
export async function unlessRunning(
  store: Store,
  name: string,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const client = await store.pool.connect();
  const lost = new AbortController();
  const onError = () => lost.abort();
  client.on('error', onError);
  try {
    const [row] = (await client.query<{ free: boolean }>(trying.query({ key: name }))).rows;
    if (row!.free) await work(lost.signal);
  } finally {
    client.release(true);
  }
}

/**
 * Runs `work` on the connection that holds the advisory lock of this name: the lock is held as long as a statement of
 * it runs, also when this process is killed. Aborting the signal ends the current statement.
 */
export async function withSessionLock<T>(
  { pool }: Store,
  name: string,
  signal: AbortSignal,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // Its user notices this when a statement fails.
  client.on('error', () => {});
  const { processID } = client as pg.PoolClient & { processID: number };
  const cancel = () => void pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    await locking.count(client, { key: name });
    return await work(client);
  } finally {
    signal.removeEventListener('abort', cancel);
    client.release(true);
  }
}
