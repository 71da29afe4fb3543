import type pg from 'pg';
import type { Models } from './models/prisma.ts';

/** Where something is read. A transaction is one too. */
export interface Reader {
  query<Row extends pg.QueryResultRow>(
    statement: pg.QueryConfig | string,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
  prisma: Models;
  /**
   * Maximum number of symbols read at once, by a statement each, of a distributed store; 0 where one statement may be
   * about any number.
   */
  readonly symbolsAtOnce: number;
}
