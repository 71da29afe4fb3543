import pg from 'pg';
import { vi } from 'vitest';
import type { Store } from '../../src/store/rows/connection.ts';

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/**
 * Pages of tables and indexes that PostgreSQL looks at for the reads that `work` sends: what they cost on whichever
 * machine. Each is executed again, for its plan.
 */
export async function pagesOf({ pool }: Store, work: () => Promise<unknown>): Promise<number> {
  const sent: { text: string; values: unknown[] }[] = [];
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string; values?: unknown[] }];
    const { text, values = [] } = typeof statement === 'string' ? { text: statement } : statement;
    if (/^\s*(select|with)\b/i.test(text) && !/\b(insert|update|delete)\b/i.test(text)) sent.push({ text, values });
    return query.apply(this, args);
  } as never);
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  let pages = 0;
  for (const { text, values } of sent) {
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
    const plan = rows[0]['QUERY PLAN'][0].Plan as Plan;
    pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
  return pages;
}
