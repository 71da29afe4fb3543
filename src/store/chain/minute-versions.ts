import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Transaction } from '../rows/transaction.ts';

/** An underlying's session with minutes solved by another version. */
export interface OutdatedMinutes {
  underlying: string;
  session: SessionDate;
}

/**
 * The sessions with minutes solved by another version than this one, or by an unknown one, by session and underlying.
 */
export async function outdatedMinutes({ primary }: Store, methodologyVersion: string): Promise<OutdatedMinutes[]> {
  const found = await primary.prisma.greeksMinute.groupBy({
    by: ['sessionDate', 'underlying'],
    where: { OR: [{ methodologyVersion: null }, { methodologyVersion: { not: methodologyVersion } }] },
    orderBy: [{ sessionDate: 'asc' }, { underlying: 'asc' }],
  });
  return found.map(({ underlying, sessionDate }) => ({ underlying, session: sessionDate }));
}

/** The sessions with minutes that were solved without a price of the underlying; of these symbols only, unless null. */
export async function unpricedMinutes(
  { prisma }: Pick<Transaction, 'prisma'>,
  of: { symbols: readonly string[]; sessions: readonly SessionDate[] } | null,
): Promise<OutdatedMinutes[]> {
  const found = await prisma.greeksMinute.groupBy({
    by: ['sessionDate', 'underlying'],
    where: { spot: null, ...(of && { underlying: anyOf(of.symbols), sessionDate: anyOf(of.sessions) }) },
    orderBy: [{ sessionDate: 'asc' }, { underlying: 'asc' }],
  });
  return found.map(({ underlying, sessionDate }) => ({ underlying, session: sessionDate }));
}

/** The rate of a solved minute; null from before rates were stored. */
export interface RateOfMinute {
  tsMs: number;
  rate: number | null;
}

/** The solved minutes of an underlying's session, ascending, inside the caller's transaction. */
export async function ratesOfMinutes(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<RateOfMinute[]> {
  const rows = await prisma.greeksMinute.findMany({
    where: { underlying, sessionDate },
    select: { tsMs: true, rate: true },
    orderBy: { tsMs: 'asc' },
  });
  return rows.map(numbered);
}
