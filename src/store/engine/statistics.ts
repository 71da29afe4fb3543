import type { Store } from './connection.ts';
import { statement } from './statement.ts';

const grown = statement('grown-tables', {}, { name: 'text' });

/**
 * Has PostgreSQL look again at tables that have more than doubled. Connections keep the plans they made: of a table
 * that was empty then, they read every row, until autovacuum looks at it, a minute or more later. Called after a
 * commit; a failure is not thrown, since what was written is stored.
 */
export async function analyzeGrown({ pool, primary }: Pick<Store, 'pool' | 'primary'>): Promise<void> {
  try {
    const tables = await grown.rows(primary, {});
    const names = tables.map(({ name }) => name).join(', ');
    if (names !== '') await pool.query(`ANALYZE (SKIP_LOCKED) ${names}`);
  } catch {
    // The next commit tries again.
  }
}
