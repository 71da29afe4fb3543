import type pg from 'pg';
import { Semaphore } from '../../platform/runtime/semaphore.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { modelsThrough } from './models/models-through.ts';
import type { HeldModels } from './models/prisma.ts';
import type { Reader } from './reader.ts';

/** Parts that snapshots are taken with. */
export interface SnapshotParts {
  pool: pg.Pool;
  hold: (connection: pg.PoolClient) => Promise<HeldModels>;
  cluster: Pick<Cluster, 'transactionRouting'>;
}

/** Snapshots of the primary: connections in a transaction that sees one state of the database. */
export class Snapshots {
  readonly #parts: SnapshotParts;
  readonly #open: Semaphore;

  /**
   * @param connections Number of connections of the pool. A fourth may be snapshots at a time: others need connections
   *   too, those who have a snapshot among them.
   */
  constructor(parts: SnapshotParts, connections: number) {
    this.#parts = parts;
    this.#open = new Semaphore(Math.max(1, Math.floor(connections / 4)));
  }

  /** A snapshot, taken when it is first read. Its owner ends it. */
  lease(): Snapshot {
    return new Snapshot(() => this.#begin(), this.#parts.cluster.transactionRouting);
  }

  async #begin(): Promise<OpenSnapshot> {
    const leave = await this.#open.acquire();
    try {
      return await openSnapshot(this.#parts, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }
}

interface OpenSnapshot {
  connection: pg.PoolClient;
  reader: Reader;
  rewrite: HeldModels['rewrite'];
  end(): Promise<void>;
}

async function openSnapshot({ pool, hold, cluster }: SnapshotParts, leave: () => void): Promise<OpenSnapshot> {
  const connection = await pool.connect();
  try {
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { models, rewrite, release } = await hold(connection);
    const query = connection.query.bind(connection) as Reader['query'];
    return {
      connection,
      rewrite,
      reader: { query, prisma: models, routing: cluster.transactionRouting },
      async end() {
        release();
        const failed = await connection.query('COMMIT').then(
          () => undefined,
          (error: Error) => error,
        );
        connection.release(failed);
        leave();
      },
    };
  } catch (error) {
    connection.release(error as Error);
    throw error;
  }
}

/** One state of the database, as it is when it is first read. Its statements run one after the other. */
export class Snapshot {
  readonly reader: Reader;
  readonly #open: () => Promise<OpenSnapshot>;
  #hasEnded = false;
  #opened: Promise<OpenSnapshot> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Promise<OpenSnapshot>, routing: Reader['routing']) {
    this.#open = open;
    this.reader = {
      routing,
      query: (statement, values) => this.#inTurn(({ reader }) => reader.query(statement, values)),
      prisma: modelsThrough((call) => this.#inTurn(({ reader }) => call(reader.prisma))),
    };
  }

  /** Its reader, for statements that `change` changes first. */
  rewritten(change: (text: string) => string): Reader {
    const changed = (statement: pg.QueryConfig | string) => {
      if (typeof statement === 'string') return change(statement);
      const { name: _, ...unnamed } = statement;
      return { ...unnamed, text: change(statement.text) };
    };
    return {
      routing: this.reader.routing,
      query: (statement, values) => this.#inTurn(({ reader }) => reader.query(changed(statement), values)),
      prisma: modelsThrough((call) =>
        this.#inTurn(async ({ reader, rewrite }) => {
          rewrite(change);
          try {
            return await call(reader.prisma);
          } finally {
            rewrite(null);
          }
        }),
      ),
    };
  }

  /** Does `work` on its connection. */
  use<T>(work: (connection: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#inTurn(({ connection }) => work(connection));
  }

  #inTurn<T>(work: (opened: OpenSnapshot) => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      if (this.#hasEnded) throw new Error('The snapshot has ended.');
      this.#opened ??= this.#open();
      return work(await this.#opened);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  /** Ends it, when what was begun on it has ended. It must not be read any more. */
  async end(): Promise<void> {
    await this.#last;
    this.#hasEnded = true;
    const opened = await this.#opened?.catch(() => null);
    await opened?.end();
  }
}
