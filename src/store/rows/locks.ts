import pg from 'pg';
import type { ChangeSet } from '../versions/subjects.ts';
import { type Queries, statement } from './statement.ts';

/** A transaction as locks see it: what they hold ends with it. */
type InTransaction = Queries & { readonly changes: ChangeSet };

const alone = statement('locks/lock', { key: 'text' }, { pg_advisory_xact_lock: 'void' });
const shared = statement('locks/lock-shared', { key: 'text' }, { pg_advisory_xact_lock_shared: 'void' });
const several = statement('locks/lock-all', { keys: 'text[]' }, { pg_advisory_xact_lock: 'void' });
const trying = statement('locks/try-lock', { key: 'text' }, { held: 'bool' });

/** Waits until nobody else holds `key`, and holds it until the transaction ends. */
export async function lock(tx: Queries, key: string): Promise<void> {
  await alone.rows(tx, { key });
}

/** Begins a transaction that holds `key` as by `lock`: both in one round trip. */
export async function beginLocked(connection: Pick<pg.PoolClient, 'query'>, key: string): Promise<void> {
  await connection.query(`BEGIN; ${alone.text.replace('$1', () => pg.escapeLiteral(key))}`);
}

/** Waits until no transaction holds `key` alone. */
export async function untilFree(reader: Queries, key: string): Promise<void> {
  await shared.rows(reader, { key });
}

/** Holds `key` together with others of this kind until the transaction ends; waits for one that holds it alone. */
export async function lockShared(tx: InTransaction, key: string): Promise<void> {
  await shared.rows(tx, { key });
}

/** Holds `key` until the transaction ends, unless somebody holds it now: false. */
export async function tryLock(tx: InTransaction, key: string): Promise<boolean> {
  const [row] = await trying.rows(tx, { key });
  return row!.held;
}

/**
 * `lock` for several keys, one after the other. To be given in one order by all, or two could wait for each other in a
 * circle.
 */
export async function lockAll(tx: InTransaction, keys: readonly string[]): Promise<void> {
  await several.rows(tx, { keys });
}
