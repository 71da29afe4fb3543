import type pg from 'pg';
import { storeError } from '../rows/store-error.ts';
import { lockTables } from './lock-tables.ts';

/** A table to copy, and its distribution column. */
export interface SpreadTable {
  table: string;
  by: string;
}

/** The definition of a table, without its name. */
interface Definition {
  columns: { name: string; type: string }[];
  /** The columns of its primary key. */
  key: string[];
  /** `ALTER TABLE` of the constraints, statements of the other indexes. `@` is the placeholder of the table. */
  made: string[];
}

type Queries = Pick<pg.ClientBase, 'query'>;

const changesAtOnce = 5000;

/** The schema of the copies, in which they have their final names. */
export const copiesSchema = (schema: string) => `${schema}_copy`;

const definitionText = `SELECT
  (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) ORDER BY attname)
    FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
  (SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute JOIN pg_index ON indrelid = attrelid
    WHERE attrelid = c.oid AND indisprimary AND attnum = ANY (indkey)) AS key,
  ARRAY(SELECT format('ALTER TABLE @ ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE conrelid = c.oid AND contype IN ('p', 'u') ORDER BY conname)
    || ARRAY(SELECT replace(pg_get_indexdef(indexrelid), format(' ON %s.%s ', n.nspname, c.relname), ' ON @ ')
      FROM pg_index WHERE indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
      ORDER BY indexrelid::regclass::text) AS made
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`;

// Owner and privileges to copy.
const rightsText = `SELECT format('ALTER TABLE @ OWNER TO %I', pg_get_userbyid(relowner)) AS text
    FROM pg_class WHERE oid = $1::regclass
  UNION ALL SELECT format('GRANT %s ON @ TO %s', privilege_type,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = $1::regclass AND grantee <> relowner`;

const dependentsText = `SELECT pg_describe_object(classid, objid, 0) AS what FROM pg_depend
    WHERE refclassid = 'pg_class'::regclass AND refobjid = ANY ($1::regclass[])
      AND classid = ANY ('{pg_rewrite, pg_policy, pg_publication_rel}'::regclass[])
  UNION SELECT format('trigger %s', tgname) FROM pg_trigger
    WHERE tgrelid = ANY ($1::regclass[]) AND NOT tgisinternal AND tgname NOT LIKE 'copied on %'`;

/**
 * Tables that are copied to the nodes together, under concurrent reads and writes, and replace the old ones in one
 * transaction: statements that join them find either all or none distributed. Triggers record the keys of changed rows,
 * which are copied again. The state of the copy is stored in the database, so that it can be resumed after a crash.
 */
export class OnlineCopy {
  readonly #client: pg.ClientBase;
  readonly #schema: string;
  readonly #tables: readonly SpreadTable[];
  #definitions = new Map<string, Definition>();

  constructor(client: pg.ClientBase, schema: string, tables: readonly SpreadTable[]) {
    this.#client = client;
    this.#schema = schema;
    this.#tables = tables;
  }

  /** Throws if a table has dependent objects that its copy would lack. */
  async requireFree(): Promise<void> {
    const { rows } = await this.#client.query<{ what: string }>(dependentsText, [this.#allOld()]);
    if (rows.length > 0)
      throw storeError(
        `Tables cannot be copied while they are written, since something depends on them: ${rows.map(({ what }) => what).join(', ')}. Drop it and create it again later, or use --block-writes.`,
      );
  }

  /** True if an earlier run has started, of tables that were not migrated since: this run resumes it. */
  async isBegun(): Promise<boolean> {
    // Outside of a transaction that distributes a table: Citus creates that transaction's objects on the nodes with our
    // role, which may not set their owner there.
    await this.#query(`CREATE SCHEMA IF NOT EXISTS ${copiesSchema(this.#schema)}`);
    await this.#query(`CREATE TABLE IF NOT EXISTS ${this.#copy('copied')} ("table" text PRIMARY KEY, through text)`);
    await this.#readDefinitions();
    const watched = await this.#watched();
    for (const { table } of this.#tables) {
      const copied = await definitionOf(this.#client, copiesSchema(this.#schema), table);
      if (!watched.has(table) || !same(copied, this.#definitions.get(table)!)) return false;
    }
    return true;
  }

  /** Drops the remains of an earlier run. Call it in a transaction. */
  async dropLeft(): Promise<void> {
    const watched = await this.#watched();
    const old = this.#tables.filter(({ table }) => watched.has(table)).map(({ table }) => this.#old(table));
    await lockTables(this.#client, old, 'ACCESS EXCLUSIVE');
    for (const { table } of this.#tables) {
      for (const name of [table, `${table}_changes`]) await this.#query(`DROP TABLE IF EXISTS ${this.#copy(name)}`);
      await this.#query(`DROP FUNCTION IF EXISTS ${this.#copy(`${table}_changed`)} CASCADE`);
      await this.#query(`DELETE FROM ${this.#copy('copied')} WHERE "table" = $1`, [table]);
    }
  }

  /** Creates the empty copies, colocated with `leader`. It blocks nothing. */
  async make(leader: string): Promise<void> {
    await this.#transaction(async () => {
      let besides = leader;
      for (const { table, by } of this.#tables) {
        await this.#makeCopy(table);
        await this.#query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [
          this.#copy(table),
          by,
          besides,
        ]);
        if (besides === 'default') besides = this.#copy(table);
        await this.#makeNotes(table);
      }
    });
  }

  /** Starts recording the keys of changed rows, from the end of the transaction on. Call it in one. */
  async begin(): Promise<void> {
    await lockTables(this.#client, this.#allOld(), 'SHARE ROW EXCLUSIVE');
    for (const { table } of this.#tables) {
      await this.#watch(table);
      await this.#query(`INSERT INTO ${this.#copy('copied')} VALUES ($1)`, [table]);
    }
  }

  /** Copies the remaining symbols, one at a time. Rows of symbols that are added meanwhile are changes. */
  async copy(table: string, signal: AbortSignal): Promise<void> {
    const { by } = this.#tables.find((each) => each.table === table)!;
    const columns = this.#columns(table);
    for (const symbol of await this.#remaining(table, by)) {
      signal.throwIfAborted();
      await this.#transaction(async () => {
        // A symbol that was added late may be here already, as changes that a stopped run caught up with.
        await this.#query(`DELETE FROM ${this.#copy(table)} WHERE ${by} = $1`, [symbol]);
        await this.#query(
          `INSERT INTO ${this.#copy(table)} (${columns}) SELECT ${columns} FROM ${this.#old(table)} WHERE ${by} = $1`,
          [symbol],
        );
        await this.#query(`UPDATE ${this.#copy('copied')} SET through = $2 WHERE "table" = $1`, [table, symbol]);
      });
    }
  }

  /** Copies changed rows again, until each table has only few. */
  async catchUp(signal: AbortSignal): Promise<void> {
    for (let most = changesAtOnce; most === changesAtOnce; ) {
      most = 0;
      for (const { table } of this.#tables) {
        signal.throwIfAborted();
        await this.#transaction(async () => {
          most = Math.max(most, await this.#copyChanged(table));
        });
      }
    }
  }

  /**
   * Replaces the old tables by the copies and drops them. Call it in a transaction. The tables of changes and their
   * functions are dropped with the schema of the copies: that does not block readers and writers.
   */
  async takePlace(): Promise<void> {
    const old = this.#allOld();
    // The lock for dropping them: taken at the end, it would deadlock with a reader that waits here to write.
    await lockTables(this.#client, old, 'ACCESS EXCLUSIVE');
    await this.#requireSameDefinitions();
    for (const { table } of this.#tables) while ((await this.#copyChanged(table)) > 0);
    await this.#query(`DROP TABLE ${old.join(', ')}`);
    for (const { table } of this.#tables)
      await this.#query(`ALTER TABLE ${this.#copy(table)} SET SCHEMA ${this.#schema}`);
    await this.#query(`DELETE FROM ${this.#copy('copied')} WHERE "table" = ANY ($1)`, [
      this.#tables.map(({ table }) => table),
    ]);
  }

  #old = (table: string) => `${this.#schema}.${table}`;
  #allOld = () => this.#tables.map(({ table }) => this.#old(table));
  #copy = (table: string) => `${copiesSchema(this.#schema)}.${table}`;
  #columns = (table: string) =>
    this.#definitions
      .get(table)!
      .columns.map(({ name }) => name)
      .join(', ');

  #query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    return this.#client.query(text, values);
  }

  async #transaction(work: () => Promise<void>): Promise<void> {
    await this.#query('BEGIN');
    try {
      await this.#query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
      await work();
      await this.#query('COMMIT');
    } catch (error) {
      await this.#query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  async #readDefinitions(): Promise<void> {
    for (const { table } of this.#tables)
      this.#definitions.set(table, (await definitionOf(this.#client, this.#schema, table))!);
  }

  /** Symbols of a table that are not copied yet, in order; each is found by the index, whatever its rows. */
  async #remaining(table: string, by: string): Promise<string[]> {
    const next = (after: string) => `(SELECT min(${by}) FROM ${this.#old(table)} WHERE ${by} > ${after})`;
    const { rows } = await this.#client.query<{ symbol: string }>(
      `WITH RECURSIVE remaining (symbol) AS (
         SELECT ${next(`coalesce((SELECT through FROM ${this.#copy('copied')} WHERE "table" = $1), '')`)}
         UNION ALL SELECT ${next('remaining.symbol')} FROM remaining WHERE symbol IS NOT NULL)
       SELECT symbol FROM remaining WHERE symbol IS NOT NULL`,
      [table],
    );
    return rows.map(({ symbol }) => symbol);
  }

  /** Tables whose changes are recorded. */
  async #watched(): Promise<Set<string>> {
    const { rows } = await this.#client.query<{ table: string }>(`SELECT "table" FROM ${this.#copy('copied')}`);
    return new Set(rows.map(({ table }) => table));
  }

  async #makeCopy(table: string): Promise<void> {
    const { made } = this.#definitions.get(table)!;
    const old = this.#old(table);
    await this.#query(
      `CREATE TABLE ${this.#copy(table)} (LIKE ${old} INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS)`,
    );
    const { rows: rights } = await this.#client.query<{ text: string }>(rightsText, [old]);
    for (const text of [...made, ...rights.map((each) => each.text)])
      await this.#query(text.replace('@', this.#copy(table)));
  }

  /** Creates the table of changes and its triggers. */
  async #makeNotes(table: string): Promise<void> {
    const key = this.#definitions.get(table)!.key.join(', ');
    const changes = this.#copy(`${table}_changes`);
    const noted = (rows: string) => `INSERT INTO ${changes} SELECT ${key} FROM ${rows};`;
    await this.#query(`CREATE TABLE ${changes} AS SELECT ${key} FROM ${this.#old(table)} WITH NO DATA`);
    // Roles that may write the table may not write this one.
    await this.#query(`CREATE FUNCTION ${this.#copy(`${table}_changed`)}() RETURNS trigger
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
      BEGIN
        IF TG_OP <> 'INSERT' THEN ${noted('gone')} END IF;
        IF TG_OP <> 'DELETE' THEN ${noted('come')} END IF;
        RETURN NULL;
      END $$`);
  }

  async #watch(table: string): Promise<void> {
    for (const [change, rows] of [
      ['INSERT', 'NEW TABLE AS come'],
      ['UPDATE', 'OLD TABLE AS gone NEW TABLE AS come'],
      ['DELETE', 'OLD TABLE AS gone'],
    ])
      await this.#query(`CREATE TRIGGER "copied on ${change}" AFTER ${change} ON ${this.#old(table)}
        REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${this.#copy(`${table}_changed`)}()`);
  }

  /** Copies some of the changed rows. Returns the number of their changes. Call it in a transaction. */
  async #copyChanged(table: string): Promise<number> {
    const { key } = this.#definitions.get(table)!;
    const columns = this.#columns(table);
    const changes = this.#copy(`${table}_changes`);
    const taken = `taken_${table}`;
    await this.#query(`CREATE TEMPORARY TABLE IF NOT EXISTS ${taken} (LIKE ${changes}) ON COMMIT DROP`);
    await this.#query(`TRUNCATE ${taken}`);
    const { rowCount } = await this.#query(`WITH change AS (
        DELETE FROM ${changes} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${changes} LIMIT ${changesAtOnce})) RETURNING *
      ) INSERT INTO ${taken} SELECT * FROM change`);
    if (!rowCount) return 0;
    const isIts = key.map((column) => `t.${column} = k.${column}`).join(' AND ');
    const keys = `(SELECT DISTINCT * FROM ${taken} OFFSET 0) AS k`;
    await this.#query(`DELETE FROM ${this.#copy(table)} AS t USING ${keys} WHERE ${isIts}`);
    await this.#query(`INSERT INTO ${this.#copy(table)} (${columns})
      SELECT ${columns} FROM ${this.#old(table)} AS t WHERE EXISTS (SELECT FROM ${taken} AS k WHERE ${isIts})`);
    return rowCount;
  }

  async #requireSameDefinitions(): Promise<void> {
    for (const { table } of this.#tables) {
      const now = await definitionOf(this.#client, this.#schema, table);
      if (!same(now, this.#definitions.get(table)!))
        throw storeError(`The table ${table} was migrated while it was copied. Run "tapegraph distribute" again.`);
    }
  }
}

async function definitionOf(client: Queries, schema: string, table: string): Promise<Definition | null> {
  const { rows } = await client.query<Definition>(definitionText, [schema, table]);
  return rows[0] ?? null;
}

const same = (one: Definition | null, other: Definition) => JSON.stringify(one) === JSON.stringify(other);
