import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tablesOf } from '../../scripts/generate/store-tables.ts';
import { keptModels } from '../../src/store/rows/models/kept-models.ts';
import { allModels, tableOf } from '../../src/store/rows/models/model-tables.ts';
import { type TestStore, testStore } from '../support/store.ts';

/** Parts of a table, in the same form from schema.prisma and from PostgreSQL. */
interface Table {
  columns: Record<string, string>;
  /** Columns of the primary key, of unique constraints and of other indexes: `id symbol, timeframe`. */
  keys: string[];
}

const types: Record<string, string> = {
  text: 'text',
  bool: 'boolean',
  int4: 'integer',
  int8: 'bigint',
  float8: 'double precision',
  bytea: 'bytea',
  jsonb: 'jsonb',
};

function tablesOfModels(): Record<string, Table> {
  const tables = allModels.map(tableOf).map(({ table, fields, indexes }): [string, Table] => [
    table,
    {
      columns: Object.fromEntries(
        // Prisma makes list columns nullable in SQL; its client never writes null to one.
        fields.map(({ column, type, list, optional }) => [
          column,
          `${types[type]}${list ? '[]' : ''}${optional ? ' null' : ''}`,
        ]),
      ),
      keys: indexes
        .map(({ kind, columns }) => {
          const names = columns.map(({ column, descending }) => `${column}${descending ? ' desc' : ''}`);
          return `${kind} ${names.join(', ')}`;
        })
        .sort(),
    },
  ]);
  for (const { table } of keptModels.map(tableOf)) {
    const { columns, keys } = tables.find(([name]) => name === table)![1];
    const key = keys.find((each) => each.startsWith('id '))!;
    const generation = { generation_ms: 'bigint', superseded_ms: 'bigint' };
    tables.push([`superseded_${table}`, { columns: { ...columns, ...generation }, keys: [`${key}, generation_ms`] }]);
    columns.generation_ms = 'bigint null';
  }
  return Object.fromEntries(tables);
}

async function tablesOfStore(store: TestStore): Promise<Record<string, Table>> {
  const tables: Record<string, Table> = {};
  const columns = await store.pool.query(
    `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
       and c.relname <> '_prisma_migrations'`,
  );
  for (const { table, column, type, required } of columns.rows) {
    tables[table] ??= { columns: {}, keys: [] };
    tables[table].columns[column] = `${type}${required || type.endsWith('[]') ? '' : ' null'}`;
  }
  const keys = await store.pool.query(
    `select c.relname as table, i.indisprimary as id, i.indisunique as unique,
       (select string_agg(pg_get_indexdef(i.indexrelid, k::int, true) || case when i.indoption[k - 1] & 1 = 1 then ' desc' else '' end, ', ' order by k)
        from generate_series(1, i.indnkeyatts) k) as columns
     from pg_index i join pg_class c on c.oid = i.indrelid
     where c.relnamespace = 'public'::regnamespace and c.relname <> '_prisma_migrations'`,
  );
  for (const { table, id, unique, columns: names } of keys.rows)
    tables[table]?.keys.push(`${id ? 'id' : unique ? 'unique' : 'index'} ${names}`);
  for (const table of Object.values(tables)) table.keys.sort();
  return tables;
}

describe('the Prisma schema', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  const schema = tablesOfModels();

  test('is read whole', () => {
    expect(Object.keys(schema).length).toBeGreaterThan(25);
    expect(schema.bar_blocks?.columns.payload).toBe('bytea');
    expect(schema.flow_events?.keys).toContain('index underlying, event_ts_ms desc, seq desc');
  });

  test('gives a table the keys of a relation as columns, and refuses a type that sets and COPY cannot write', () => {
    const field = { kind: 'scalar', isList: false, isRequired: true } as const;
    const tables = (more: object) =>
      tablesOf({
        models: [
          {
            name: 'Leg',
            dbName: 'legs',
            fields: [{ ...field, name: 'eventId', dbName: 'event_id', type: 'String' }, more],
          },
        ],
        indexes: [
          { model: 'Leg', type: 'normal', isDefinedOnField: false, fields: [{ name: 'eventId', sortOrder: 'desc' }] },
        ],
      } as never);
    expect(tables({ ...field, kind: 'object', name: 'event', type: 'Event' })).toEqual({
      Leg: {
        table: 'legs',
        fields: [{ field: 'eventId', column: 'event_id', type: 'text', list: false, optional: false }],
        indexes: [{ kind: 'index', columns: [{ column: 'event_id', descending: true }] }],
      },
    });
    expect(() => tables({ ...field, name: 'at', type: 'DateTime' })).toThrow('Leg.at: DateTime is none of String');
    expect(() => tables({ ...field, kind: 'enum', name: 'side', type: 'Side' })).toThrow('Leg.side: Side is none of');
  });

  test('and the migrations agree on every table, column, type, null, key and index', async () => {
    expect(await tablesOfStore(store)).toEqual(schema);
  });

  test('has no column that orders text by the rules of a language', async () => {
    const { rows } = await store.pool.query(
      `select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> '_prisma_migrations'
         and a.atttypid = 'text'::regtype and a.attcollation <> '"C"'::regcollation and not a.attisdropped`,
    );
    expect(rows, 'text columns need COLLATE "C" in their migration').toEqual([]);
  });

  test('keys every hot table by symbol or underlying first, so that it can be sharded', () => {
    const hot = Object.entries(schema).filter(([name]) =>
      /block|capture|flow_|greeks|cross_|off_exchange|live_/.test(name),
    );
    expect(hot.length).toBeGreaterThan(10);
    for (const [name, { keys }] of hot)
      expect(
        keys.find((key) => key.startsWith('id ')),
        name,
      ).toMatch(/^id (symbol|underlying)\b/);
  });
});
