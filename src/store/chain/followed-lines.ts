import type { SessionDate } from '../../core/domain/market-time.ts';
import { lock } from '../rows/locks.ts';
import { readMetadata, writeMetadata } from '../rows/metadata.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { findRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';

/** Position of a live tape within a session. */
export interface FollowedSession {
  session: SessionDate;
  /** The last boundary of the session with written minute solves, epoch ms; null = none. */
  solvedMs: number | null;
  /** The first minute with unwritten bars of option contracts; null or absent = all are written. */
  barsFromMs?: number | null;
  /** The line of the tape at which it began; absent as an older version stored it. */
  fromLine?: number;
}

/** Position of a live tape. */
export interface FollowedPosition extends Omit<FollowedSession, 'session'> {
  /** Total number of lines taken; 0 = none yet. */
  lines: number;
  /** The place of the last line on a tape that names places; absent for others. */
  place?: string | undefined;
  /** The session of the last lines; null = none. */
  session: SessionDate | null;
  /** The session before, while late prints of it may arrive; null or absent = closed. */
  ended?: FollowedSession | null;
}

const metadataKey = (source: string) => `followed ${source}`;

/**
 * Locks and returns the position of a source until the transaction ends, so that no other follower resumes from it in
 * the meantime.
 */
export async function lockPosition(tx: Transaction, source: string): Promise<FollowedPosition> {
  await lock(tx, metadataKey(source));
  const nothing: FollowedPosition = { lines: 0, session: null, solvedMs: null };
  const value = await readMetadata(tx, metadataKey(source));
  return value === null ? nothing : { ...nothing, ...(JSON.parse(value) as Partial<FollowedPosition>) };
}

/** Stores the position of a source. */
export async function savePosition(tx: Transaction, source: string, position: FollowedPosition): Promise<void> {
  await writeMetadata(tx, metadataKey(source), JSON.stringify(position));
}

const appending = statement(
  'market/append-lines',
  { source: 'text', sessionDate: 'text', throughLine: 'int8', payload: 'bytea' },
  {},
);

/**
 * Stores lines of a session, as gzip. A part without a line (event time that advanced by itself) is appended to the
 * part before: concatenated gzip files are one.
 */
export async function storeLines(
  tx: Transaction,
  source: string,
  session: SessionDate,
  throughLine: number,
  payload: Uint8Array,
): Promise<void> {
  await appending.count(tx, { source, sessionDate: session, throughLine, payload: Buffer.from(payload) });
}

// Number of parts read at a time.
const partsAtOnce = 64;

/** The stored lines of a session, compressed, part after part in tape order. */
export async function* storedLines(tx: Transaction, source: string, session: SessionDate): AsyncGenerator<Buffer> {
  const parts = await tx.prisma.followedLines.findMany({
    where: { source, sessionDate: session },
    select: { source: true, sessionDate: true, throughLine: true },
    orderBy: { throughLine: 'asc' },
  });
  const by = ['source', 'sessionDate', 'throughLine'] as const;
  for (let start = 0; start < parts.length; start += partsAtOnce) {
    const keys = parts.slice(start, start + partsAtOnce).map(numbered);
    const rows = await findRows(tx, 'FollowedLines', { by, keys }, ['throughLine', 'payload']);
    rows.sort((a, b) => a.throughLine - b.throughLine);
    for (const { payload } of rows) yield payload;
  }
}

/** Deletes the lines of sessions before one. */
export async function forgetLines(tx: Transaction, source: string, before: SessionDate): Promise<void> {
  await tx.prisma.followedLines.deleteMany({ where: { source, sessionDate: { lt: before } } });
}

/** Starts a session whose tape is separate: a position under this name in another session is deleted. */
export async function beginTape(tx: Transaction, source: string, session: SessionDate): Promise<void> {
  const position = await lockPosition(tx, source);
  if (position.session === session) return;
  await tx.prisma.followedLines.deleteMany({ where: { source } });
  await savePosition(tx, source, { lines: 0, session: null, solvedMs: null });
}
