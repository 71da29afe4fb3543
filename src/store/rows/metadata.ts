import type { Store } from './connection.ts';
import type { Reader } from './reader.ts';

/**
 * Stores `value` under `key` unless the key has a value, and returns the stored value, which is the same for every
 * process.
 */
export async function ensureMetadata(store: Store, key: string, value: string): Promise<string> {
  await store.prisma.metadataEntry.createMany({ data: [{ key, value }], skipDuplicates: true });
  return (await readMetadata(store, key))!;
}

/** The value stored under `key`, or null. */
export async function readMetadata({ prisma }: Pick<Reader, 'prisma'>, key: string): Promise<string | null> {
  return (await prisma.metadataEntry.findUnique({ where: { key } }))?.value ?? null;
}

/** Stores `value` under `key` and replaces the value stored before. */
export async function writeMetadata({ prisma }: Pick<Reader, 'prisma'>, key: string, value: string): Promise<void> {
  await prisma.metadataEntry.upsert({ where: { key }, create: { key, value }, update: { value } });
}

const ownData = 'own_data';

/** Records that data besides the sample market's is stored. */
export async function saveOwnData({ prisma }: Pick<Reader, 'prisma'>, nowMs: number): Promise<void> {
  await prisma.metadataEntry.createMany({ data: [{ key: ownData, value: String(nowMs) }], skipDuplicates: true });
}

/** True if data besides the sample market's was recorded. */
export async function hasOwnData(from: Pick<Reader, 'prisma'>): Promise<boolean> {
  return (await readMetadata(from, ownData)) !== null;
}

/** True if any bars, chains or open interest are stored. */
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
