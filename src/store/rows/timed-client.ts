import { AsyncResource } from 'node:async_hooks';
import pg from 'pg';

/** Called for each statement as it is sent; what it returns, whether it failed when it is answered. */
export type StatementObserver = (text: string) => (failed: boolean) => void;

type Callback = (error: Error | null, ...rest: unknown[]) => void;

/** The text of a statement; null for what is no statement of text: streams bring a protocol of their own. */
function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement;
  const { text, submit } = statement as { text?: unknown; submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : null;
}

/** A connection's class for a pool, whose statements are all reported to `observe`. */
function timedClient(observe: StatementObserver): typeof pg.Client {
  return class TimedClient extends pg.Client {
    // As pg declares it in eight forms: what is passed on is what was given.
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
 * A pool whose statements are reported to `observe` within what asked for them, also when that had to wait for a
 * connection.
 */
export function observedPool(options: pg.PoolConfig, observe: StatementObserver): pg.Pool {
  const pool = new pg.Pool({ ...options, Client: timedClient(observe) });
  const connect = pool.connect.bind(pool) as (connected?: Connected) => never;
  // A waiting caller is resumed by the request that releases a connection, and would be attributed to that request.
  pool.connect = ((connected?: Connected) =>
    connected ? connect(AsyncResource.bind(connected)) : connect()) as pg.Pool['connect'];
  return pool;
}
