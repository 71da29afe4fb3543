import { setTimeout as delay } from 'node:timers/promises';
import { modelsThrough } from './models/models-through.ts';
import type { Nodes } from './nodes.ts';
import type { Reader } from './replicas.ts';
import { sqlStateOf } from './sql-state.ts';

/** Pauses before a read is tried again, ms: a shard has moved by the first, a node may be back by the last. */
const pausesMs = [50, 200, 800];
/** A read that failed later than this after it was first sent is not tried again, ms. */
const patienceMs = 2000;

// PostgreSQL's codes: a transaction that met another; a server that ends; the class of lost connections, here those
// between the nodes.
const transient = /^(40001|40P01|57P0[123]|08...)$/;
const undefinedTable = '42P01';
const internalError = 'XX000';

/** Whether a read of a distributed store may succeed when it is tried again: a shard has moved, a node was away. */
export function mayPass(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code === null) return false;
  if (transient.test(code)) return true;
  const { message } = error as Error;
  // Planned before the shard was moved or divided, and sent to where it was.
  if (code === undefinedTable) return /_\d{6,}"? does not exist/.test(message);
  return code === internalError && /\bshard\b|server closed the connection/.test(message);
}

async function again<T>(read: () => Promise<T>): Promise<T> {
  const sentAt = performance.now();
  for (const pauseMs of pausesMs)
    try {
      return await read();
    } catch (error) {
      if (!mayPass(error) || performance.now() - sentAt > patienceMs) throw error;
      await delay(pauseMs);
    }
  return read();
}

/** Reads by `reader`; where the store is spread over nodes, what failed as a shard was moved is read again. */
export function retriedReads({ query, prisma }: Omit<Reader, 'symbolsAtOnce'>, nodes: Nodes): Reader {
  const retried = modelsThrough((call) => again(() => call(prisma)));
  const isSpread = () => nodes.symbolsAtOnce > 0;
  return {
    query: (statement, values) => (isSpread() ? again(() => query(statement, values)) : query(statement, values)),
    get prisma() {
      return isSpread() ? retried : prisma;
    },
    get symbolsAtOnce() {
      return nodes.symbolsAtOnce;
    },
  };
}
