import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { start, tapegraph } from '../cli/command-line.ts';
import { singleStore, type TestStore, testStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectSameRows } from './both-stores.ts';
import { fileSessions, type VendorFiles, writeVendorFiles } from './vendor-files.ts';

const session = fileSessions[1];
const folder = temporaryFolder();
let files: VendorFiles;
beforeAll(() => {
  files = writeVendorFiles(folder());
});

/** Milliseconds from the first write of an ingest to its death. */
const instants = [250, 0, 30, 100, 600];
const commands: string[][] = [
  ['ingest', 'stock-trades', `stock-trades-${session}.csv`],
  ['ingest', 'option-trades', `option-trades-${session}.csv`, '--solve-most', '2'],
];

// When it was done, and numbers of a sequence, of which a killed transaction takes some.
const instantColumns = {
  flow_feed: ['place'],
  generations: ['ingested_ms'],
  ingested_files: ['ingested_at'],
  off_exchange_sessions: ['as_of_ms'],
  ranked_sessions: ['scanned_at_ms'],
  store_facts: ['value'],
};

// An ingest that writes on the workers alone has no transaction id on the coordinator: it is found while it waits for a
// lock at its end.
const writingText = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'tapegraph'
    AND (backend_xid IS NOT NULL OR wait_event_type = 'Lock')`;

/** Waits until the ingest has written something, or has ended. */
async function untilWriting({ pool }: TestStore, hasEnded: () => boolean): Promise<void> {
  while (!hasEnded() && (await pool.query(writingText)).rowCount === 0) await delay(5);
}

/** Keeps every ingest from its last statement, which is of this table, until the answer is called. */
async function holdCommits({ pool }: TestStore): Promise<() => Promise<void>> {
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE ingested_files IN SHARE MODE');
  return async () => {
    await client.query('ROLLBACK');
    client.release();
  };
}

const filesInForce = async ({ pool }: TestStore) =>
  (await pool.query(`SELECT name FROM ingested_files WHERE dataset <> 'symbols'`)).rowCount;

test.each(commands)(
  '%s %s killed at any instant is gone on with: nothing is lost or doubled',
  async (...words) => {
    const [single, spread] = [await singleStore(), await testStore()];
    onTestFinished(async () => {
      await Promise.all([single.close(), spread.close()]);
    });
    const args = words.map((word) => (word.endsWith('.csv') ? files.path(word) : word));
    const now = Date.now;
    // The registry is there before: what is written first is the tape.
    const bars = ['ingest', 'stock-day-bars', files.path('history.csv')];
    for (const { databaseUrl } of [single, spread])
      expect(await tapegraph(bars, { DATABASE_URL: databaseUrl }, { now })).toMatchObject({ code: 0, stderr: '' });
    for (const [i, afterMs] of instants.entries()) {
      // However quick the machine is, the first is killed while it writes.
      const release = i === 0 ? await holdCommits(spread) : null;
      const { child } = start(args, { DATABASE_URL: spread.databaseUrl });
      onTestFinished(() => void child.kill('SIGKILL'));
      const exit = once(child, 'exit');
      await untilWriting(spread, () => child.exitCode !== null);
      await delay(afterMs);
      child.kill('SIGKILL');
      await exit;
      await release?.();
      if (i === 0) expect(await filesInForce(spread)).toBe(1);
    }
    for (const { databaseUrl } of [single, spread])
      expect(await tapegraph(args, { DATABASE_URL: databaseUrl }, { now })).toMatchObject({ code: 0, stderr: '' });
    await expectSameRows({ single, spread }, instantColumns);
  },
  180_000,
);
