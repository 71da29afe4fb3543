import type { Store } from '../rows/connection.ts';
import { lock } from '../rows/locks.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import { inTransaction } from '../rows/transaction.ts';

/** Number of requests of an account in one scope group on one UTC date (YYYY-MM-DD). */
export type UsageCount = Row<'UsageCount'>;

/** Counts that are added atomically. Batches of one writer have ascending numbers, so that none is added twice. */
export interface UsageBatch {
  /** The writer's id: unique among all processes, past or present, and beginning with the epoch ms of its start. */
  writer: string;
  number: number;
  counts: readonly UsageCount[];
}

const markStart = 'usage-batch ';

/**
 * Adds a batch to the stored counts, once: if the result of an attempt is unknown (the connection broke), a retry is
 * safe.
 */
export async function addUsage(store: Store, { writer, number, counts }: UsageBatch): Promise<void> {
  const key = markStart + writer;
  await inTransaction(store, async (tx) => {
    // An earlier attempt may still be running.
    await lock(tx, key);
    const mark = await tx.prisma.metadataEntry.findUnique({ where: { key } });
    if (mark && Number(mark.value) >= number) return;
    const value = String(number);
    await tx.prisma.metadataEntry.upsert({ where: { key }, create: { key, value }, update: { value } });
    await upsertRows(tx, 'UsageCount', counts, { add: ['count'] });
  });
}

/**
 * Deletes the batch numbers of `writer`, at its end, and those of writers that started before `beforeMs` and ended
 * without this.
 */
export async function forgetUsageWriter(store: Store, writer: string, beforeMs: number): Promise<void> {
  const marks = await store.prisma.metadataEntry.findMany({ where: { key: { startsWith: markStart } } });
  const isGone = ({ key }: { key: string }) => Number(key.slice(markStart.length).split(' ')[0]) < beforeMs;
  const gone = marks.filter(isGone).map(({ key }) => key);
  await store.prisma.metadataEntry.deleteMany({ where: { key: anyOf([markStart + writer, ...gone]) } });
}

/** An account's counts from `fromDate` (UTC, inclusive) on, by date, then by scope group. */
export async function readUsage(store: Store, accountId: string, fromDate: string): Promise<UsageCount[]> {
  const rows = await store.prisma.usageCount.findMany({
    where: { accountId, date: { gte: fromDate } },
    orderBy: [{ date: 'asc' }, { scopeGroup: 'asc' }],
  });
  return rows.map(numbered);
}
