import type { Coverage, CoverageStatus } from '../../core/domain/flow/coverage.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { SqlType } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';

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
