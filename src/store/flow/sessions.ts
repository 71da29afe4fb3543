import type { Coverage, CoverageStatus } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { lock } from '../rows/locks.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { deleteRows, upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { SqlType } from '../rows/statement.ts';
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

type CoverageRow = Omit<Row<'FlowCoverage'>, 'underlying'>;

/** The columns of a session's coverage that a statement reads besides the session. */
export const coverageColumns = {
  status: 'text',
  complete: 'bool',
  observedFromMs: 'int8',
  observedThroughMs: 'int8',
  registryVersion: 'int4',
  standardMultiplierAssumed: 'bool',
} as const satisfies Record<Exclude<keyof CoverageRow, 'sessionDate'>, SqlType>;

/** The coverage in a row that holds it beside other things. */
export function coverageOf(row: CoverageRow): Coverage {
  const { sessionDate, complete, observedFromMs, observedThroughMs, registryVersion, standardMultiplierAssumed } = row;
  const observed = { observedFromMs, observedThroughMs, registryVersion, standardMultiplierAssumed };
  return { status: row.status as CoverageStatus, complete, sessionDate, ...observed };
}

/** Coverage of underlyings' sessions, by `coverageKey`; absent if nothing was observed. */
export async function coveragesOf(
  { prisma }: Pick<Reader, 'prisma'>,
  sessions: readonly { underlying: string; sessionDate: string }[],
): Promise<Map<string, Coverage>> {
  if (sessions.length === 0) return new Map();
  // Reads every combination of underlying and session: a few more than requested, at no extra cost.
  const rows = await prisma.flowCoverage.findMany({
    where: {
      underlying: anyOf(sessions.map(({ underlying }) => underlying)),
      sessionDate: anyOf(sessions.map(({ sessionDate }) => sessionDate)),
    },
  });
  return new Map(rows.map((row) => [coverageKey(row), coverageOf(numbered(row))]));
}

/** Key of an underlying's session. */
export function coverageKey({ underlying, sessionDate }: { underlying: string; sessionDate: string }): string {
  return `${underlying} ${sessionDate}`;
}

/** Writes the coverage of underlyings' sessions, replacing earlier ones. One statement. */
export async function saveCoverages(tx: Transaction, coverages: ReadonlyMap<string, Coverage>): Promise<void> {
  const rows = Array.from(coverages, ([underlying, coverage]) => ({ underlying, ...coverage }));
  await upsertRows(tx, 'FlowCoverage', rows);
}
