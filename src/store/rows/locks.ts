import pg from 'pg';
import type { ChangeSet } from '../versions/subjects.ts';
import { type Queries, statement } from './statement.ts';

/** A transaction as seen by locks, which it releases when it ends. */
type InTransaction = Queries & { readonly changes: ChangeSet };

const alone = statement('locks/lock', { key: 'text' }, { pg_advisory_xact_lock: 'void' });
const shared = statement('locks/lock-shared', { key: 'text' }, { pg_advisory_xact_lock_shared: 'void' });
const several = statement('locks/lock-all', { keys: 'text[]' }, { pg_advisory_xact_lock: 'void' });
const trying = statement('locks/try-lock', { key: 'text' }, { held: 'bool' });

/** Takes an exclusive lock on `key` until the transaction ends; waits for it. */
export async function lock(tx: Queries, key: string): Promise<void> {
  await alone.rows(tx, { key });
}

/** Begins a transaction that holds `key` as by `lock`, in one round trip. */
export async function beginLocked(connection: Pick<pg.PoolClient, 'query'>, key: string): Promise<void> {
  await connection.query(`BEGIN; ${alone.text.replace('$1', () => pg.escapeLiteral(key))}`);
}

/** Waits until no transaction holds an exclusive lock on `key`. */
export async function untilFree(reader: Queries, key: string): Promise<void> {
  await shared.rows(reader, { key });
}

/** Takes a shared lock on `key` until the transaction ends; waits for an exclusive one. */
export async function lockShared(tx: InTransaction, key: string): Promise<void> {
  await shared.rows(tx, { key });
}

/** Takes an exclusive lock on `key` until the transaction ends; false = it is held by another. */
export async function tryLock(tx: InTransaction, key: string): Promise<boolean> {
  const [row] = await trying.rows(tx, { key });
  return row!.held;
}

/** `lock` for several keys in sequence. All callers must use the same order, to prevent deadlocks. */
export async function lockAll(tx: InTransaction, keys: readonly string[]): Promise<void> {
  await several.rows(tx, { keys });
}
