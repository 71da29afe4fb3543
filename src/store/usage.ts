import type { Store } from './connection.ts';

/** Requests of an account in one scope group on one UTC date. */
export interface UsageCount {
  accountId: string;
  /** YYYY-MM-DD, UTC. */
  date: string;
  scopeGroup: string;
  count: number;
}

/** Counts that are added together or not at all. Batches of one writer are numbered ascending, so that none is added twice. */
export interface UsageBatch {
  /** Who writes: unlike any other process, past or present, and beginning with the epoch ms of its start. */
  writer: string;
  number: number;
  counts: readonly UsageCount[];
}

const markStart = 'usage-batch ';

/**
 * Adds a batch to the stored counts, once: when the outcome of an attempt is not known (the connection broke), trying again is
 * safe. One statement, so that a batch is added whole or not at all.
 */
export async function addUsage(store: Store, { writer, number, counts }: UsageBatch): Promise<void> {
  const key = (row: UsageCount) => `${row.accountId} ${row.date} ${row.scopeGroup}`;
  // In one order for all, so that two processes never wait for each other in a circle.
  const sorted = [...counts].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  await store.pool.query(
    `with mark as (
       insert into store_facts as f (key, value) values ($1, $2)
       on conflict (key) do update set value = excluded.value where f.value::bigint < excluded.value::bigint
       returning 1)
     insert into usage_counts as c (account_id, date, scope_group, count)
     select * from unnest($3::text[], $4::text[], $5::text[], $6::bigint[]) where exists (select 1 from mark)
     on conflict (account_id, date, scope_group) do update set count = c.count + excluded.count`,
    [
      markStart + writer,
      String(number),
      sorted.map((row) => row.accountId),
      sorted.map((row) => row.date),
      sorted.map((row) => row.scopeGroup),
      sorted.map((row) => row.count),
    ],
  );
}

/** Forgets the numbering of `writer`, at its end, and that of writers who began before `beforeMs` and did not say goodbye. */
export async function forgetUsageWriter(store: Store, writer: string, beforeMs: number): Promise<void> {
  await store.pool.query(
    `delete from store_facts where key = $1
     or (key like $2 and split_part(substr(key, $3), ' ', 1)::bigint < $4)`,
    [markStart + writer, `${markStart}%`, markStart.length + 1, beforeMs],
  );
}

/** An account's counts from `fromDate` (UTC, inclusive) on, by date, then by scope group. */
export async function readUsage(store: Store, accountId: string, fromDate: string): Promise<UsageCount[]> {
  const { rows } = await store.pool.query<UsageCount>(
    `select account_id as "accountId", date, scope_group as "scopeGroup", count from usage_counts
     where account_id = $1 and date >= $2 order by date, scope_group`,
    [accountId, fromDate],
  );
  return rows;
}
