import { dateOfEpochDay } from '../../domain/market-time.ts';
import { dayMs } from '../../domain/units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { addUsage, forgetUsageWriter, readUsage, type UsageBatch, type UsageCount } from '../../store/account/usage.ts';
import type { Store } from '../../store/rows/connection.ts';
import { startBatchWriter } from './batch-writer.ts';

/** Days that usage looks back, today among them (spec 4.4). */
export const trailingDays = 30;

/** Written this often, ms: at most so much is lost in a crash. */
const flushMs = 2000;
/**
 * Rows (account, date, group) that wait at most while writing fails: some 20 MB. What is counted in known rows goes on.
 */
const mostRows = 100_000;
/** Writers that began this long ago and have not written since are forgotten, ms. */
const staleWriterMs = 30 * dayMs;

/** Counts authenticated requests by account, UTC date and scope group. */
export interface Usage {
  /**
   * Counts a request (or `times` requests, for a GraphQL request with several root fields of the group). Costs no
   * query.
   */
  count(accountId: string, scopeGroup: string, times?: number): void;
  /**
   * The counts of the last 30 UTC days, today's among them, by date and scope group; what this process counted is in
   * it.
   */
  read(accountId: string): Promise<UsageCount[]>;
  /** Writes what is counted now. */
  flush(): Promise<void>;
  /** Rows that wait to be written, and requests that could not be counted any more. */
  waiting(): { rows: number; lost: number };
  close(): Promise<void>;
}

/** Makes the counter and starts writing every 2 s. */
export function openUsage(store: Store, now: Clock, log: (line: string) => void): Usage {
  const startedAt = Math.floor(now());
  const writer = `${startedAt} ${crypto.randomUUID()}`;
  let gathered = new Map<string, UsageCount>();
  // A batch whose writing failed stays as it is: the store knows it by its number, should it have arrived after all.
  let pending: UsageBatch | null = null;
  let number = 0;

  let lost = 0;

  async function write(): Promise<boolean> {
    let any = false;
    // First what an earlier attempt left, then what was gathered since.
    for (let i = 0; i < 2; i += 1) {
      if (pending === null) {
        if (gathered.size === 0) return any;
        number += 1;
        pending = { writer, number, counts: [...gathered.values()] };
        gathered = new Map();
      }
      await addUsage(store, pending);
      pending = null;
      any = true;
    }
    return any;
  }
  const batchWriter = startBatchWriter({
    what: 'usage counts',
    everyMs: flushMs,
    write,
    log,
    wrote: store.writes.wrote,
  });

  return {
    count(accountId, scopeGroup, times = 1) {
      const date = dateOfEpochDay(Math.floor(now() / dayMs));
      const key = JSON.stringify([accountId, date, scopeGroup]);
      const row = gathered.get(key);
      if (row) row.count += times;
      else if (gathered.size >= mostRows) {
        if (lost === 0)
          log(`warning: more than ${mostRows} usage rows are waiting to be written; new requests are not counted`);
        lost += times;
      } else gathered.set(key, { accountId, date, scopeGroup, count: times });
    },
    async read(accountId) {
      await batchWriter.flush();
      return readUsage(store, accountId, dateOfEpochDay(Math.floor(now() / dayMs) - trailingDays + 1));
    },
    flush: batchWriter.flush,
    waiting: () => ({ rows: gathered.size + (pending?.counts.length ?? 0), lost }),
    async close() {
      await batchWriter.close();
      if (number > 0) await forgetUsageWriter(store, writer, startedAt - staleWriterMs).catch(() => {});
    },
  };
}
