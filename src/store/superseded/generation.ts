import { readMetadata, writeMetadata } from '../rows/metadata.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { FirstParts } from '../rows/models/superseded.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';

/** The metadata key of the first instant of knowledge whose data is stored whole; absent = all is. */
export const knownFrom = 'known_from_ms';

/** First instant of knowledge whose data is stored whole, epoch ms; null = all is. */
export async function readKnownFrom(from: Pick<Reader, 'prisma'>): Promise<number | null> {
  const stored = await readMetadata(from, knownFrom);
  return stored === null ? null : Number(stored);
}

/** Notes that data known before an instant is no longer stored. */
export async function raiseKnownFrom(tx: Transaction, instantMs: number): Promise<void> {
  const before = await readKnownFrom(tx);
  if (before === null || before < instantMs) await writeMetadata(tx, knownFrom, String(instantMs));
  // Answers as of knowledge before it must not be served any more.
  tx.changes.add('known', null);
}

/**
 * Writes as a generation that began at an instant, epoch ms, from here on: rows of earlier ones that a set of rows
 * replaces are kept. `first`: of a generation of many commits.
 */
export async function beginGeneration(
  tx: Transaction,
  instantMs: number,
  first: FirstParts | null = null,
): Promise<void> {
  const begunMs = Math.floor(instantMs);
  if (tx.generation?.begunMs === begunMs) return;
  await endGeneration(tx, begunMs);
  // The default of the column generation_ms reads it, also in COPY.
  await tx.query(`SELECT set_config('tapegraph.generation_ms', $1, true)`, [String(begunMs)]);
  tx.generation = { begunMs, first, hasLost: false };
}

/** Ends what `beginGeneration` began; what it wrote is known from `endedMs` on, epoch ms. */
export async function endGeneration(tx: Transaction, endedMs: number): Promise<void> {
  if (tx.generation?.hasLost) await raiseKnownFrom(tx, Math.floor(endedMs));
  tx.generation = null;
}

/** Writes one generation: it is known from the time when all of it was written. */
export async function asGeneration<T>(tx: Transaction, now: () => number, write: () => Promise<T>): Promise<T> {
  const begunMs = Math.floor(now());
  await beginGeneration(tx, begunMs);
  const result = await write();
  const endedMs = Math.floor(now());
  if (endedMs > begunMs) await upsertRows(tx, 'GenerationRun', [{ begunMs, endedMs }], { unlessBelow: 'endedMs' });
  await endGeneration(tx, endedMs);
  return result;
}
