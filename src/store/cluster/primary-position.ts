import type pg from 'pg';

/** Longest time in which a server says where it is, ms. */
const patienceMs = 2000;

// A position, and which cluster's it is: another's says nothing.
const primaryText =
  'SELECT pg_current_wal_insert_lsn()::text AS lsn, (SELECT system_identifier::text FROM pg_control_system()) AS cluster';

/** The end of a primary's log, and the cluster that it is a position of. */
export interface PrimaryPosition {
  lsn: string;
  cluster: string;
}

/** The one row of a statement about the position of a server. Rejects if it takes longer than 2 s. */
export async function queryPosition<Row>(pool: pg.Pool, text: string, values: unknown[] = []): Promise<Row> {
  // A limit of its own: the store's is for statements that do something, and may be none.
  const { rows } = await pool.query({ text, values, query_timeout: patienceMs } as pg.QueryConfig);
  return rows[0] as Row;
}

/** The positions of the primary after each change, asked for once per change. */
export class PrimaryPositions {
  readonly #pool: pg.Pool;
  #latest: { change: number; position: Promise<PrimaryPosition> } | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The position after the last change, number `change`; null when the primary does not answer: asked again then. */
  async after(change: number): Promise<PrimaryPosition | null> {
    if (this.#latest?.change !== change)
      this.#latest = { change, position: queryPosition<PrimaryPosition>(this.#pool, primaryText) };
    const asked = this.#latest;
    try {
      return await asked.position;
    } catch {
      if (this.#latest === asked) this.#latest = null;
      return null;
    }
  }
}
