import type { GexCapture } from '../../core/domain/gex/gex.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Transaction } from '../rows/transaction.ts';
import { decodeExpiries } from './captures.ts';

const fields = {
  ...{ netGex: true, flipPoint: true, flipStatus: true, zeroGamma: true, methodologyVersion: true },
  ...{ callWall: true, putWall: true, callGexPeak: true, putGexPeak: true, netVanna: true, netCharm: true },
  ...{ impliedSpot: true, spotStale: true, inconsistentExpiries: true, expiries: true },
} as const;

/** The main figures of a capture. */
export type PublishedFigures = Pick<GexCapture, keyof typeof fields>;

/** The main figures of a session's captures by instant (epoch ms), inside the caller's transaction. */
export async function publishedFigures(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<Map<number, PublishedFigures>> {
  const select = { capturedAt: true, ...fields } as const;
  const rows = await prisma.gexCapture.findMany({ where: { underlying, sessionDate }, select });
  return new Map(
    rows.map(numbered).map(({ capturedAt, expiries, ...figures }) => {
      const flipStatus = figures.flipStatus as GexCapture['flipStatus'];
      return [capturedAt, { ...figures, flipStatus, expiries: decodeExpiries(expiries) }];
    }),
  );
}
