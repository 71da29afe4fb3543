import { setTimeout as delay } from 'node:timers/promises';
import { modelsThrough } from '../rows/models/models-through.ts';
import type { Reader } from '../rows/reader.ts';
import { sqlStateOf } from '../rows/sql-state.ts';

/** Pauses before it is tried again, ms: a shard has moved by the first, a node may be back by the last. */
const pausesMs = [50, 200, 800];
/** A read that failed later than this after it was first sent is not tried again, ms. */
const patienceMs = 2000;

// PostgreSQL's codes: a transaction that met another; a server that ends; the class of lost connections, here those
// between the nodes.
const transient = /^(40001|40P01|57P0[123]|08...)$/;
const undefinedTable = '42P01';
const internalError = 'XX000';

/**
 * True if what a distributed store failed at may succeed when it is tried again: a shard has moved, a node was away, a
 * deadlock with either was resolved.
 */
export function mayPass(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code === null) return false;
  if (transient.test(code)) return true;
  const { message } = error as Error;
  // Planned before the shard was moved or divided, and sent to where it was.
  if (code === undefinedTable) return /_\d{6,}"? does not exist/.test(message);
  return code === internalError && /\bshard\b|server closed the connection/.test(message);
}

/** Does `work`, up to four times: again where `mayRepeat` says so of its error and of how long it has taken so far. */
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

/** Reads by `reader`; while the store is spread over nodes, what failed as a shard was moved is read again. */
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
