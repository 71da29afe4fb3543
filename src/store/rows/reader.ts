import type pg from 'pg';
import type { Routing } from '../cluster/routing.ts';
import type { Models } from './models/prisma.ts';

/** A source of reads. A transaction is one too. */
export interface Reader {
  query<Row extends pg.QueryResultRow>(
    statement: pg.QueryConfig | string,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
  prisma: Models;
  /** Routing of its statements to the nodes of the store. */
  readonly routing: Routing;
}
