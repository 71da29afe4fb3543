import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../../../../generated/store/client.ts';
import { outsideOfRequests } from '../timed-client.ts';

type Raw = '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe';

/**
 * Prisma Client's models. Only `inTransaction` begins transactions, and SQL is in a `statement`, so Prisma's methods
 * for both are omitted.
 */
export type Models = Omit<Prisma.TransactionClient, Raw>;

/** Prisma Client over a pool. */
export interface PrismaOverPool {
  /** The models, each call on any connection of the pool. */
  models: Models;
  /**
   * Opens the models on a connection with a transaction. Until `release` their calls run on it; after that they throw.
   */
  hold(connection: pg.PoolClient): Promise<HeldModels>;
  /** Frees Prisma's resources; the caller ends the pool. */
  close(): Promise<void>;
}

/** The models on one connection. */
export interface HeldModels {
  models: Models;
  /** Changes the texts of statements from here on; null = they are sent as they are. */
  rewrite(change: ((text: string) => string) | null): void;
  release(): void;
}

// The maximum of a timer, almost 25 days. Prisma ends an interactive transaction after it, so each is restarted after a
// day.
const longestMs = 2 ** 31 - 1;
const renewAfterMs = 24 * 3_600_000;

/** Prisma Client over `pool`, whose tables are in `schema`. */
export function openPrisma(pool: pg.Pool, schema: string): PrismaOverPool {
  const { adapter, startOn } = heldConnections(pool, { schema, statementNameGenerator: statementNames() });
  // The shortest form of errors saves a stack trace per call.
  const client = new PrismaClient({ adapter, errorFormat: 'minimal' });
  const leases = new WeakMap<pg.PoolClient, { lease: Lease; models: Models; begunAt: number }>();
  pool.on('remove', (connection) => leases.get(connection)?.lease.end());

  // Prisma's transaction lasts as long as the connection: beginning one costs as much as four statements.
  async function begin(connection: pg.PoolClient) {
    const lease = new Lease(connection);
    const begun = Promise.withResolvers<Models>();
    const wholeLife = startOn(lease, () =>
      client.$transaction(
        async (tx) => {
          begun.resolve(tx);
          await lease.ended;
        },
        { maxWait: longestMs, timeout: longestMs },
      ),
    );
    wholeLife.catch(begun.reject);
    const known = { lease, models: await begun.promise, begunAt: performance.now() };
    leases.set(connection, known);
    return known;
  }

  return {
    models: client,
    async hold(connection) {
      const known = leases.get(connection);
      const isGood = known !== undefined && performance.now() - known.begunAt < renewAfterMs;
      if (!isGood) known?.lease.end();
      const { lease, models } = isGood ? known : await outsideOfRequests(() => begin(connection));
      lease.isOpen = true;
      return {
        models,
        rewrite: (change) => {
          lease.rewrite = change;
        },
        release: () => {
          lease.isOpen = false;
          lease.rewrite = null;
        },
      };
    },
    close: () => client.$disconnect(),
  };
}

/**
 * Loads and runs Prisma's query compiler, which takes a tenth of a second at the first query of a process. Requires no
 * database.
 */
export async function loadPrisma(): Promise<void> {
  const pool = Object.assign(new pg.Pool(), { query: async () => ({ rows: [], fields: [] }) });
  const { models, close } = openPrisma(pool, 'public');
  await models.metadataEntry.findMany();
  await close();
}

/**
 * Names statements, so that PostgreSQL prepares each once per connection. Lists of varying length create new texts:
 * beyond a thousand of them statements are unnamed, or a long-lived server's memory would grow without bound.
 */
function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    const name = names.size < 1000 ? createHash('sha1').update(sql).digest('base64url') : '';
    if (name !== '') names.set(sql, name);
    return name;
  };
}

// The adapter of Prisma for PostgreSQL, @prisma/adapter-pg 7.10.0, with transactions on connections that are already
// checked out. Prisma's own transaction takes a connection that nothing else can use, ignores the result of COMMIT, and
// returns a connection whose statement timed out; here COPY, NOTIFY, SQL and models of a transaction share one
// connection, which `inTransaction` begins, commits and returns. Only the public interface of driver adapters is used:
// `startTransaction`, and "phantom" transactions, for which Prisma sends no BEGIN, COMMIT or ROLLBACK.

type Options = NonNullable<ConstructorParameters<typeof PrismaPg>[1]>;
type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;
type PrismaTransaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/** A connection for Prisma's models, while no transaction of ours uses it. */
class Lease {
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
interface HeldConnections {
  adapter: Pick<PrismaPg, 'provider' | 'adapterName' | 'connect'>;
  /** Runs `work`; a transaction that Prisma begins in it is on the connection of `lease`. */
  startOn<T>(lease: Lease, work: () => Promise<T>): Promise<T>;
}

/** The adapter over `pool`. */
function heldConnections(pool: pg.Pool, options: Options): HeldConnections {
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
