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
