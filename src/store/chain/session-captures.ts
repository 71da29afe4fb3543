import type { GammaSource } from '../../domain/gex.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { Store } from '../engine/connection.ts';
import { lock, lockAll } from '../engine/locks.ts';
import { anyOf } from '../engine/models/any-of.ts';
import { numbered } from '../engine/models/rows.ts';
import { statement } from '../engine/statement.ts';
import type { Transaction } from '../engine/transaction.ts';

const lockKey = (underlying: string) => `chain_captures ${underlying}`;

/**
 * Takes the captures of an underlying for one that writes them, until its transaction ends: each is made with those
 * before it.
 */
export async function lockCaptures(tx: Transaction, underlying: string): Promise<void> {
  await lock(tx, lockKey(underlying));
}

/** `lockCaptures` for several underlyings, in an order that is the same for all. */
export async function lockCapturesOfAll(tx: Transaction, underlyings: readonly string[]): Promise<void> {
  await lockAll(tx, underlyings.toSorted().map(lockKey));
}

/** Those of the underlyings that have captures of a session at or after an instant, inside the caller's transaction. */
export async function capturedFrom(
  { prisma }: Transaction,
  underlyings: readonly string[],
  sessionDate: SessionDate,
  fromMs: number,
): Promise<string[]> {
  const where = { underlying: anyOf(underlyings), sessionDate, capturedAt: { gte: fromMs } };
  const found = await prisma.chainCapture.groupBy({ by: ['underlying'], where });
  return found.map(({ underlying }) => underlying);
}

/** How a stored capture was computed. */
export interface ComputedCapture {
  capturedAt: number;
  /** The gammas of its exposures and the version of the definitions; null where nothing was published of it. */
  gammaSource: GammaSource | null;
  methodologyVersion: string | null;
}

/** The captures of an underlying's session after an instant, ascending, inside the caller's transaction. */
export async function capturesAfter(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
  afterMs: number,
): Promise<ComputedCapture[]> {
  const where = { underlying, sessionDate, capturedAt: { gt: afterMs } };
  const chains = await prisma.chainCapture.findMany({
    where,
    select: { capturedAt: true },
    orderBy: { capturedAt: 'asc' },
  });
  const published = await prisma.gexCapture.findMany({
    where,
    select: { capturedAt: true, gammaSource: true, methodologyVersion: true },
  });
  const computed = new Map(published.map(numbered).map((row) => [row.capturedAt, row]));
  return chains.map(numbered).map(({ capturedAt }) => {
    const { gammaSource = null, methodologyVersion = null } = computed.get(capturedAt) ?? {};
    return { capturedAt, gammaSource: gammaSource as GammaSource | null, methodologyVersion };
  });
}

/** An underlying's session with captures that another version computed. */
export interface OutdatedSession {
  underlying: string;
  session: SessionDate;
  /** Captures in all. */
  captures: number;
}

const outdated = statement(
  'outdated-chains',
  { methodologyVersion: 'text' },
  { underlying: 'text', session: 'text', captures: 'int8' },
);

/** The sessions that have captures which another version computed than this one, by session and underlying. */
export function outdatedChains(store: Store, methodologyVersion: string): Promise<OutdatedSession[]> {
  return outdated.rows(store.primary, { methodologyVersion });
}
