import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate, migrationsFolder } from '../../../src/store/rows/migrations.ts';
import { statementsOf } from '../../support/statements.ts';
import { storeForThisTest } from '../../support/store.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tapegraph-migrations-'));
  cpSync(migrationsFolder, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function addMigration(name: string, sql: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'migration.sql'), sql);
}

const ours = readdirSync(migrationsFolder).filter((name) => /^\d/.test(name));

describe('migrations', () => {
  test('are recorded as Prisma records them', async () => {
    const store = await storeForThisTest();
    const { rows } = await store.pool.query(
      `select migration_name, checksum, finished_at >= started_at as finished, rolled_back_at, applied_steps_count, logs, length(id) as id
       from "_prisma_migrations" order by migration_name`,
    );
    expect(rows).toEqual(
      ours.map((name) => ({
        migration_name: name,
        checksum: createHash('sha256')
          .update(readFileSync(join(migrationsFolder, name, 'migration.sql')))
          .digest('hex'),
        finished: true,
        rolled_back_at: null,
        applied_steps_count: 1,
        logs: null,
        id: 36,
      })),
    );
  });

  test('are applied once, in order of name', async () => {
    const store = await storeForThisTest();
    addMigration('20990102000000_second', 'alter table tried add column b int;');
    addMigration('20990101000000_first', 'create table tried (a int);');
    expect(await migrate(store.pool, { folder })).toEqual(['20990101000000_first', '20990102000000_second']);
    expect(await migrate(store.pool, { folder })).toEqual([]);
  });

  test('are sent a statement at a time, whatever semicolons are in texts, comments and bodies', async () => {
    const store = await storeForThisTest();
    const sent = await statementsOf(async () => {
      addMigration(
        '20990101000000_semicolons',
        `-- One; it's a comment.
        CREATE TABLE "odd;name" (a text DEFAULT 'it''s; here'); /* two; */
        DO $body$ BEGIN INSERT INTO "odd;name" DEFAULT VALUES; PERFORM 1; END $body$;
        INSERT INTO "odd;name" VALUES (';')`,
      );
      await migrate(store.pool, { folder });
    });
    expect(sent.filter((text) => text.includes('odd;name'))).toHaveLength(3);
    expect((await store.pool.query('select a from "odd;name"')).rows).toEqual([{ a: "it's; here" }, { a: ';' }]);
  });

  test('that fail leave the store as it was, those before them in the same run included', async () => {
    const store = await storeForThisTest();
    addMigration(
      '20990101000000_good',
      "create table tried (a int); insert into store_facts values ('from a migration', '');",
    );
    addMigration(
      '20990102000000_bad',
      'alter table symbols drop column name; alter table no_such_table add column a int;',
    );
    const before = await pictureOf(store.pool);
    await expect(migrate(store.pool, { folder })).rejects.toThrow(
      /20990102000000_bad failed; the store is unchanged: .*no_such_table/,
    );
    expect(await pictureOf(store.pool)).toEqual(before);
    writeFileSync(join(folder, '20990102000000_bad', 'migration.sql'), 'select 1;');
    expect(await migrate(store.pool, { folder })).toHaveLength(2);
  });

  test('by several processes at once are applied by one of them', async () => {
    const store = await storeForThisTest();
    addMigration(
      '20990101000000_slow',
      'create table tried (a int); select pg_sleep(0.3); insert into tried values (1);',
    );
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(store.pool, { folder })));
    expect(applied.flat()).toEqual(['20990101000000_slow']);
    expect((await store.pool.query('select * from tried')).rows).toEqual([{ a: 1 }]);
  });

  test('that the code does not know mean a newer store, which is refused', async () => {
    const store = await storeForThisTest();
    addMigration('20990101000000_later', 'create table tried (a int);');
    await migrate(store.pool, { folder });
    await expect(migrate(store.pool)).rejects.toThrow(
      'newer than this version of Tapegraph: its migration 20990101000000_later',
    );
  });

  test('changed after they were applied are refused', async () => {
    const store = await storeForThisTest();
    const file = join(folder, ours[0]!, 'migration.sql');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n-- a word more`);
    await expect(migrate(store.pool, { folder })).rejects.toThrow(`${ours[0]} was changed after it was applied`);
  });

  test('count as unchanged when only the line ends of the checkout differ', async () => {
    const store = await storeForThisTest();
    const file = join(folder, ours[0]!, 'migration.sql');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
    expect(await migrate(store.pool, { folder })).toEqual([]);
  });

  test('that another tool began and did not end are refused', async () => {
    const store = await storeForThisTest();
    await store.pool.query('update "_prisma_migrations" set finished_at = null');
    await expect(migrate(store.pool)).rejects.toThrow('did not finish');
  });

  test('are only asked for, not applied, when the store is opened so', async () => {
    const store = await storeForThisTest();
    addMigration('20990101000000_later', 'create table tried (a int);');
    await expect(migrate(store.pool, { folder, apply: false })).rejects.toThrow(
      'needs 1 migration(s), from 20990101000000_later',
    );
    expect((await store.pool.query("select to_regclass('tried') as found")).rows[0].found).toBeNull();
  });
});

/** Everything a migration could change that these tests touch: columns, rows, records. */
async function pictureOf(pool: { query(sql: string): Promise<{ rows: unknown[] }> }): Promise<unknown[]> {
  const columns =
    "select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2";
  const queries = [columns, 'select * from store_facts', 'select * from "_prisma_migrations" order by migration_name'];
  return Promise.all(queries.map(async (sql) => (await pool.query(sql)).rows));
}
