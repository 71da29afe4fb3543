import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import pg from 'pg';

/**
 * Runs what outlives a request outside of its context, which would otherwise be held as long, and be that of whatever
 * happens to it later.
 */
export const outsideOfRequests = AsyncLocalStorage.snapshot();

/** A connection of a pool: its socket belongs to no request, although one makes it. */
export class PooledClient extends pg.Client {
  // `pg` declares two overloads: arguments are passed on unchanged.
  override connect(...given: unknown[]): never {
    const connect = super.connect as (...args: unknown[]) => unknown;
    return outsideOfRequests(() => connect.apply(this, given)) as never;
  }
}

/** Called for each statement when it is sent. Call the returned function with whether it failed. */
export type StatementObserver = (text: string) => (failed: boolean) => void;

type Callback = (error: Error | null, ...rest: unknown[]) => void;

/** The text of a statement; null for streams, which have their own protocol. */
function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement;
  const { text, submit } = statement as { text?: unknown; submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : null;
}

/** A connection class for a pool that reports all statements to `observe`. */
function timedClient(observe: StatementObserver): typeof PooledClient {
  return class TimedClient extends PooledClient {
    // `pg` declares eight overloads: arguments are passed on unchanged.
    override query(...given: unknown[]): never {
      const send = super.query as (...args: unknown[]) => unknown;
      const text = textOf(given[0]);
      if (text === null) return send.apply(this, given) as never;
      const end = observe(text);
      const callback = given.at(-1);
      if (typeof callback === 'function') {
        const timed: Callback = (error, ...rest) => {
          end(error !== null && error !== undefined);
          (callback as Callback)(error, ...rest);
        };
        return send.apply(this, [...given.slice(0, -1), timed]) as never;
      }
      const answered = send.apply(this, given) as Promise<unknown>;
      answered.then(
        () => end(false),
        () => end(true),
      );
      return answered as never;
    }
  };
}

type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * A pool that reports statements to `observe` in the context of their caller, even if that had to wait for a
 * connection.
 */
export function observedPool(options: pg.PoolConfig, observe: StatementObserver): pg.Pool {
  const pool = new pg.Pool({ ...options, Client: timedClient(observe) });
  const connect = pool.connect.bind(pool) as (connected?: Connected) => never;
  // The request that releases a connection resumes a waiting caller, which would otherwise run in that request's
  // context.
  pool.connect = ((connected?: Connected) =>
    connected ? connect(AsyncResource.bind(connected)) : connect()) as pg.Pool['connect'];
  return pool;
}
