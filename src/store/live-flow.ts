import type { SessionDate } from '../domain/market-time.ts';
import { forgetFeed } from './flow-feed.ts';
import type { Transaction } from './transaction.ts';

/** Which of these underlyings are reconciled in a session: nothing live takes their place. */
export async function reconciledUnderlyings(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ underlying: string }>(
    `SELECT underlying FROM flow_coverage WHERE session_date = $1 AND status = 'eod_reconciled' AND underlying = ANY($2)`,
    [session, underlyings],
  );
  return new Set(rows.map(({ underlying }) => underlying));
}

/**
 * Of which of these symbols the session's stock tape was read, at `sinceMs` or after it: bars and off-exchange figures are made of all of it, and
 * nothing live takes their place.
 */
export async function symbolsWithTape(
  tx: Transaction,
  session: SessionDate,
  symbols: readonly string[],
  sinceMs: number,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ symbol: string }>({
    name: 'symbols-with-tape',
    text: 'SELECT symbol FROM off_exchange_sessions WHERE session_date = $1 AND symbol = ANY($2) AND as_of_ms >= $3',
    values: [session, symbols, sinceMs],
  });
  return new Set(rows.map(({ symbol }) => symbol));
}

/** Takes events out of a session, with their legs. */
export async function removeLargeTrades(
  tx: Transaction,
  session: SessionDate,
  events: readonly { underlying: string; eventId: string }[],
): Promise<void> {
  if (events.length === 0) return;
  for (const table of ['flow_legs', 'flow_events']) {
    await tx.query(
      `DELETE FROM ${table} e USING unnest($2::text[], $3::text[]) AS w(underlying, event_id)
       WHERE e.session_date = $1 AND e.underlying = w.underlying AND e.event_id = w.event_id`,
      [session, events.map(({ underlying }) => underlying), events.map(({ eventId }) => eventId)],
    );
  }
}

/** The highest snapshot number of a session; 0 when there is none. */
export async function highestSnapshot(tx: Transaction, session: SessionDate): Promise<number> {
  const { rows } = await tx.query<{ seq: number | null }>(
    'SELECT max(seq) AS seq FROM cross_sections WHERE session_date = $1',
    [session],
  );
  return Number(rows[0]!.seq ?? 0);
}

/**
 * Drops live flow that nobody will reconcile any more, and returns the sessions it was of: what is left of sessions before `settledBefore`
 * of which other underlyings are reconciled (the full tape did not name it), and everything live of sessions before `expiredBefore`.
 */
export async function dropLiveFlow(
  tx: Transaction,
  { settledBefore, expiredBefore }: { settledBefore: SessionDate; expiredBefore: SessionDate },
): Promise<SessionDate[]> {
  const { rows } = await tx.query<{ underlying: string; session_date: string }>(
    `SELECT underlying, session_date FROM flow_coverage c WHERE status = 'observed_live' AND (session_date < $2 OR session_date < $1
       AND EXISTS (SELECT FROM flow_coverage r WHERE r.session_date = c.session_date AND r.status = 'eod_reconciled'))`,
    [settledBefore, expiredBefore],
  );
  const keys = [rows.map((row) => row.underlying), rows.map((row) => row.session_date)];
  const tables = ['flow_legs', 'flow_events', 'cross_sections', 'option_bar_blocks', 'greeks_minutes', 'greeks_places'];
  for (const table of [...tables, 'flow_coverage']) {
    const live = table === 'option_bar_blocks' ? `AND t.status = 'observed_live'` : '';
    await tx.query(
      `DELETE FROM ${table} t USING unnest($1::text[], $2::text[]) AS w(underlying, session_date)
       WHERE t.underlying = w.underlying AND t.session_date = w.session_date ${live}`,
      keys,
    );
  }
  await forgetFeed(tx, expiredBefore);
  return [...new Set(rows.map((row) => row.session_date))].sort();
}
