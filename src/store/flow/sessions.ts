import type { SessionDate } from '../../core/domain/market-time.ts';
import { lock } from '../rows/locks.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { deleteRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';

/** Locks the option flow of all underlyings for a writer of whole sessions, until its transaction ends. */
export async function lockFlow(tx: Transaction): Promise<void> {
  await lock(tx, 'option_flow');
}

/** The number of a session's stored snapshot, by underlying; absent for one without. */
export async function crossSectionNumbers(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.prisma.crossSection.findMany({
    where: { sessionDate: session, underlying: anyOf(underlyings) },
    select: { underlying: true, seq: true },
  });
  return new Map(rows.map(numbered).map(({ underlying, seq }) => [underlying, seq]));
}

/**
 * Deletes the stored flow of underlyings in a session: events, legs, snapshot, minutes, coverage, and their end-of-day
 * lists. Its replacement is written in the same transaction. The list over all underlyings stays until it is
 * recomputed.
 */
export async function removeFlow(tx: Transaction, session: SessionDate, underlyings: readonly string[]): Promise<void> {
  const keys = underlyings.map((underlying) => ({ underlying, sessionDate: session }));
  for (const model of ['FlowLeg', 'FlowEvent', 'CrossSection', 'ContractMinuteBlock', 'FlowCoverage'] as const)
    await deleteRows(tx, model, { by: ['underlying', 'sessionDate'], keys });
  const lists = underlyings.map((scope) => ({ scope, sessionDate: session }));
  for (const model of ['RankedPrint', 'RankedSession'] as const)
    await deleteRows(tx, model, { by: ['scope', 'sessionDate'], keys: lists });
}

/** The underlyings with stored option flow in a session, live or reconciled, by name. */
export async function underlyingsOfFlow(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<string[]> {
  const rows = await tx.prisma.flowCoverage.findMany({
    where: { sessionDate: session, underlying: anyOf(underlyings) },
    select: { underlying: true },
    orderBy: { underlying: 'asc' },
  });
  return rows.map(({ underlying }) => underlying);
}
