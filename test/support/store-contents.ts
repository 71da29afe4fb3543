import type { TestStore } from './store.ts';

/** Data excluded from a comparison of stores. */
export interface Omitted {
  tables?: readonly string[];
  /** By table. */
  columns?: Readonly<Record<string, readonly string[]>>;
}

// Counters of commits depend on the order of arrival; no served data is computed from them.
const counters: Readonly<Record<string, readonly string[]>> = { cross_sections: ['seq'], flow_feed: ['place'] };
// Generations say which files brought the data, and when: the same data may come from others.
const notOfTheMarket = ['_prisma_migrations', 'store_facts', 'symbol_commits', 'generations', 'generation_runs'];
const isOfTheMarket = (name: string) => !notOfTheMarket.includes(name) && !name.startsWith('superseded_');

/** Every row of every table but `omitted`, without the order in which rows came. */
export async function contentsOf(
  { pool }: TestStore,
  { tables: without = [], columns = {} }: Omitted = {},
): Promise<Record<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const found: Record<string, string[]> = {};
  for (const { name } of tables.filter((table) => isOfTheMarket(table.name) && !without.includes(table.name))) {
    const { rows } = await pool.query<{ row: string }>(
      `SELECT (to_jsonb(t) - $1::text[])::text AS row FROM "${name}" t ORDER BY 1`,
      [['generation_ms', ...(counters[name] ?? []), ...(columns[name] ?? [])]],
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}
