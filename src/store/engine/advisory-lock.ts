import type { Store } from './connection.ts';
import { statement } from './statement.ts';

const locking = statement('lock-session', { key: 'text' }, { pg_advisory_lock: 'void' });
const trying = statement('try-lock-session', { key: 'text' }, { free: 'bool' });

/** Does `work` under an advisory lock: no other process does work of the same name. Waits for the lock. */
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
 * Does `work` unless another process does work of the same name. Its signal is aborted when the connection that holds
 * the advisory lock is lost: then another process may begin.
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
