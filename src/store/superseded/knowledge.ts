import { numbered } from '../rows/models/numbered-rows.ts';
import type { Reader } from '../rows/reader.ts';
import { readKnownFrom } from './generation.ts';
import type { Knowledge } from './known-text.ts';

/** An instant of knowledge, and from when on the store has all that was known. */
export interface StoredKnowledge extends Knowledge {
  /** First instant of knowledge whose data is stored whole, epoch ms; null = all is. */
  knownFromMs: number | null;
}

/** Reads what is stored of an instant of knowledge, epoch ms. */
export async function readKnowledge(from: Pick<Reader, 'prisma'>, atMs: number): Promise<StoredKnowledge> {
  const [knownFromMs, runs] = await Promise.all([
    readKnownFrom(from),
    from.prisma.generationRun.findMany({
      where: { begunMs: { lte: atMs }, endedMs: { gt: atMs } },
      select: { begunMs: true },
    }),
  ]);
  return { atMs, knownFromMs, unfinishedMs: runs.map(numbered).map(({ begunMs }) => begunMs) };
}
