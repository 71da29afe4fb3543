import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Store } from './connection.ts';
import type { Transaction } from './transaction.ts';

const longestPayloadBytes = 7999;
const longestPauseMs = 5_000;

/**
 * Sends `payload` (at most 7,999 bytes) to every listener of `channel`, in all processes. Inside a transaction it is sent
 * when that commits, and not at all when it rolls back.
 */
export async function notify(target: Store | Transaction, channel: string, payload: string): Promise<void> {
  if (Buffer.byteLength(payload) > longestPayloadBytes)
    throw new RangeError(`A notification on ${channel} is over ${longestPayloadBytes} bytes.`);
  const connection = 'pool' in target ? target.pool : target;
  await connection.query('select pg_notify($1, $2)', [channel, payload]);
}

/**
 * Listens to `channel` on a connection of its own, until the returned function is called; returns once it listens.
 * `onLost` is called when the connection breaks and again when it listens anew: what was sent between has been missed, so
 * caches that live by the notifications must be dropped both times.
 */
export async function listen(
  store: Store,
  channel: string,
  onPayload: (payload: string) => void,
  onLost: () => void,
): Promise<() => Promise<void>> {
  let closed = false;
  let client = await connect();

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({ ...store.pool.options, application_name: 'tapegraph listener' });
    fresh.on('error', () => {});
    fresh.on('notification', (message) => {
      if (message.channel === channel) onPayload(message.payload ?? '');
    });
    try {
      await fresh.connect();
      await fresh.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      await fresh.end().catch(() => {});
      throw error;
    }
    fresh.once('end', () => void reconnect());
    return fresh;
  }

  async function reconnect(): Promise<void> {
    if (closed) return;
    onLost();
    for (let pauseMs = 50; !closed; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      await delay(pauseMs, undefined, { ref: false });
      const fresh = closed ? null : await connect().catch(() => null);
      if (fresh === null) continue;
      client = fresh;
      if (closed) await fresh.end();
      else onLost();
      return;
    }
  }

  return async () => {
    closed = true;
    await client.end();
  };
}
