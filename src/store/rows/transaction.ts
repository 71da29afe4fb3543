import type { Socket } from 'node:net';
import type pg from 'pg';
import { announce, moveVersions } from '../versions/announcements.ts';
import { ChangeSet } from '../versions/subjects.ts';
import type { Store } from './connection.ts';
import { beginLocked } from './locks.ts';
import { notedModels } from './models/noted-models.ts';
import type { HeldModels } from './models/prisma.ts';
import type { GenerationWriter } from './models/superseded.ts';
import type { Reader } from './reader.ts';
import { driverFailureOf, sqlStateOf } from './sql-state.ts';
import { transactionsOf, writeProblemOf } from './write-watch.ts';

/**
 * One connection in a transaction: `query`, streams of pg-copy-streams, and Prisma's models all use it. `changes` has
 * the changes so far: models and sets of rows record them themselves, an SQL statement that writes cached data is
 * recorded where it is sent. When it has ended, nothing can be sent: the connection is another's.
 */
export type Transaction = Pick<pg.PoolClient, 'query'> & Reader & GenerationWriter & { readonly changes: ChangeSet };

export interface TransactionOptions {
  /** True if `work` has effects outside the store, and must not be retried. */
  once?: boolean;
  /** A lock to hold until the end; it is awaited first. */
  lock?: string;
}

/**
 * Runs `work` in one transaction on one connection and returns its result. Any failure rolls everything back and is
 * thrown. On a distributed store, `work` is retried up to three times if it failed because a shard moved or a node was
 * away, but never once the commit was sent. If the connection breaks during the commit, the error says that the result
 * is unknown. Every process is notified of the changes when the transaction commits; this process has no older data in
 * its caches when this returns.
 */
export async function inTransaction<T>(
  store: Store,
  work: (tx: Transaction) => Promise<T>,
  { once = false, lock }: TransactionOptions = {},
): Promise<T> {
  let isSent = false;
  const onCommit = () => {
    isSent = true;
  };
  return store.cluster.repeated(
    () => attempt(store, work, { onCommit, lock }),
    () => !once && !isSent,
  );
}

interface Attempt {
  onCommit: () => void;
  lock: string | undefined;
}

/** Bytes that were sent over a connection. */
function bytesSent(client: pg.PoolClient): number {
  const { connection } = client as unknown as { connection: { stream: Socket } };
  return connection.stream.bytesWritten;
}

async function attempt<T>(
  store: Store,
  work: (tx: Transaction) => Promise<T>,
  { onCommit, lock }: Attempt,
): Promise<T> {
  const client = await store.pool.connect();
  const sentBefore = bytesSent(client);
  const writer = () => transactionsOf(bytesSent(client) - sentBefore);
  let broken: Error | undefined;
  let held: HeldModels | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  const lent = lentQuery(client);
  try {
    await (lock === undefined ? client.query('begin') : beginLocked(client, lock));
    held = await store.holdModels(client);
    const changes = new ChangeSet();
    const note = changes.addRows.bind(changes);
    const { cluster } = store;
    const routing = cluster.transactionRouting;
    const written = { generation: null, keepsSuperseded: store.keepSupersededMs > 0 };
    const tx: Transaction = { query: lent.query, prisma: notedModels(held.models, note), changes, routing, ...written };
    const result = await work(tx);
    await cluster.beforeCommit(client);
    const change = changes.announced();
    const id = change && (await announce(store, tx, change));
    onCommit();
    // A transaction that may have been committed does not count as announced: its announcement may still arrive.
    const warned = await commit(client, () => change && moveVersions(store, change, null));
    if (change) moveVersions(store, change, id);
    if (warned) await cluster.afterWarning(client);
    if (store.writes.failing().has(writer())) store.writes.wrote(writer(), null);
    return result;
  } catch (error) {
    // A database that did not answer will not answer a rollback either: closing the connection rolls back.
    if (driverFailureOf(error) === 'unanswered') broken ??= error as Error;
    else await client.query('rollback').catch((failure: Error) => (broken ??= failure));
    // A failure that concerns every write is reported by the store; a rejected row is not.
    if (writeProblemOf(error) !== null) store.writes.wrote(writer(), error);
    throw error;
  } finally {
    held?.release();
    lent.end();
    client.off('error', onError);
    // A connection that could not roll back is not reused.
    client.release(broken);
  }
}

/** A connection's `query`, until `end`: then it throws. Nothing is added to the connection itself. */
function lentQuery(client: pg.PoolClient): { query: pg.PoolClient['query']; end(): void } {
  const send = client.query.bind(client) as (...given: unknown[]) => unknown;
  let hasEnded = false;
  const query = (...given: unknown[]) => {
    if (hasEnded) throw new Error('The transaction has ended.');
    return send(...given);
  };
  return {
    query: query as pg.PoolClient['query'],
    end() {
      hasEnded = true;
    },
  };
}

/**
 * `inTransaction` for work that reads market data to change it: begins once every node has all earlier commits.
 * `always`: also if no commit of this process was in doubt, because another process's may have been.
 */
export async function inSettledTransaction<T>(
  store: Store,
  work: (tx: Transaction) => Promise<T>,
  { always = true, once = false }: TransactionOptions & { always?: boolean } = {},
): Promise<T> {
  await store.cluster.untilSettled(always);
  return inTransaction(store, work, { once });
}

/** Class of the errors of values that a column cannot hold. */
const dataException = /^22/;

/**
 * True if an error within a transaction is not of the database: the transaction can still be used, or a value was one
 * that a column cannot hold.
 */
export async function isUsable(tx: Pick<pg.PoolClient, 'query'>, error: unknown): Promise<boolean> {
  if (dataException.test(sqlStateOf(error) ?? '')) return true;
  return tx.query('SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Commits. Returns true if the database sent a warning. */
async function commit(tx: pg.PoolClient, onUnknown: () => void): Promise<boolean> {
  let answer: pg.QueryResult;
  let warned = false;
  const onNotice = ({ severity }: { severity: string | undefined }) => {
    warned ||= severity === 'WARNING';
  };
  tx.on('notice', onNotice);
  try {
    answer = await tx.query('commit');
  } catch (error) {
    const rejected = typeof (error as { severity?: unknown }).severity === 'string';
    if (rejected) throw error;
    onUnknown();
    throw new Error('The connection broke during the commit. Whether the transaction was committed is unknown.', {
      cause: error,
    });
  } finally {
    tx.off('notice', onNotice);
  }
  // PostgreSQL answers COMMIT with ROLLBACK, and no error, if a statement of the transaction failed.
  if (answer.command !== 'COMMIT')
    throw new Error('A statement of the transaction failed; the transaction was rolled back.');
  return warned;
}
