import type { SessionDate } from '../domain/market-time.ts';
import type { Transaction } from './transaction.ts';

/** How far a live tape was taken. */
export interface FollowedPosition {
  /** Lines taken in all; 0 = none yet. */
  lines: number;
  /** The session they had come to; null when there was none. */
  session: SessionDate | null;
  /** The last boundary of the session whose minute solves are written, epoch ms; null when none is. */
  solvedMs: number | null;
}

const factKey = (source: string) => `followed ${source}`;

/** How far a source was taken; held until the transaction ends, so that nobody else goes on from there meanwhile. */
export async function lockPosition(tx: Transaction, source: string): Promise<FollowedPosition> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [factKey(source)]);
  const { rows } = await tx.query<{ value: string }>('SELECT value FROM store_facts WHERE key = $1', [factKey(source)]);
  const nothing: FollowedPosition = { lines: 0, session: null, solvedMs: null };
  return rows[0] ? { ...nothing, ...(JSON.parse(rows[0].value) as Partial<FollowedPosition>) } : nothing;
}

/** Remembers how far a source was taken. */
export async function savePosition(tx: Transaction, source: string, position: FollowedPosition): Promise<void> {
  await tx.query(
    'INSERT INTO store_facts (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    [factKey(source), JSON.stringify(position)],
  );
}

/**
 * Keeps lines of a session, gzip. What is kept without a further line (event time that went on by itself) joins the part before: gzip
 * files put one after the other are one.
 */
export async function keepLines(
  tx: Transaction,
  source: string,
  session: SessionDate,
  throughLine: number,
  payload: Uint8Array,
): Promise<void> {
  await tx.query(
    `INSERT INTO followed_lines (source, session_date, through_line, payload) VALUES ($1, $2, $3, $4)
     ON CONFLICT (source, session_date, through_line) DO UPDATE SET payload = followed_lines.payload || excluded.payload`,
    [source, session, throughLine, Buffer.from(payload)],
  );
}

/** The lines kept of a session, packed, part after part in the order they were taken. */
export async function* keptLines(tx: Transaction, source: string, session: SessionDate): AsyncGenerator<Buffer> {
  let after = -1;
  for (;;) {
    const { rows } = await tx.query<{ through_line: number; payload: Buffer }>(
      `SELECT through_line, payload FROM followed_lines WHERE source = $1 AND session_date = $2 AND through_line > $3
       ORDER BY through_line LIMIT 64`,
      [source, session, after],
    );
    for (const { payload } of rows) yield payload;
    if (rows.length === 0) return;
    after = Number(rows.at(-1)!.through_line);
  }
}

/** Forgets the lines of sessions before one. */
export async function forgetLines(tx: Transaction, source: string, before: SessionDate): Promise<void> {
  await tx.query('DELETE FROM followed_lines WHERE source = $1 AND session_date < $2', [source, before]);
}

/** Begins the tape of a session that is a tape of its own: one followed before under this name, of another session, is forgotten. */
export async function beginTape(tx: Transaction, source: string, session: SessionDate): Promise<void> {
  const position = await lockPosition(tx, source);
  if (position.session === session) return;
  await tx.query('DELETE FROM followed_lines WHERE source = $1', [source]);
  await savePosition(tx, source, { lines: 0, session: null, solvedMs: null });
}
