import type { SessionDate } from '../domain/market-time.ts';
import type { Transaction } from './transaction.ts';

/** Takes the option flow of all underlyings for a writer of whole sessions, until its transaction ends. */
export async function lockFlow(tx: Transaction): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('option_flow', 0))`);
}

/** The number of the snapshot stored of a session, by underlying; one without is absent. */
export async function crossSectionNumbers(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ underlying: string; seq: number }>(
    'SELECT underlying, seq FROM cross_sections WHERE session_date = $1 AND underlying = ANY($2)',
    [session, underlyings],
  );
  return new Map(rows.map(({ underlying, seq }) => [underlying, Number(seq)]));
}

/**
 * Takes out what is stored of the flow of underlyings in a session: events, legs, snapshot, coverage, and their end-of-day lists. What
 * replaces it is written in the same transaction. The list over all underlyings stays until it is made anew.
 */
export async function removeFlow(tx: Transaction, session: SessionDate, underlyings: readonly string[]): Promise<void> {
  for (const table of ['flow_legs', 'flow_events', 'cross_sections', 'flow_coverage'])
    await tx.query(`DELETE FROM ${table} WHERE session_date = $1 AND underlying = ANY($2)`, [session, underlyings]);
  for (const table of ['ranked_prints', 'ranked_sessions'])
    await tx.query(`DELETE FROM ${table} WHERE session_date = $1 AND scope = ANY($2)`, [session, underlyings]);
}

/** Which of these underlyings have option flow stored of a session, live or reconciled, by name. */
export async function underlyingsOfFlow(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ underlying: string }>(
    'SELECT underlying FROM flow_coverage WHERE session_date = $1 AND underlying = ANY($2) ORDER BY underlying',
    [session, underlyings],
  );
  return rows.map(({ underlying }) => underlying);
}
