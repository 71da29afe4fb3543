import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { storeError } from './store-error.ts';

/** The project's migrations, one folder each, applied in order of name. */
export const migrationsFolder = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

// The advisory lock of Prisma's own migrate, so that the two exclude each other.
const migrateLock = 72707369;

// The table as Prisma creates it.
const recordTable = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" varchar(36) PRIMARY KEY NOT NULL,
  "checksum" varchar(64) NOT NULL,
  "finished_at" timestamptz,
  "migration_name" varchar(255) NOT NULL,
  "logs" text,
  "rolled_back_at" timestamptz,
  "started_at" timestamptz NOT NULL DEFAULT now(),
  "applied_steps_count" integer NOT NULL DEFAULT 0
)`;

type Queryable = Pick<pg.Pool, 'query'>;

interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of the file, hex, as Prisma records it. */
  checksum: string;
}

export interface MigrateOptions {
  /** Folder of migrations; by default the project's. */
  folder?: string;
  /** False: apply nothing, and reject a store that lacks some. */
  apply?: boolean;
  log?: (line: string) => void;
}

/** True if the store is at the code's version. Rejects the stores that `migrate` rejects. */
export async function isMigrated(client: Queryable): Promise<boolean> {
  return (await findMissing(client, readMigrations(migrationsFolder))).length === 0;
}

/**
 * Brings the store to the code's version and returns the names of the applied migrations. All missing ones are applied
 * in one transaction, under an advisory lock: a failure leaves the store unchanged, and of two concurrent processes one
 * does the work. Rejects a store that is newer than the code, or was built from other migrations.
 */
export async function migrate(
  pool: pg.Pool,
  { folder = migrationsFolder, apply = true, log = () => {} }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = readMigrations(folder);
  const client = await pool.connect();
  try {
    // The common case, nothing to do, takes no lock and writes nothing.
    const missing = await findMissing(client, migrations);
    if (missing.length === 0) return [];
    if (!apply)
      throw storeError(
        `The store needs ${missing.length} migration(s), from ${missing[0]!.name} on: run "tapegraph migrate".`,
      );
    await client.query('SELECT pg_advisory_lock($1)', [migrateLock]);
    try {
      return await applyMissing(client, migrations, log);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [migrateLock]).catch(() => {});
    }
  } finally {
    client.release();
  }
}

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names
    .map(({ name }) => {
      // Line ends as committed, even if a checkout changed them: the checksum must not depend on the machine.
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8').replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function findMissing(client: Queryable, migrations: Migration[]): Promise<Migration[]> {
  const exists = await client.query(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS found`);
  if (exists.rows[0].found !== true) return migrations;
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  const known = new Map(migrations.map((each) => [each.name, each]));
  for (const { name, checksum, finished } of rows) {
    const ours = known.get(name);
    if (ours === undefined)
      throw storeError(
        `The store is newer than this version of Tapegraph: its migration ${name} is unknown. Update Tapegraph.`,
      );
    if (!finished)
      throw storeError(
        `Migration ${name} was started by another tool and did not finish. Resolve it with that tool first (prisma migrate resolve).`,
      );
    if (ours.checksum !== checksum)
      throw storeError(
        `Migration ${name} was changed after it was applied to this store. Restore its file; put changes into a new migration.`,
      );
  }
  const applied = new Set(rows.map((row) => row.name));
  return migrations.filter((each) => !applied.has(each.name));
}

async function applyMissing(
  client: pg.PoolClient,
  migrations: Migration[],
  log: (line: string) => void,
): Promise<string[]> {
  // Checked again: another process may have migrated during the wait for the lock.
  const missing = await findMissing(client, migrations);
  if (missing.length === 0) return [];
  await client.query('begin');
  try {
    await client.query(recordTable);
    for (const migration of missing) await applyOne(client, migration);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
  const count = `${missing.length} ${missing.length === 1 ? 'migration' : 'migrations'}`;
  log(missing.length === migrations.length ? `Created the database (${count}).` : `Applied ${count}.`);
  return missing.map((each) => each.name);
}

// Citus rejects some changes of a distributed table together with other statements, so each is sent separately.
const oneStatement = /(?:'[^']*'|"[^"]*"|--.*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|[^;])+/g;

async function applyOne(client: pg.PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  try {
    for (const [statement] of sql.matchAll(oneStatement)) await client.query(statement);
  } catch (error) {
    throw storeError(`Migration ${name} failed; the store is unchanged: ${(error as Error).message}`, error);
  }
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}
