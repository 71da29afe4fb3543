import { readFrom, type Store } from '../rows/connection.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { published } from '../versions/published.ts';

/** Times of the published captures of an underlying in [fromMs, toMs), epoch ms ascending. */
export async function captureTimes(
  store: Store,
  kind: 'chain' | 'gex',
  underlying: string,
  fromMs: number,
  toMs: number,
): Promise<number[]> {
  const { prisma } = readFrom(store, kind, [underlying]);
  const asked = {
    where: { underlying, capturedAt: { gte: fromMs, lt: toMs }, ...published },
    select: { capturedAt: true },
    orderBy: { capturedAt: 'asc' },
  } as const;
  const rows = kind === 'chain' ? await prisma.chainCapture.findMany(asked) : await prisma.gexCapture.findMany(asked);
  return rows.map((row) => numbered(row).capturedAt);
}

/** The time of the first published GEX capture of an underlying, epoch ms; null if there is none. */
export async function firstCaptureTime(store: Store, underlying: string): Promise<number | null> {
  const { prisma } = readFrom(store, 'gex', [underlying]);
  const first = await prisma.gexCapture.findFirst({
    where: { underlying, ...published },
    select: { capturedAt: true },
    orderBy: { capturedAt: 'asc' },
  });
  return first && numbered(first).capturedAt;
}
