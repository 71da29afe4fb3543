import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Statement, statements } from '../../src/store/rows/statement.ts';
import { type TestStore, testStore } from '../support/store.ts';

const folder = new URL('../../src/store/', import.meta.url);
// Every module of the store, so that each has said which statements it has.
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith('generated'))
    await import(new URL(file, folder).href);

const files = readdirSync(new URL('rows/sql/', folder), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sql'))
  .map((file) => file.replace(/\.sql$/, '').replaceAll('\\', '/'));

const typeNames: Record<string, string> = {
  boolean: 'bool',
  integer: 'int4',
  bigint: 'int8',
  'double precision': 'float8',
};
const someValues: Record<string, unknown> = { text: 'x', int4: 1, int8: 1 };
/** A type as the code names it. */
const ours = (type: string) => type.replace(/^[^[]+/, (name) => typeNames[name] ?? name);
const notNull = (types: Statement['columns']) => Object.values(types).map((type) => type.replace(/\?$/, ''));

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

describe('the statements that stay SQL', () => {
  test('are the files of the folder, each declared once', () => {
    expect([...statements.keys()].sort()).toEqual(files.sort());
    expect(files.length).toBeLessThanOrEqual(50);
  });

  test('stand in the table of decision 20, each with its reason', () => {
    const decision = readFileSync('docs/decisions/0020-prisma-and-sql.md', 'utf8');
    const rows = decision.slice(decision.indexOf('| statement | why |')).match(/^\| `.*(?= \| .+ \|$)/gm)!;
    const named = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
    expect(named.sort()).toEqual(files.map((file) => file.split('/').at(-1)).sort());
  });

  test.each([...statements.values()])('$name has the parameters and columns that the code declares', async (each) => {
    const client = await store.pool.connect();
    try {
      await client.query('begin');
      await client.query(`prepare looked_at as ${each.text}`);
      const prepared = await client.query('select parameter_types::text[] as types from pg_prepared_statements');
      expect(prepared.rows[0].types.map(ours)).toEqual(notNull(each.parameters));
      if (notNull(each.columns).length === 0) return;
      // A key may not be null where a row is written.
      const isWrite = /^insert /i.test(each.text);
      const values = Object.fromEntries(
        Object.entries(each.parameters).map(([name, type]) => [name, isWrite ? (someValues[type] ?? null) : null]),
      );
      const { fields } = await client.query(each.query(values as never));
      expect(fields.map(({ name }) => name)).toEqual(Object.keys(each.columns));
      const { rows } = await client.query(
        'select format_type(oid, null) as type from unnest($1::oid[]) with ordinality as w(oid, n) order by n',
        [fields.map(({ dataTypeID }) => dataTypeID)],
      );
      expect(rows.map(({ type }) => ours(type))).toEqual(notNull(each.columns));
    } finally {
      client.release(true);
    }
  });

  test('are written for a distributed PostgreSQL: no unnest of several lists', () => {
    for (const { name, text } of statements.values())
      expect(/unnest\(\s*\$\d+[^()]*,\s*\$\d/.test(text), name).toBe(false);
  });
});
