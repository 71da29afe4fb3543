import { setTimeout as delay } from 'node:timers/promises';
import { modelsThrough } from '../rows/models/models-through.ts';
import type { Reader } from '../rows/reader.ts';
import { sqlStateOf } from '../rows/sql-state.ts';

/** Pauses before retries, ms: a shard has moved by the first, a node may be back by the last. */
const pausesMs = [50, 200, 800];
/** Age from which a failed read is not retried, ms. */
const patienceMs = 2000;

// PostgreSQL's codes: serialization failures and deadlocks; a server that ends; the class of lost connections, here
// those between the nodes.
const transient = /^(40001|40P01|57P0[123]|08...)$/;
const undefinedTable = '42P01';
const internalError = 'XX000';

/**
 * True if a failure of a distributed store may be temporary: a shard has moved, a node was unreachable, a deadlock was
 * resolved.
 */
export function mayPass(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code === null) return false;
  if (transient.test(code)) return true;
  const { message } = error as Error;
  // Planned before the shard was moved or split, and sent to its former node.
  if (code === undefinedTable) return /_\d{6,}"? does not exist/.test(message);
  return code === internalError && /\bshard\b|server closed the connection/.test(message);
}

/** Runs `work`, up to four times, as long as `mayRepeat` allows it for the error and the time so far. */
export async function again<T>(
  work: () => Promise<T>,
  mayRepeat: (error: unknown, elapsedMs: number) => boolean,
): Promise<T> {
  const begunAt = performance.now();
  for (const pauseMs of pausesMs)
    try {
      return await work();
    } catch (error) {
      if (!mayRepeat(error, performance.now() - begunAt)) throw error;
      await delay(pauseMs);
    }
  return work();
}

const isReadAgain = (error: unknown, elapsedMs: number) => mayPass(error) && elapsedMs <= patienceMs;

/** Reads by `reader`; on a distributed store a read that failed because a shard moved is retried. */
export function retriedReads(
  { query, prisma }: Pick<Reader, 'query' | 'prisma'>,
  isSpread: () => boolean,
): Pick<Reader, 'query' | 'prisma'> {
  const retried = modelsThrough((call) => again(() => call(prisma), isReadAgain));
  return {
    query: (statement, values) =>
      isSpread() ? again(() => query(statement, values), isReadAgain) : query(statement, values),
    get prisma() {
      return isSpread() ? retried : prisma;
    },
  };
}
