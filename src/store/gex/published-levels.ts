import type { GexCapture } from '../../domain/gex/gex.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Transaction } from '../rows/transaction.ts';

const fields = {
  ...{ netGex: true, flipPoint: true, zeroGamma: true, methodologyVersion: true },
  ...{ callWall: true, putWall: true, callGexPeak: true, putGexPeak: true },
} as const;

/** The main figures of a capture. */
export type PublishedLevels = Pick<GexCapture, keyof typeof fields>;

/** The main figures of a session's captures by instant (epoch ms), inside the caller's transaction. */
export async function publishedLevels(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<Map<number, PublishedLevels>> {
  const select = { capturedAt: true, ...fields } as const;
  const rows = await prisma.gexCapture.findMany({ where: { underlying, sessionDate }, select });
  return new Map(rows.map(numbered).map(({ capturedAt, ...levels }) => [capturedAt, levels]));
}
