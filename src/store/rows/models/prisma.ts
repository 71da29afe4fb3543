import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../../../../generated/store/client.ts';

type Raw = '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe';

/**
 * Prisma Client's models. Transactions are begun by `inTransaction` alone, and SQL is a `statement` of its own, so that
 * Prisma's ways to either are omitted.
 */
export type Models = Omit<Prisma.TransactionClient, Raw>;

/** Prisma Client over a pool. */
export interface PrismaOverPool {
  /** The models, each call on any connection of the pool. */
  models: Models;
  /**
   * Opens the models of a connection that a transaction holds. Until `release` their calls run on it; after that they
   * throw.
   */
  hold(connection: pg.PoolClient): Promise<HeldModels>;
  /** Frees what Prisma holds; its opener ends the pool. */
  close(): Promise<void>;
}

/** The models on one connection. */
export interface HeldModels {
  models: Models;
  release(): void;
}

// The statement by which an interactive transaction of Prisma says which connection it is for. It never reaches the
// database.
const bindText = 'bind to a held connection';
// The longest a timer can wait, almost 25 days. Prisma ends an interactive transaction after it, so that each is begun
// again after a day.
const longestMs = 2 ** 31 - 1;
const renewAfterMs = 24 * 3_600_000;

type Query = pg.QueryConfig & { values: unknown[] };
const nothing = { rows: [], fields: [], rowCount: 0 };

/** A connection as Prisma's models use it. */
class Lease {
  models!: Models;
  isOpen = true;
  readonly begunAt = performance.now();
  readonly ended = Promise.withResolvers<void>();
  readonly #connection: pg.PoolClient;

  constructor(connection: pg.PoolClient) {
    this.#connection = connection;
  }

  query(config: Query): Promise<unknown> {
    if (!this.isOpen) throw new Error('The transaction of these models has ended.');
    return this.#connection.query(config);
  }
}

/**
 * The connection that Prisma is given for a transaction. It has none until it is bound, and passes over BEGIN and
 * COMMIT: `inTransaction` sends them, and looks at their answers.
 */
function session(leases: ReadonlyMap<string, Lease>) {
  let lease: Lease | undefined;
  return {
    on() {},
    removeListener() {},
    release() {},
    async query(config: Query): Promise<unknown> {
      if (/^(BEGIN|COMMIT|ROLLBACK)$/.test(config.text)) return nothing;
      if (lease) return lease.query(config);
      lease = config.text === bindText ? leases.get(String(config.values[0])) : undefined;
      if (lease) return nothing;
      throw new Error('Prisma wants a transaction for this: do it inside of inTransaction.');
    },
  };
}

/** Prisma Client over `pool`, whose tables lie in `schema`. */
export function openPrisma(pool: pg.Pool, schema: string): PrismaOverPool {
  const unbound = new Map<string, Lease>();
  const leases = new WeakMap<pg.PoolClient, Lease>();
  let count = 0;
  // The pool as it is, but for what a transaction of Prisma gets.
  const facade: pg.Pool = Object.create(pool, {
    query: { value: pool.query.bind(pool) },
    on: { value: pool.on.bind(pool) },
    removeListener: { value: pool.removeListener.bind(pool) },
    connect: { value: async () => session(unbound) },
  });
  const adapter = new PrismaPg(facade, { schema, statementNameGenerator: statementNames() });
  // The shortest form of errors spares a stack for every call.
  const client = new PrismaClient({ adapter, errorFormat: 'minimal' });
  pool.on('remove', (connection) => leases.get(connection)?.ended.resolve());

  // Prisma's transaction goes on as long as the connection lives: beginning one costs as much as four statements.
  async function begin(connection: pg.PoolClient): Promise<Lease> {
    const name = String(++count);
    const lease = new Lease(connection);
    const begun = Promise.withResolvers<void>();
    unbound.set(name, lease);
    const bound = client.$transaction(
      async (tx) => {
        await tx.$executeRawUnsafe(bindText, name);
        lease.models = tx;
        begun.resolve();
        await lease.ended.promise;
      },
      { maxWait: longestMs, timeout: longestMs },
    );
    bound.catch(begun.reject);
    await begun.promise.finally(() => unbound.delete(name));
    leases.set(connection, lease);
    return lease;
  }

  return {
    models: client,
    async hold(connection) {
      const known = leases.get(connection);
      const isGood = known !== undefined && performance.now() - known.begunAt < renewAfterMs;
      if (!isGood) known?.ended.resolve();
      const lease = isGood ? known : await begin(connection);
      lease.isOpen = true;
      return {
        models: lease.models,
        release: () => {
          lease.isOpen = false;
        },
      };
    },
    close: () => client.$disconnect(),
  };
}

/**
 * Loads and tries Prisma's query compiler, which takes a tenth of a second at the first query of a process. Asks no
 * database.
 */
export async function loadPrisma(): Promise<void> {
  const pool = Object.assign(new pg.Pool(), { query: async () => nothing });
  const { models, close } = openPrisma(pool, 'public');
  await models.metadataEntry.findMany();
  await close();
}

/**
 * Names statements, so that PostgreSQL prepares each once a connection. Lists of varying length make ever new texts:
 * past a thousand of them the rest go unnamed, or a long-lived server's memory would grow without bound.
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
