import type { Store } from './connection.ts';
import type { Reader } from './replicas.ts';
import { statement } from './statement.ts';

/**
 * Keeps `value` under `key` unless something is kept there already, and returns what is kept. Whoever asks, in whatever process,
 * gets the same answer.
 */
export async function keepFact(store: Store, key: string, value: string): Promise<string> {
  await store.prisma.storeFact.createMany({ data: [{ key, value }], skipDuplicates: true });
  return (await readFact(store, key))!;
}

/** What is kept under `key`, or null. */
export async function readFact({ prisma }: Pick<Reader, 'prisma'>, key: string): Promise<string | null> {
  return (await prisma.storeFact.findUnique({ where: { key } }))?.value ?? null;
}

/** Keeps `value` under `key`, in place of what was kept there. */
export async function writeFact({ prisma }: Pick<Reader, 'prisma'>, key: string, value: string): Promise<void> {
  await prisma.storeFact.upsert({ where: { key }, create: { key, value }, update: { value } });
}

/** Whether any bars, chains or open interest are stored. */
export async function holdsMarketData({ prisma }: Store): Promise<boolean> {
  const underlying = { select: { underlying: true } } as const;
  const first = [
    () => prisma.barBlock.findFirst({ select: { symbol: true } }),
    () => prisma.optionBarBlock.findFirst(underlying),
    () => prisma.chainCapture.findFirst(underlying),
    () => prisma.openInterestBlock.findFirst(underlying),
    () => prisma.flowEvent.findFirst(underlying),
    () => prisma.optionQuoteBlock.findFirst(underlying),
  ];
  for (const find of first) if (await find()) return true;
  return false;
}

const locking = statement('lock-session', { key: 'text' }, { pg_advisory_lock: 'void' });
const trying = statement('try-lock-session', { key: 'text' }, { free: 'bool' });

/** Does `work` while no other process does work of the same name; waits for one that does. */
export async function exclusively<T>(store: Store, name: string, work: () => Promise<T>): Promise<T> {
  const client = await store.pool.connect();
  try {
    await locking.rows(client, { key: name });
    return await work();
  } finally {
    // The lock is the connection's: it goes with it, whatever happened.
    client.release(true);
  }
}

/**
 * Does `work` unless any process does work of the same name already. Its signal is aborted when the connection is lost by which others
 * know that it is done: then one of them may begin.
 */
export async function unlessDone(
  store: Store,
  name: string,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const client = await store.pool.connect();
  const lost = new AbortController();
  const onError = () => lost.abort();
  client.on('error', onError);
  try {
    const [row] = await trying.rows(client, { key: name });
    if (row!.free) await work(lost.signal);
  } finally {
    client.release(true);
  }
}
