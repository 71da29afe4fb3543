import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { distributionSql, tablePlacements } from '../../../src/store/cluster/distribution.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const rowsOf = async (sql: string) => (await store.pool.query(sql)).rows;
const keyOf = (table: string): string | null => {
  const placement = tablePlacements[table];
  return typeof placement === 'object' ? placement.by : null;
};
const spread = Object.keys(tablePlacements).filter((table) => keyOf(table) !== null);

describe('the places of tables on a distributed PostgreSQL', () => {
  test('are those of every table, and of no other', async () => {
    const rows = await rowsOf(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> '_prisma_migrations'`,
    );
    expect(rows.map(({ relname }) => relname).sort()).toEqual(Object.keys(tablePlacements).sort());
  });

  test('spread by a column of one type, never null, that every unique index holds', async () => {
    const columns = await rowsOf(
      `select attrelid::regclass::text as table, attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required
       from pg_attribute where attrelid = any (array['${spread.join("','")}']::regclass[]) and attnum > 0`,
    );
    for (const table of spread)
      expect(columns, table).toContainEqual({ table, name: keyOf(table), type: 'text', required: true });
    const indexes = await rowsOf(
      `select indrelid::regclass::text as table, indexrelid::regclass::text as index,
         array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any (indkey)) as columns
       from pg_index where indisunique and indrelid = any (array['${spread.join("','")}']::regclass[])`,
    );
    expect(indexes.length).toBeGreaterThanOrEqual(spread.length);
    for (const { table, index, columns: names } of indexes) expect(names, index).toContain(keyOf(table));
  });

  test('keep foreign keys on one node', async () => {
    const keys = await rowsOf(
      `select conrelid::regclass::text as from, confrelid::regclass::text as to,
         array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any (conkey)) as columns
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
    );
    for (const { from, to, columns } of keys) {
      const leaves = tablePlacements[to] !== 'everywhere' && tablePlacements[from] !== tablePlacements[to];
      expect({ from, to, leaves }).toEqual({ from, to, leaves: false });
      if (keyOf(from) !== null && tablePlacements[to] !== 'everywhere') expect(columns).toContain(keyOf(from));
    }
  });

  test('are given by a statement each, that names what is there', () => {
    const sql = distributionSql();
    const named = sql.map((statement) => /\('(\w+)'/.exec(statement)![1]);
    const moved = Object.entries(tablePlacements).filter(([, placement]) => placement !== 'first node');
    expect(named.sort()).toEqual(moved.map(([table]) => table).sort());
    expect(sql).toContain(`SELECT create_distributed_table('flow_legs', 'underlying', colocate_with => 'bar_blocks');`);
  });
});
