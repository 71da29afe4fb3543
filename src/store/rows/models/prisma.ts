import pg from 'pg';
import { type Prisma, PrismaClient } from '../../../../generated/store/client.ts';
import { outsideOfRequests } from '../timed-client.ts';
import { heldConnections, Lease } from './prisma-adapter.ts';
import { statementNames } from './statement-names.ts';

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
