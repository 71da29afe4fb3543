// The adapter of Prisma for PostgreSQL, @prisma/adapter-pg 7.10.0, with transactions on connections that are already
// checked out. Prisma's own transaction takes a connection that nothing else can use, ignores the result of COMMIT, and
// returns a connection whose statement timed out; here COPY, NOTIFY, SQL and models of a transaction share one
// connection, which `inTransaction` begins, commits and returns. Only the public interface of driver adapters is used:
// `startTransaction`, and "phantom" transactions, for which Prisma sends no BEGIN, COMMIT or ROLLBACK.
import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';

type Options = NonNullable<ConstructorParameters<typeof PrismaPg>[1]>;
type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;
type PrismaTransaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/** A connection for Prisma's models, while no transaction of ours uses it. */
export class Lease {
  isOpen = true;
  /** Changes the texts of statements before they are sent; null = they are sent as they are. */
  rewrite: ((text: string) => string) | null = null;
  readonly #connection: pg.PoolClient;
  readonly #end = Promise.withResolvers<void>();

  constructor(connection: pg.PoolClient) {
    this.#connection = connection;
  }

  query(config: pg.QueryConfig): Promise<unknown> {
    if (!this.isOpen) throw new Error('The transaction of these models has ended.');
    if (this.rewrite === null) return this.#connection.query(config);
    const { name: _, ...unnamed } = config;
    return this.#connection.query({ ...unnamed, text: this.rewrite(config.text) });
  }

  /** Resolves after `end`, when Prisma's transaction is no longer needed. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  end(): void {
    this.#end.resolve();
  }
}

/** A pool of one connection, with the methods that the adapter uses. */
function poolOf(lease: Lease): pg.Pool {
  return Object.create(pg.Pool.prototype, {
    query: { value: lease.query.bind(lease) },
    on: { value() {} },
    options: { value: {} },
  });
}

/** Prisma's adapter over a pool. Its transactions begin only inside of `startOn`. */
export interface HeldConnections {
  adapter: Pick<PrismaPg, 'provider' | 'adapterName' | 'connect'>;
  /** Runs `work`; a transaction that Prisma begins in it is on the connection of `lease`. */
  startOn<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
}

/** The adapter over `pool`. */
export function heldConnections(pool: pg.Pool, options: Options): HeldConnections {
  const starting = new AsyncLocalStorage<Lease>();
  const ofPool = new PrismaPg(pool, options);

  async function startTransaction(): Promise<PrismaTransaction> {
    const lease = starting.getStore();
    if (!lease) throw new Error('Prisma wants a transaction for this: do it inside of inTransaction.');
    const held = await new PrismaPg(poolOf(lease), options).connect();
    return Object.assign(held, {
      options: { usePhantomQuery: true },
      commit: async () => {},
      rollback: async () => {},
    });
  }

  const connect = async () => Object.assign(await ofPool.connect(), { startTransaction });
  return {
    adapter: { provider: ofPool.provider, adapterName: ofPool.adapterName, connect },
    startOn: (lease, work) => starting.run(lease, work),
  };
}
